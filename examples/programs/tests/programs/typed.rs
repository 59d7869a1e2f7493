//! An agent whose run ends in a value of a type, and a tool that refuses before anybody is asked.

use serde_json::{Value, json};

use crate::provider::Provider;
use crate::{printed, program};

const TYPED: &str = env!("CARGO_BIN_EXE_typed");

/// A response of the model with these calls, by id, name and arguments.
fn calling(calls: &[(&str, &str, Value)]) -> String {
    let output: Vec<Value> = calls
        .iter()
        .map(|(id, name, arguments)| {
            let arguments = arguments.to_string();
            json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": arguments })
        })
        .collect();
    let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
    json!({ "id": "resp_1", "object": "response", "status": "completed", "output": output, "usage": usage })
        .to_string()
}

#[test]
fn it_asks_until_the_answer_is_a_quote_and_nobody_about_an_order_that_cannot_be() {
    let provider = Provider::of([
        calling(&[
            ("c1", "price_of", json!({ "article": "tea" })),
            ("c2", "price_of", json!({ "article": "honey" })),
            ("c3", "order", json!({ "article": "gold" })),
        ]),
        calling(&[("c4", "final_answer", json!({ "lines": [["tea", "cheap"]], "total": 450 }))]),
        calling(&[("c5", "final_answer", json!({ "lines": [["tea", 450]], "total": 450 }))]),
    ]);
    let mut typed = program(TYPED);
    typed.env("OPENAI_API_KEY", "secret").env("OPENAI_BASE_URL", &provider.url);
    // It has no terminal: a question would be an error of its own.
    assert_eq!(printed(&typed.output().unwrap()), "");

    let requests = provider.requests();
    let words = |request: &Value| request["input"].to_string();
    let (called, corrected) = (words(&requests[1]), words(&requests[2]));
    assert!(called.contains("450") && called.contains("the supplier has no `gold`"), "{called}");
    assert!(corrected.contains("/lines/0/1"), "{corrected}");
    // The server is not the vendor's own, so the value is asked for by a call, which has to be made.
    assert_eq!(requests[0]["tool_choice"], "required");
}
