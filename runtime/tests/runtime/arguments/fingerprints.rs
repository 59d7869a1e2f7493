//! What of a definition a decision rests on.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolwright::unstable::arguments::fingerprint;
use toolwright::{Danger, DynamicTool, Effect, Handle, Registration, Registry, tool};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where."},
            "depth": {"type": "integer", "minimum": 1, "default": 2},
        },
        "required": ["path"],
        "additionalProperties": false,
    })
}

fn made(name: &str, description: &str, schema: Value) -> DynamicTool {
    DynamicTool::new(name, description, schema, |_: Value, _| async { Ok("") })
}

fn of(tool: impl Into<Registration>) -> String {
    let registry = Registry::of([tool]).expect("a tool like others");
    let definition = registry.definitions().next().expect("one tool");
    fingerprint(&definition)
}

#[test]
fn any_change_of_what_is_judged_changes_it() {
    let plain = || made("list", "Lists files.", schema());
    let with = |pointer: &str, value: Value| {
        let mut schema = schema();
        *schema.pointer_mut(pointer).unwrap() = value;
        of(made("list", "Lists files.", schema))
    };
    let all = [
        of(plain()),
        of(made("lists", "Lists files.", schema())),
        of(made("list", "Lists all files.", schema())),
        with("/required", json!([])),
        with("/additionalProperties", json!(true)),
        with("/properties/path/description", json!("Where to.")),
        with("/properties/depth/minimum", json!(0)),
        with("/properties/depth/default", json!(3)),
        with("/properties/depth/type", json!("number")),
        of(plain().effect(Effect::Read).danger(Danger::Moderate)),
        of(plain().effect(Effect::Idempotent)),
        of(plain().effect(Effect::Keyed)),
        of(plain().danger(Danger::Safe)),
        of(plain().danger(Danger::Dangerous)),
        of(plain().danger(Danger::Critical)),
        of(plain().danger_by(|_| Danger::Moderate)),
        of(plain().approval("it lists")),
        of(plain().approval("it lists all")),
        of(plain().approval_by(|_| None)),
    ];
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
}

#[test]
fn the_same_definition_has_it_again_wherever_it_was_made() {
    let made = || made("list", "Lists files.", schema());
    let turned = json!({
        "additionalProperties": false,
        "required": ["path"],
        "properties": {
            "depth": {"default": 2, "minimum": 1, "type": "integer"},
            "path": {"description": "Where.", "type": "string"},
        },
        "type": "object",
    });
    let elsewhere = self::made("list", "Lists files.", turned);
    assert_eq!(of(made()), of(elsewhere));
    // What a decision does not rest on.
    assert_eq!(of(made()), of(made().title("List").group("files").tag("fs").limit(3).with(7_u8)));
}

/// Signs in.
#[tool(handle = OPEN)]
async fn open(
    /// The card.
    card: String,
) {
    let _ = card;
}

mod secret {
    use toolwright::tool;

    /// Signs in.
    #[tool(handle = SECRET)]
    pub async fn open(
        /// The card.
        #[arg(secret)]
        card: String,
    ) {
        let _ = card;
    }
}

#[test]
fn which_parameters_are_secret_counts() {
    let handles: [Handle; 2] = [OPEN, secret::SECRET];
    assert_ne!(of(handles[0]), of(handles[1]));
}

/// Another process, or the next release, has to come to the same.
#[test]
fn it_does_not_change_from_one_build_to_the_next() {
    insta::assert_snapshot!(of(OPEN), @"191db5a398db6d523733f9a7c6b731da5ecf69281ce307779af6eda979cd43f4");
}
