//! A person decides.

use serde_json::{Value, json};

use crate::provider::Provider;
use crate::{printed, program};

const APPROVE: &str = env!("CARGO_BIN_EXE_approve");

fn called(name: &str, arguments: &Value) -> String {
    let call = json!({
        "type": "function_call", "id": "fc_1", "call_id": format!("call_{name}"), "name": name,
        "arguments": arguments.to_string(), "status": "completed",
    });
    json!({
        "id": "resp_1", "object": "response", "model": "gpt-5.2", "status": "completed", "output": [call],
        "usage": { "input_tokens": 10, "output_tokens": 5, "total_tokens": 15 },
    })
    .to_string()
}

fn provider(summary: &str) -> Provider {
    Provider::of([
        called("order", &json!({ "article": "tea", "count": 3 })),
        called("finish", &json!({ "summary": summary })),
    ])
}

/// The output that the model read of its first call.
fn first_answer(provider: Provider) -> String {
    let requests = provider.requests();
    let items = requests[1]["input"].as_array().unwrap();
    let output = items.iter().find(|it| it["type"] == "function_call_output").unwrap();
    output["output"].to_string()
}

#[test]
fn without_a_terminal_nothing_is_ordered() {
    let provider = provider("I could not order tea.");
    let mut approve = program(APPROVE);
    approve.env("OPENAI_API_KEY", "secret").env("OPENAI_BASE_URL", format!("{}/v1", provider.url));
    let output = approve.output().unwrap();
    assert_eq!(printed(&output), "I could not order tea.\n");
    let answer = first_answer(provider);
    assert!(answer.contains("approval_required") && !answer.contains("ordered 3"), "{answer}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("; no approver outside of this program counts, so the call is not approved"),
        "{said}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_it_asks_and_a_yes_runs_the_call() {
    let provider = provider("I ordered tea.");
    let url = format!("{}/v1", provider.url);
    let mut person = crate::terminal::Person::start(APPROVE, |command| {
        command.env("OPENAI_API_KEY", "secret").env("OPENAI_BASE_URL", url);
    });
    let question = person.read_until("\n> ");
    assert!(question.contains("it spends money"), "{question}");
    person.answer("y");
    let end = person.read_until(" out");
    assert!(
        end.contains("I ordered tea.") && end.contains("2 turns, 20 tokens in, 10 out"),
        "{end}"
    );
    assert!(person.has_succeeded());
    assert!(first_answer(provider).contains("ordered 3 of tea"));
}
