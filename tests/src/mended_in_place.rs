//! A scalar of the wrong kind is mended where it is read. The ladder, which mends everything else, would
//! have made the same of it.

use proptest::prelude::*;
use serde_json::Value;
use toolwright::unstable::repair::{RepairedInput, Repairer, TruncatedInput};
use toolwright::{Call, Registry, Repair, tool};

use crate::support::executor;

/// Takes one scalar of each kind.
#[tool(effect = read)]
async fn take_scalars(
    /// A whole number.
    #[arg(minimum = -5)]
    whole: Option<i64>,
    /// A small one.
    small: Option<u8>,
    /// A number.
    number: Option<f64>,
    /// Yes or no.
    sure: Option<bool>,
    /// A text.
    #[arg(length = 1..=8)]
    text: Option<String>,
) -> String {
    format!("{whole:?} {small:?} {number:?} {sure:?} {text:?}")
}

fn scalar() -> impl Strategy<Value = String> {
    let texts = prop_oneof![
        Just("true".to_owned()),
        Just(" YES ".to_owned()),
        Just("0".to_owned()),
        Just("255".to_owned()),
        Just("256".to_owned()),
        Just("9007199254740993".to_owned()),
        Just("-6".to_owned()),
        Just("3.5".to_owned()),
        Just("2.0".to_owned()),
        Just("1e2".to_owned()),
        Just("on".to_owned()),
        Just("null".to_owned()),
        Just("\"7\"".to_owned()),
        "[a-z0-9 .+-]{0,9}",
    ];
    prop_oneof![
        texts.prop_map(|text| Value::from(text).to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        (-9i8..=9).prop_map(|number| number.to_string()),
        any::<f32>()
            .prop_filter("JSON has no such number", |it| it.is_finite())
            .prop_map(|it| it.to_string()),
        any::<bool>().prop_map(|value| value.to_string()),
        Just("null".to_owned()),
        Just("[1]".to_owned()),
    ]
}

fn input() -> impl Strategy<Value = String> {
    let keys = ["whole", "small", "number", "sure", "text"];
    let entries =
        keys.map(|key| prop::option::of(scalar()).prop_map(move |it| it.map(|it| (key, it))));
    entries.prop_map(|entries| {
        let entries = entries.into_iter().flatten();
        let written: Vec<String> =
            entries.map(|(key, value)| format!("\"{key}\":{value}")).collect();
        format!("{{{}}}", written.join(", "))
    })
}

fn ladder() -> Repairer {
    let registry = Registry::of([TAKE_SCALARS]).unwrap();
    Repairer::new(&registry.get("take_scalars").unwrap().input_schema, []).unwrap()
}

proptest! {
    #[test]
    fn a_call_is_mended_as_the_ladder_mends_it(text in input()) {
        let executor = executor([TAKE_SCALARS]);
        let expected = ladder().repair(&text, Repair::Standard, TruncatedInput::Refused);
        let found = executor.examine(&Call::new("take_scalars", &text));
        match (expected, found) {
            (Ok(RepairedInput { changes, .. }), Ok(facts)) => {
                let mut found = facts.repairs().map(|it| it.changes().to_vec()).unwrap_or_default();
                let mut changes = changes;
                // The ladder goes by names, the reader as the text does.
                found.sort_by(|one, other| one.pointer.cmp(&other.pointer));
                changes.sort_by(|one, other| one.pointer.cmp(&other.pointer));
                prop_assert_eq!(found, changes);
            }
            (Err(_), Err(_)) => {}
            (expected, found) => prop_assert!(false, "{text}: {expected:?}, but {found:?}"),
        }
    }
}

#[tokio::test]
async fn the_tool_runs_with_what_was_meant() {
    let executor = executor([TAKE_SCALARS]);
    let call =
        Call::new("take_scalars", r#"{"whole":"9007199254740993","sure":"yes","text":1.50}"#);
    let answer = executor.call(&call).await;
    assert_eq!(answer.text(), r#"Some(9007199254740993) None None Some(true) Some("1.50")"#);
    let changes: Vec<String> =
        answer.repairs().unwrap().changes().iter().map(ToString::to_string).collect();
    assert_eq!(
        changes,
        [
            r#"/whole: "9007199254740993" became 9007199254740993 (integer)"#,
            r#"/sure: "yes" became true (boolean)"#,
            r#"/text: 1.50 became "1.50" (text)"#,
        ]
    );
}
