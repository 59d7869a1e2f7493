//! Requests as the API takes them, and every way in which a response may end.

use toolwright::ErrorClass;
use toolwright::{Answer, Output, Registry, tool};

use super::*;
use crate::history::Message;
use crate::http::api::Api;
use crate::model::{Effort, ModelSettings};

/// Adds one.
#[tool(name = "math.add")]
async fn add(
    /// To what.
    a: i64,
) -> i64 {
    a + 1
}

fn listing() -> Listing {
    Registry::of([ADD]).unwrap().listing(toolwright::dialect::Dialect::OpenAiResponses).unwrap()
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall { id: Some(id.into()), name: "math.add".into(), arguments: arguments.into() }
}

fn read(text: &str) -> ModelAnswer {
    Api::OpenAiResponses.answer(text, &listing()).unwrap()
}

fn response(output: &str, status: &str, details: &str) -> String {
    format!(
        r#"{{"object":"response","status":"{status}","incomplete_details":{details},"output":{output},"usage":{{"input_tokens":5,"input_tokens_details":{{"cached_tokens":2}},"output_tokens":3,"output_tokens_details":{{"reasoning_tokens":1}}}}}}"#
    )
}

const REASONED: &str = r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x=="}"#;
const CALLED: &str = r#"{"type":"function_call","id":"fc_1","call_id":"c1","name":"math_add","arguments":"{\"a\": 1}","status":"completed"}"#;

