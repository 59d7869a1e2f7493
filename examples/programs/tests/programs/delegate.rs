//! An agent that gives the search for a cause to another, which can only read.

use std::fs;

use serde_json::{Value, json};

use crate::provider::{Provider, message};
use crate::{printed, program};

const DELEGATE: &str = env!("CARGO_BIN_EXE_delegate");

fn called(name: &str, input: &Value) -> String {
    let call = json!({ "type": "tool_use", "id": "t1", "name": name, "input": input });
    message("tool_use", &json!([call]))
}

fn said(text: &str) -> String {
    message("end_turn", &json!([{ "type": "text", "text": text }]))
}

/// S1.32.
#[test]
fn the_researcher_reads_the_code_and_the_agent_answers_with_what_it_found() {
    let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(folder.path().join("parser.rs"), "for line in lines[..lines.len() - 1] {}\n")
        .unwrap();
    let task =
        json!({ "agent": "researcher", "task": "Find out why the parser drops the last line." });
    let provider = Provider::of([
        called("spawn_agent", &task),
        called("read_file", &json!({ "path": "parser.rs" })),
        said("The slice in parser.rs ends one line too early."),
        said("It cuts the last line off: `lines.len() - 1`."),
    ]);
    let mut delegate = program(DELEGATE);
    delegate.env("ANTHROPIC_API_KEY", "secret").env("ANTHROPIC_BASE_URL", &provider.url);
    delegate.env("XDG_STATE_HOME", state.path()).current_dir(folder.path());
    let output = printed(&delegate.output().unwrap());
    assert_eq!(output, "It cuts the last line off: `lines.len() - 1`.\n");

    let requests = provider.requests();
    let names = |request: &Value| -> Vec<String> {
        let tools = request["tools"].as_array().unwrap();
        tools.iter().filter_map(|it| it["name"].as_str()).map(str::to_owned).collect()
    };
    assert!(names(&requests[0]).contains(&"spawn_agent".to_owned()));
    let mut of_researcher = names(&requests[1]);
    of_researcher.sort();
    assert_eq!(of_researcher, ["glob", "grep", "list_files", "read_file"]);
    let task = requests[1]["messages"].to_string();
    assert!(task.contains("drops the last line") && !task.contains("Why does"), "{task}");
    let read = requests[2]["messages"][2]["content"].to_string();
    assert!(read.contains("lines.len() - 1"), "{read}");
    let answer = requests[3]["messages"][2]["content"].to_string();
    assert!(answer.contains("ends one line too early") && answer.contains("turns"), "{answer}");
}
