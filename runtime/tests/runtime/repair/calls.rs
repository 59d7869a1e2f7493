//! A text that is a whole call: the input of its tool, and of no other.

use serde_json::json;
use toolwright::Repair;
use toolwright::unstable::repair::{Refusal, RepairedInput, Repairer, TruncatedInput};

/// What a tool of a name makes of a text.
fn read(tool: &str, text: &str) -> Result<RepairedInput, Refusal> {
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["path"],
        "properties": {"path": {"type": "string"}, "options": {"type": "object"}},
    });
    let ladder = Repairer::new(&schema, []).expect("the schema is right").named(tool);
    ladder.repair(text, Repair::Lenient, TruncatedInput::Refused)
}

fn text(tool: &str, sent: &str) -> String {
    read(tool, sent).map_or_else(|refusal| refusal.to_string(), |it| it.text)
}

/// Calls of `NAME` in all the ways in which they are mended.
const CALLS: &[&str] = &[
    r#"{"name":"NAME","arguments":{"path":"a"}}"#,
    r#"{"name":"NAME","arguments":"{\"path\":\"a\"}"}"#,
    r#"{"tool":"NAME","input":{"path":"a"}}"#,
    r#"{"tool_name":"NAME","tool_input":{"Path":"a"}}"#,
    r#"{"recipient_name":"NAME","parameters":{"path":"a"}}"#,
    r#"{"type":"function","function":{"name":"NAME","arguments":"{\"path\":\"a\"}"}}"#,
    r#"{"input":{"name":"NAME","args":{"path":"a"}}}"#,
    r#"{"type":"tool_use","id":"call_1","name":"NAME","input":{"path":"a"}}"#,
    r#"<tool_call>{"name": "NAME", "arguments": {"path": "a"}}</tool_call>"#,
    "```json\n{\"name\": \"NAME\", \"arguments\": {\"path\": \"a\"}}\n```",
    r#"NAME(path="a")"#,
    r#"[NAME(path='a')]"#,
    "I do it: NAME(path='a')\nDone.",
    r#"NAME({"path": "a"})"#,
    r#"```tool_code
NAME({"path": "a"})
```"#,
];

#[test]
fn a_call_of_the_tool_itself_is_its_input() {
    let names = [
        ("delete_file", "delete_file"),
        ("delete_file", "deleteFile"),
        ("delete_file", "Delete-File"),
        ("delete_file", "functions.delete_file"),
        ("files.delete", "files_delete"),
    ];
    for (tool, called) in names {
        for call in CALLS {
            let sent = call.replace("NAME", called);
            assert_eq!(text(tool, &sent), r#"{"path":"a"}"#, "{sent}");
        }
    }
    for called in ["default_api:delete_file", "tools/delete_file"] {
        let sent = CALLS[0].replace("NAME", called);
        assert_eq!(text("delete_file", &sent), r#"{"path":"a"}"#, "{sent}");
    }
    for sent in [r#"{"arguments":{"path":"a"}}"#, r#"{"type":"function","input":{"path":"a"}}"#] {
        assert_eq!(text("delete_file", sent), r#"{"path":"a"}"#, "{sent}");
    }
}

#[test]
fn a_call_of_another_tool_is_refused_by_its_name() {
    for call in CALLS {
        let sent = call.replace("NAME", "read_file");
        assert_eq!(
            text("delete_file", &sent),
            "input: found a call of \"read_file\", expected the input of \"delete_file\"; \
             call another tool by its own name",
            "{sent}"
        );
    }
    for sent in [
        r#"{"tool":"delete_file","name":"read_file","arguments":{"path":"a"}}"#,
        r#"{"name":"delete_file.read_file","arguments":{"path":"a"}}"#,
        r#"{"name":"delete_file","arguments":{"name":"read_file","arguments":{"path":"a"}}}"#,
        r#"{"name":"","arguments":{"path":"a"}}"#,
        r#"read_file(options={"path":"a"})"#,
        r#"delete_file(read_file({"path":"a"}))"#,
        "read_file(path='a')\ndelete_file(path='a')",
    ] {
        assert!(read("delete_file", sent).is_err(), "{sent}");
    }
}

#[test]
fn an_object_beside_another_argument_is_no_input() {
    for sent in [r#"f("b", {"path": "a"})"#, r#"f((1), {"path": "a"})"#] {
        assert!(read("f", sent).is_err(), "{sent}");
    }
}

#[test]
fn a_tool_with_a_key_for_a_name_is_called_by_its_own() {
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["name"],
        "properties": {"name": {"type": "string"}},
    });
    let ladder = Repairer::new(&schema, []).unwrap().named("create_user");
    let read = |sent: &str| {
        let repaired = ladder.repair(sent, Repair::Standard, TruncatedInput::Refused);
        repaired.map_or_else(|_| "refused".to_owned(), |it| it.text)
    };
    let ada = r#"{"name":"ada"}"#;
    assert_eq!(read(r#"{"name":"create_user","arguments":{"name":"ada"}}"#), ada);
    assert_eq!(read(r#"{"name":"delete_user","arguments":{"name":"ada"}}"#), "refused");
    assert_eq!(read(ada), ada);
    assert_eq!(read(r#"{"name":"delete_user"}"#), r#"{"name":"delete_user"}"#);
}
