//! An agent of plugins: its tools, its skills and the instructions of the folder that it runs in.

use std::fs;

use serde_json::{Value, json};

use crate::provider::Provider;
use crate::{printed, program};

const PLUGINS: &str = env!("CARGO_BIN_EXE_plugins");

fn response(output: &Value) -> String {
    let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
    json!({ "id": "resp_1", "object": "response", "status": "completed", "output": output, "usage": usage })
        .to_string()
}

fn calling(id: &str, name: &str, arguments: &Value) -> String {
    let arguments = arguments.to_string();
    response(&json!([
        { "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": arguments }
    ]))
}

#[test]
fn a_tool_comes_with_what_the_run_knows_and_a_skill_with_its_activation() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("skills/greeting")).unwrap();
    let skill = "---\nname: greeting\ndescription: Greets customers.\n---\nSay good morning.\n";
    fs::write(folder.path().join("skills/greeting/SKILL.md"), skill).unwrap();
    fs::write(folder.path().join("AGENTS.md"), "Prices are in cents.").unwrap();

    let message = json!([
        { "type": "message", "id": "msg_1", "role": "assistant", "content": [{ "type": "output_text", "text": "Good morning! 900 cents." }] }
    ]);
    let provider = Provider::of([
        calling("c1", "skill_activate", &json!({ "id": "greeting" })),
        calling("c2", "put", &json!({ "name": "tea" })),
        calling("c3", "put", &json!({ "name": "tea" })),
        calling("c4", "total", &json!({})),
        response(&message),
    ]);
    let mut plugins = program(PLUGINS);
    plugins.current_dir(folder.path());
    plugins.env("OPENAI_API_KEY", "secret").env("OPENAI_BASE_URL", &provider.url);
    assert_eq!(printed(&plugins.output().unwrap()), "Good morning! 900 cents.\n");

    let requests = provider.requests();
    let tools = |request: &Value| -> Vec<String> {
        let tools = request["tools"].as_array().unwrap().iter();
        tools.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(tools(&requests[0]), ["skill_activate", "put"]);
    assert_eq!(tools(&requests[2]), ["skill_activate", "put", "total"]);
    let first = requests[0].to_string();
    assert!(
        first.contains("Prices are in cents.") && !first.contains("Say good morning."),
        "{first}"
    );
    assert!(requests[1].to_string().contains("Say good morning."));
    assert!(requests[4]["input"].to_string().contains("900"));
}
