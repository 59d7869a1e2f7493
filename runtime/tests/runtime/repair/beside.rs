//! What stands beside an object: words are passed over, keys with values are not.

use serde_json::{Value, json};
use toolwright::Repair;
use toolwright::unstable::repair::{Repairer, TruncatedInput};

use super::standard;

fn schema() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["path"],
        "properties": {
            "path": {"type": "string"}, "limit": {"type": "integer"}, "dry_run": {"type": "boolean"},
        },
    })
}

const WHOLE: &str = r#"{"path":"a"}"#;

#[test]
fn a_key_with_a_value_beside_the_object_is_no_word() {
    for beside in [
        "dry_run: true",
        "dry_run : true",
        "dryRun: true",
        "DRY-RUN: true",
        "Dry run: true",
        "limit: 3",
        "- limit: 3",
        "**Limit**: 3",
        "Note: it has a Dry run: true",
        "path: b",
    ] {
        for sent in [
            format!("{WHOLE}\n{beside}"),
            format!("{beside}\n{WHOLE}"),
            format!("{WHOLE}\n{WHOLE}\n{beside}"),
            format!("```json\n{WHOLE}\n```\n{beside}"),
            format!("{beside}\n```json\n{WHOLE}\n```"),
            format!("<tool_call>{WHOLE}</tool_call>\n{beside}"),
            format!("{beside}\n<tool_call>{WHOLE}</tool_call>"),
            format!("<tool_call>{WHOLE}</tool_call>{beside}\n<tool_call>{WHOLE}</tool_call>"),
            format!("f(path='a')\n{beside}"),
            format!("{beside}\nf(path='a')"),
        ] {
            assert_eq!(standard(&schema(), &sent), "refused", "{sent}");
        }
    }
}

#[test]
fn other_names_of_a_key_are_keys() {
    let ladder = Repairer::new(&schema(), [("path", &["file_name"][..])]).unwrap();
    let sent = format!("{WHOLE}\nFile name: b");
    assert!(ladder.repair(&sent, Repair::Standard, TruncatedInput::Refused).is_err());
}

#[test]
fn words_that_are_no_keys_are_passed_over() {
    for beside in [
        "Note: nothing is deleted.",
        "See https://example.org/limits",
        "Arguments:",
        "The path is a, the limit is 3.",
        "Run dry: no",
    ] {
        for sent in [
            format!("{WHOLE}\n{beside}"),
            format!("{beside}\n{WHOLE}"),
            format!("{beside}\n```json\n{WHOLE}\n```"),
            format!("{beside}\nf(path='a')"),
        ] {
            assert_eq!(standard(&schema(), &sent), WHOLE, "{sent}");
        }
    }
}
