//! What terms cover.

use proptest::prelude::*;
use toolwright::approval::{Clause, GrantTerms, NotCovered, Scope};
use toolwright::unstable::approval::GrantCandidate;

use super::scene::{at, terms};

const ASKED: GrantCandidate<'static> = GrantCandidate {
    tool: "send_mail",
    fingerprint: "f1",
    arguments: r#"{"to":"eve@example.org"}"#,
    run: "run-1",
    session: Some("s"),
    project: None,
    now: jiff::Timestamp::UNIX_EPOCH,
    used: 0,
};

/// Whether terms with these clauses cover these arguments.
fn covered(clauses: &[(&str, &[&str])], arguments: &str) -> bool {
    let clauses = clauses.iter().map(|(pointer, values)| Clause {
        pointer: (*pointer).to_owned(),
        is_one_of: values.iter().map(|value| (*value).to_owned()).collect(),
    });
    let terms = GrantTerms { arguments: clauses.collect(), ..terms() };
    terms.covers(&GrantCandidate { arguments, ..ASKED }).is_ok()
}

#[test]
fn terms_cover_their_tool_as_it_was_where_and_while_they_count() {
    assert_eq!(terms().covers(&ASKED), Ok(()));
    let not = |asked: GrantCandidate<'_>| terms().covers(&asked).expect_err("not covered");
    let (granted, asked) = ("send_mail".to_owned(), "send".to_owned());
    assert_eq!(not(GrantCandidate { tool: "send", ..ASKED }), NotCovered::Tool { granted, asked });
    let changed = NotCovered::Fingerprint("send_mail".to_owned());
    assert_eq!(not(GrantCandidate { fingerprint: "f2", ..ASKED }), changed);
    assert_eq!(not(GrantCandidate { now: at(7200), ..ASKED }), NotCovered::Ended(at(7200)));
    assert_eq!(terms().covers(&GrantCandidate { now: at(7199), ..ASKED }), Ok(()));
    assert_eq!(terms().covers(&GrantCandidate { used: 1, ..ASKED }), Ok(()));
    assert_eq!(not(GrantCandidate { used: 2, ..ASKED }), NotCovered::UsedUp(2));
    let clause = NotCovered::Clause("/to".to_owned());
    assert_eq!(not(GrantCandidate { arguments: r#"{"to":"eve"}"#, ..ASKED }), clause);
}

#[test]
fn a_scope_covers_itself_alone() {
    let covered = |scope: Scope, asked: &GrantCandidate<'_>| {
        GrantTerms { scope, ..terms() }.covers(asked) != Err(NotCovered::Scope)
    };
    let other = GrantCandidate { run: "s", session: Some("run-1"), project: Some("p"), ..ASKED };
    let one = || "run-1".to_owned();
    assert!(covered(Scope::Run(one()), &ASKED) && !covered(Scope::Run(one()), &other));
    assert!(!covered(Scope::Session(one()), &ASKED) && covered(Scope::Session(one()), &other));
    let project = || Scope::Project("p".to_owned());
    assert!(!covered(project(), &ASKED) && covered(project(), &other));
    assert!(covered(Scope::Forever, &ASKED) && covered(Scope::Forever, &other));
    assert!(!covered(Scope::Session(String::new()), &GrantCandidate { session: None, ..ASKED }));
}

#[test]
fn a_clause_is_shown_by_its_place_and_without_its_values() {
    let clause = Clause { pointer: "/to".to_owned(), is_one_of: vec!["\"hunter2\"".to_owned()] };
    assert_eq!(format!("{clause:?}"), "Clause { pointer: \"/to\", .. }");
}

#[test]
fn no_clauses_cover_only_an_empty_input() {
    assert!(covered(&[], "{}") && covered(&[], " { } "));
    for arguments in [r#"{"a":null}"#, "[]", "null", "", "{", r#"{"":1}"#] {
        assert!(!covered(&[], arguments), "{arguments}");
    }
}

#[test]
fn numbers_are_compared_exactly() {
    let equal = [("2.0", "2"), ("2e0", "20e-1"), ("-0", "0"), ("1e400", "10e399"), ("0.10", "0.1")];
    for (one, other) in equal {
        assert!(covered(&[("/n", &[one])], &format!(r#"{{"n":{other}}}"#)), "{one} {other}");
    }
    let different = [
        ("9007199254740993", "9007199254740992"),
        ("9007199254740993", "9007199254740993.1"),
        ("1e400", "1e401"),
        ("0.1", "0.1000000000000000055511151231257827"),
        ("1", "-1"),
        ("1", "\"1\""),
        ("1", "true"),
        ("0", "null"),
        ("[1,2]", "[2,1]"),
    ];
    for (one, other) in different {
        assert!(!covered(&[("/n", &[one])], &format!(r#"{{"n":{other}}}"#)), "{one} {other}");
    }
}

#[test]
fn objects_are_equal_without_regard_to_the_order_of_their_keys() {
    let clause: &[(&str, &[&str])] = &[("/o", &[r#"{"a":1,"b":{"c":2,"d":3}}"#])];
    assert!(covered(clause, r#"{"o":{"b":{"d":3.0,"c":2},"a":1}}"#));
    assert!(!covered(clause, r#"{"o":{"b":{"d":3,"c":2},"a":1,"e":null}}"#));
    assert!(!covered(clause, r#"{"o":{"b":{"d":3,"c":2},"a":2,"a":1}}"#));
}

#[test]
fn a_pointer_names_one_place_and_what_is_not_there_is_not_covered() {
    let arguments = r#"{"a/b":{"~":[10,{"":"deep"}]},"":0,"n":null,"t":"\"","0":"zero"}"#;
    let there: [(&str, &str); 8] = [
        ("/a~1b/~0/0", "10"),
        ("/a~1b/~0/1/", "\"deep\""),
        ("/", "0"),
        ("/n", "null"),
        ("/t", r#""\u0022""#),
        ("/0", "\"zero\""),
        ("/a~1b/~0", r#"[10,{"":"deep"}]"#),
        ("", arguments),
    ];
    for (pointer, value) in there {
        assert!(covered(&[(pointer, &[value])], arguments), "{pointer}");
        assert!(covered(&[(pointer, &["17", value])], arguments), "{pointer}");
        assert!(!covered(&[(pointer, &["17"])], arguments), "{pointer}");
        assert!(!covered(&[(pointer, &[])], arguments), "{pointer}");
        assert!(!covered(&[(pointer, &[value]), ("/n", &["1"])], arguments), "{pointer}");
    }
    let nowhere = [
        "/x",
        "/a",
        "/a/b",
        "/a~1b/~0/2",
        "/a~1b/~0/-",
        "/a~1b/~0/00",
        "/a~1b/~0/+0",
        "/a~1b/~0/-0",
        "/a~1b/~",
        "n",
        "/n/",
        "/t/0",
        "/a~1b/~0/18446744073709551616",
        "#/n",
    ];
    for pointer in nowhere {
        assert!(!covered(&[(pointer, &["null", "0", "10"])], arguments), "{pointer}");
    }
}

#[test]
fn what_cannot_be_read_is_not_covered() {
    let deep = format!(r#"{{"n":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    for arguments in ["", "{", r#"{"n":1"#, r#"{"n":1,"n":1}"#, r#"{"n":01}"#, "{n:1}", &deep] {
        assert!(!covered(&[("/n", &["1"])], arguments));
    }
    for value in ["", "one", "{", "01", "1,", "1 1"] {
        assert!(!covered(&[("/n", &[value])], r#"{"n":1}"#), "{value}");
    }
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::{Map, Value, json};
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-3_i64..3).prop_map(Value::from),
        "[a~/0\\\"é]{0,3}".prop_map(Value::from),
        Just(json!({})),
    ];
    scalar.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a~/0é]{0,2}", inner, 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn object() -> impl Strategy<Value = serde_json::Value> {
    prop::collection::btree_map("[a~/0é]{0,2}", value(), 0..5)
        .prop_map(|entries| serde_json::Value::Object(entries.into_iter().collect()))
}

/// Every place of a value, as a pointer.
fn places(value: &serde_json::Value, place: &str, all: &mut Vec<String>) {
    all.push(place.to_owned());
    match value {
        serde_json::Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, &format!("{place}/{index}"), all);
            }
        }
        serde_json::Value::Object(entries) => {
            for (key, item) in entries {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(item, &format!("{place}/{key}"), all);
            }
        }
        _ => {}
    }
}

proptest! {
    /// At each place of any arguments, a clause takes the value that serde_json finds there, and no other.
    #[test]
    fn a_clause_takes_what_stands_at_its_place_and_nothing_else(arguments in object(), other in value()) {
        let text = serde_json::to_string_pretty(&arguments).expect("JSON");
        let mut all = Vec::new();
        places(&arguments, "", &mut all);
        for place in all {
            let there = arguments.pointer(&place).expect("a place");
            prop_assert!(covered(&[(&place, &[&there.to_string()])], &text), "{}", place);
            let takes_other = covered(&[(&place, &[&other.to_string()])], &text);
            prop_assert_eq!(takes_other, *there == other, "{}", place);
        }
    }

    /// What serde_json does not find is not covered, whatever is looked for.
    #[test]
    fn a_place_that_is_not_there_is_not_covered(
        arguments in object(),
        place in "(/[a~01/é]{0,2}){0,3}",
        other in value(),
    ) {
        if arguments.pointer(&place).is_none() {
            let values = [&other.to_string(), "null", "{}"];
            let found = covered(&[(&place, &values)], &arguments.to_string());
            prop_assert!(!found);
        }
    }

    /// More clauses never cover more.
    #[test]
    fn every_clause_has_to_hold(arguments in object(), one in any::<bool>(), other in any::<bool>()) {
        let (right, wrong) = (arguments.to_string(), "17".to_owned());
        let pick = |good: bool| if good { right.as_str() } else { wrong.as_str() };
        let clauses: [(&str, &[&str]); 2] = [("", &[pick(one)]), ("", &[pick(other)])];
        prop_assert_eq!(covered(&clauses, &right), one && other);
    }
}