#[test]
fn a_request_has_the_listings_tools_and_an_item_for_each_call_and_result() {
    let listing = listing();
    let history = [
        Message::user("Add."),
        Message::assistant("I add.", [call("c1", r#"{"a": 1}"#), call("c2", "{\"a\":")]),
        Message::tool_results([
            (call("c1", ""), Answer::from(Output::text("2"))),
            (call("c2", ""), Answer::from(Output::text("3"))),
        ]),
        Message::assistant("Two.", []),
    ];
    let settings = ModelSettings::new()
        .tool_choice(ToolChoice::Tool("math.add".into()))
        .one_call()
        .reasoning(Reasoning::Effort(Effort::Low));
    let request =
        ModelRequest::new(&history, &listing).instructions("Be brief.").settings(&settings);
    let text = body(&Api::OpenAiResponses.asked("m", Some(90)), &request).unwrap();
    assert!(text.contains(&format!(r#""tools":{},"input":["#, listing.tools())), "{text}");
    let mut body: Value = serde_json::from_str(&text).unwrap();
    body.as_object_mut().unwrap().remove("tools");
    let called = |id: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": "math_add", "arguments": arguments});
    let result = |id: &str, output: &str| json!({"type": "function_call_output", "call_id": id, "output": output});
    assert_eq!(
        body,
        json!({
            "model": "m", "store": false, "max_output_tokens": 90, "instructions": "Be brief.",
            "reasoning": {"effort": "low"}, "include": ["reasoning.encrypted_content"],
            "tool_choice": {"type": "function", "name": "math_add"}, "parallel_tool_calls": false,
            "input": [
                {"role": "user", "content": "Add."},
                {"role": "assistant", "content": "I add."},
                called("c1", r#"{"a": 1}"#),
                called("c2", "{}"),
                result("c1", "2"),
                result("c2", "3"),
                {"role": "assistant", "content": "Two."},
            ],
        })
    );
}

/// At a failover on one server for instance: the API refuses an item of reasoning to a model that has none.
#[test]
fn reasoning_goes_to_models_that_reason() {
    let answer = read(&response(&format!("[{REASONED},{CALLED}]"), "completed", "null"));
    let history = [
        Message::Assistant {
            text: String::new(),
            calls: answer.calls.into(),
            verbatim: answer.verbatim,
        },
        Message::tool_results([(call("c1", ""), Answer::from(Output::text("2")))]),
    ];
    let listing = listing();
    let request = ModelRequest::new(&history, &listing);
    let sent = |model| body(&Api::OpenAiResponses.asked(model, None), &request).unwrap();
    assert!(sent("gpt-5.2").contains(&format!("{REASONED},{CALLED}")));
    assert!(sent("gpt-4.1").contains(&format!(r#""input":[{CALLED},"#)));
}

/// The server stores nothing, so that a model without it would reason anew after every call. Other models refuse to be asked.
#[test]
fn models_that_reason_are_asked_for_their_reasoning() {
    let (listing, history) = (listing(), [Message::user("Add.")]);
    for (model, is_asked) in [
        ("o3", true),
        ("o4-mini-2025-04-16", true),
        ("gpt-5", true),
        ("gpt-5.2-codex", true),
        ("codex-mini-latest", true),
        ("gpt-5-chat-latest", false),
        ("gpt-4.1", false),
        ("gpt-4o", false),
        ("some-model", false),
    ] {
        let request = ModelRequest::new(&history, &listing);
        let text = body(&Api::OpenAiResponses.asked(model, None), &request).unwrap();
        assert_eq!(
            text.contains(r#""include":["reasoning.encrypted_content"]"#),
            is_asked,
            "{model}"
        );
    }
}

#[test]
fn items_go_back_byte_for_byte_and_reasoning_that_only_the_server_has_is_left_out() {
    let stored = r#"{"type":"reasoning","id":"rs_0","summary":[]}"#;
    let answer = read(&response(&format!("[{stored}, {REASONED}, {CALLED}]"), "completed", "null"));
    assert_eq!(
        (answer.calls[0].name.as_str(), answer.calls[0].arguments.as_str()),
        ("math.add", r#"{"a": 1}"#)
    );
    let (listing, calls) = (listing(), answer.calls.clone());
    let history = [
        Message::Assistant { text: String::new(), calls: calls.into(), verbatim: answer.verbatim },
        Message::tool_results([(call("c1", ""), Answer::from(Output::text("2")))]),
    ];
    let request = ModelRequest::new(&history, &listing);
    let text = body(&Api::OpenAiResponses.asked("gpt-5.2", None), &request).unwrap();
    assert!(text.contains(&format!(r#""input":[{REASONED},{CALLED},{{"#)), "{text}");
}

#[test]
fn every_way_to_end_is_read() {
    let text = r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"One."},{"type":"output_text","text":"Two."}]}"#;
    let refusal = r#"{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"I do not."}]}"#;
    let cut = CALLED.replace("completed", "incomplete");
    let limit = r#"{"reason":"max_output_tokens"}"#;
    for (output, status, details, stop, calls, words) in [
        (text, "completed", "null", StopReason::Finished, 0, "One.\n\nTwo."),
        (CALLED, "completed", "null", StopReason::Finished, 1, ""),
        (text, "incomplete", limit, StopReason::CutShort, 0, "One.\n\nTwo."),
        (&cut, "incomplete", limit, StopReason::CutInCall, 0, ""),
        (refusal, "completed", "null", StopReason::Refused, 0, "I do not."),
        (
            text,
            "incomplete",
            r#"{"reason":"content_filter"}"#,
            StopReason::Refused,
            0,
            "One.\n\nTwo.",
        ),
    ] {
        let answer = read(&response(&format!("[{output}]"), status, details));
        assert_eq!(
            (&answer.stop, answer.calls.len(), answer.text.as_str()),
            (&stop, calls, words),
            "{output} {status}"
        );
        assert_eq!(answer.usage, Some(Usage::new(5, 3).cached(2).reasoning(1)));
    }
}

#[test]
fn a_response_that_failed_says_why_and_whether_to_ask_again() {
    for (code, class) in [
        ("server_error", ErrorClass::Transient),
        ("rate_limit_exceeded", ErrorClass::NotStarted { retry_after: None }),
        ("server_is_overloaded", ErrorClass::NotStarted { retry_after: None }),
        ("insufficient_quota", ErrorClass::Final),
        ("invalid_prompt", ErrorClass::Final),
    ] {
        let text = format!(
            r#"{{"object":"response","status":"failed","error":{{"code":"{code}","message":"No."}},"output":[]}}"#
        );
        let fault = Api::OpenAiResponses.answer(&text, &listing()).unwrap_err();
        assert_eq!(fault.class, class, "{code}");
        assert!(fault.message.contains(&format!("({code}: No.)")), "{}", fault.message);
    }
}

#[test]
fn a_response_that_is_none_is_refused_with_what_it_is() {
    for (text, why) in [
        ("not JSON", "the message is not JSON"),
        (r#"{"choices":[{"message":{"role":"assistant","content":"Hi"}}]}"#, "one of openai-chat"),
        (r#"{"object":"response","output":[{"type":"function_call","call_id":7}]}"#, "/output/0"),
    ] {
        let fault = Api::OpenAiResponses.answer(text, &listing()).unwrap_err();
        assert_eq!(fault.kind, "invalid_response");
        assert!(fault.message.contains("expected an OpenAI response"), "{}", fault.message);
        assert!(fault.message.contains(why), "{}", fault.message);
    }
}
