//! What is written in a file is what it says.

use toolwright::policy::{Mode, Policy};

use super::scene::{Case, bare, policy};

/// A policy that denies mail by one test of an argument.
fn testing(pointer: &str, test: &str) -> Policy {
    let text = format!(
        "version = 1\n[[deny]]\nreason = \"r\"\ntool = \"send_mail\"\narguments = {{ \"{pointer}\" = {{ {test} }} }}\n"
    );
    // Another one may come in its place, so that no value is impossible.
    policy(bare().mode(Mode::Unrestricted).registered_later("send_mail").text("p", &text))
}

#[test]
fn every_test_of_an_argument_is_read_as_what_it_is_called() {
    let cases = [
        ("/copies", "equals = 3", "3", "4"),
        ("/copies", "one_of = [2, 3]", "3", "4"),
        ("/to", "contains = [\"a\"]", r#"["a","b"]"#, r#"["b"]"#),
        ("/to", "within = [\"a\"]", r#"["a"]"#, r#"["a","b"]"#),
        ("/attachment", "under = [\"src\"]", r#""src/a""#, r#""a""#),
        ("/attachment", "glob = [\"*.md\"]", r#""a.md""#, r#""a.rs""#),
        ("/copies", "at_least = 3", "3", "2"),
        ("/copies", "more_than = 3", "4", "3"),
        ("/copies", "at_most = 3", "3", "4"),
        ("/copies", "less_than = 3", "2", "3"),
    ];
    for (pointer, test, passes, fails) in cases {
        let policy = testing(pointer, test);
        let word = |value: &str| {
            let arguments = format!(r#"{{"{}":{value}}}"#, &pointer[1..]);
            Case::of("send_mail").arguments(&arguments).word(&policy)
        };
        assert_eq!((word(passes), word(fails)), ("deny", "allow"), "{test}");
    }
}

#[test]
fn values_of_toml_are_the_same_values_of_json() {
    let values = [
        ("340282366920938463463374607431768211457", "340282366920938463463374607431768211457"),
        ("+7", "7"),
        ("0x1f", "31"),
        ("-1.50", "-1.5"),
        ("{ a = 1, b = [true, \"x\"], c = {} }", r#"{"c":{},"b":[true,"x"],"a":1.0}"#),
    ];
    for (toml, json) in values {
        let policy = testing("/copies", &format!("equals = {toml}"));
        let word = |value: &str| {
            Case::of("send_mail").arguments(&format!(r#"{{"copies":{value}}}"#)).word(&policy)
        };
        assert_eq!((word(json), word("null")), ("deny", "allow"), "{toml}");
    }
}

#[test]
fn what_counts_where_nobody_can_tell_may_be_spelt_out() {
    for (written, word) in [("count", "deny"), ("ask", "ask")] {
        let text = format!(
            "version = 1\n[[deny]]\nreason = \"r\"\nwrites = \"vendor/**\"\nwhen_unknown = \"{written}\"\n"
        );
        let policy = policy(bare().mode(Mode::Unrestricted).text("p", &text));
        assert_eq!(Case::of("bash").undeclared().word(&policy), word, "{written}");
    }
}
