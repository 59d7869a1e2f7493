//! What the coder's recordings say that was sent and answered is what the vendors' documents take and give.

use oracles::recorded::{Judged, verdict};

/// The text of a recording of the coder.
fn recording(provider: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/coder/recordings");
    std::fs::read_to_string(format!("{folder}/{provider}.jsonl")).unwrap()
}

#[test]
fn the_vendors_take_every_request_and_give_every_response() {
    for provider in ["anthropic", "openai-chat", "openai-responses", "gemini"] {
        let found = verdict(&recording(provider), Judged::Both).unwrap();
        assert!(found.objections.is_empty(), "{provider}: {:#?}", found.objections);
        assert_eq!(found.valid, 12, "{provider}: six exchanges");
    }
}

/// The documents judge: what is wrong in one place is found there.
#[test]
fn a_body_that_is_wrong_is_found_with_its_line() {
    for (provider, right, wrong, expected) in [
        (
            "anthropic",
            r#""tool_use_id":"toolu_01""#,
            r#""tool_use_id":"no id""#,
            "line 3, request: ",
        ),
        (
            "anthropic",
            r#""max_tokens":8192"#,
            r#""max_completion_tokens":8192"#,
            "line 2, request: ",
        ),
        (
            "anthropic",
            r#""stop_reason":"tool_use""#,
            r#""stop_reason":"tool_calls""#,
            "line 2, response: ",
        ),
        ("openai-chat", r#""role":"tool""#, r#""role":"tool_result""#, "line 3, request: "),
        (
            "openai-chat",
            r#""finish_reason":"tool_calls""#,
            r#""finish_reason":"tool_use""#,
            "line 2, response: ",
        ),
        (
            "openai-responses",
            r#""type":"function_call_output""#,
            r#""type":"function_result""#,
            "line 3, request: ",
        ),
        ("openai-responses", r#""status":"completed""#, r#""status":"done""#, "line 2, response: "),
        ("gemini", r#""functionDeclarations":"#, r#""functions":"#, "line 2, request: "),
        ("gemini", r#""finishReason":"STOP""#, r#""finishReason":"stop""#, "line 2, response: "),
    ] {
        let text = recording(provider);
        assert!(text.contains(right), "{right} is not in the recording");
        let found = verdict(&text.replace(right, wrong), Judged::Both).unwrap();
        let first = found.objections.first().unwrap_or_else(|| panic!("{wrong} is taken"));
        assert!(first.starts_with(expected), "{first}");
    }
}
