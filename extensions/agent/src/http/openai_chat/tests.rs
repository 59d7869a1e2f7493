//! Requests as the API takes them, and every way in which a response may end.

use serde_json::json;
use toolwright::{Answer, Output, Registry, tool};

use super::*;
use crate::history::Message;
use crate::http::api::Api;

/// Adds one.
#[tool(name = "math.add")]
async fn add(
    /// To what.
    a: i64,
) -> i64 {
    a + 1
}

fn listing() -> Listing {
    Registry::of([ADD]).unwrap().listing(toolwright::dialect::Dialect::OpenAiChat).unwrap()
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall { id: Some(id.into()), name: "math.add".into(), arguments: arguments.into() }
}

fn read(text: &str) -> Result<ModelAnswer, Fault> {
    Api::OpenAiChat.answer(text, &listing())
}

fn completion(message: &str, finish: &str) -> String {
    format!(
        r#"{{"object":"chat.completion","choices":[{{"index":0,"message":{message},"finish_reason":"{finish}"}}],"usage":{{"prompt_tokens":5,"completion_tokens":3}}}}"#
    )
}

#[test]
fn a_request_has_the_listings_tools_and_a_message_for_each_result() {
    let listing = listing();
    let history = [
        Message::user("Add."),
        Message::assistant("", [call("c1", r#"{"a": 1}"#), call("c2", "{\"a\":")]),
        Message::tool_results([
            (call("c1", ""), Answer::from(Output::text("2"))),
            (call("c2", ""), Answer::from(Output::text("3"))),
        ]),
        Message::assistant("Two.", []),
        Message::assistant("", []),
    ];
    let request = ModelRequest::new(&history, &listing).instructions("Be brief.");
    let text = body(&Api::OpenAiChat.asked("m", Some(9)), &request).unwrap();
    let tools = listing.tools().get();
    let head = format!(r#"{{"model":"m","max_completion_tokens":9,"tools":{tools},"messages":["#);
    assert!(text.starts_with(&head), "{text}");
    let body: Value = serde_json::from_str(&text).unwrap();
    let called = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "math_add", "arguments": arguments}});
    assert_eq!(
        body["messages"],
        json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Add."},
            {"role": "assistant", "content": null, "tool_calls": [
                called("c1", r#"{"a": 1}"#), called("c2", "{}")
            ]},
            {"role": "tool", "tool_call_id": "c1", "content": "2"},
            {"role": "tool", "tool_call_id": "c2", "content": "3"},
            {"role": "assistant", "content": "Two."},
        ])
    );
}

#[test]
fn calls_of_one_id_get_ids_of_their_own_in_the_next_request() {
    let listing = listing();
    let history = [
        Message::assistant("", [call("c1", "{}"), call("c1", "{}")]),
        Message::tool_results([
            (call("c1", ""), Answer::from(Output::text("2"))),
            (call("c1", ""), Answer::from(Output::text("3"))),
        ]),
    ];
    let text =
        body(&Api::OpenAiChat.asked("m", None), &ModelRequest::new(&history, &listing)).unwrap();
    let body: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(body["messages"][0]["tool_calls"][1]["id"], "call_0_1");
    assert_eq!(body["messages"][2]["tool_call_id"], "call_0_1");
}

/// Mistral takes nine letters and digits, and nothing else.
#[test]
fn a_history_of_another_provider_gets_ids_that_mistral_takes() {
    let listing = listing();
    let turn = |id: &str| {
        let answered = Message::tool_results([(call(id, ""), Answer::from(Output::text("2")))]);
        [Message::assistant("", [call(id, "{}")]), answered]
    };
    let history = [turn("toolu_01"), turn("D681PevKs"), turn("000004000"), turn("c1")].concat();
    let request = ModelRequest::new(&history, &listing);
    let ids = |host: &str| {
        let origin = format!("openai-chat@{host}/some-model");
        let to = RequestTarget { origin: &origin, ..Api::OpenAiChat.asked("some-model", None) };
        let body: Value = serde_json::from_str(&body(&to, &request).unwrap()).unwrap();
        let messages = body["messages"].as_array().unwrap();
        let called = messages.iter().filter_map(|it| it["tool_calls"][0]["id"].as_str());
        let called: Vec<String> = called.map(str::to_owned).collect();
        let answered = messages.iter().filter_map(|it| it["tool_call_id"].as_str());
        assert!(answered.eq(called.iter()), "{called:?}");
        called
    };
    let taken = ["000000000", "D681PevKs", "000004000", "000006000"];
    assert_eq!(ids("api.mistral.ai"), taken);
    assert_eq!(ids("mistral.ai.example"), ["toolu_01", "D681PevKs", "000004000", "c1"]);
}

/// Over the whole history: some servers count them anew in each answer. A long one of another provider is refused as well.
#[test]
fn an_id_that_an_earlier_message_has_or_that_is_too_long_is_replaced() {
    let (listing, long) = (listing(), "c".repeat(41));
    let turn = |id: &str| {
        let answered = Message::tool_results([(call(id, ""), Answer::from(Output::text("2")))]);
        [Message::assistant("", [call(id, "{}")]), answered]
    };
    let history =
        [turn("call_4_0"), turn("c1"), turn("c1"), turn(&long), turn("call_4_0")].concat();
    let request = ModelRequest::new(&history, &listing);
    let text = body(&Api::OpenAiChat.asked("m", None), &request).unwrap();
    let body: Value = serde_json::from_str(&text).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let called: Vec<&str> =
        messages.iter().filter_map(|it| it["tool_calls"][0]["id"].as_str()).collect();
    let answered: Vec<&str> =
        messages.iter().filter_map(|it| it["tool_call_id"].as_str()).collect();
    assert_eq!(called, ["call_4_0", "c1", "call_4_0_", "call_6_0", "call_8_0"]);
    assert_eq!(called, answered);
}

/// Under either of the names that servers have for it. Some refuse a history of calls without it.
#[test]
fn reasoning_goes_back_to_the_server_that_wrote_it() {
    let details = r#""reasoning_details":[{"format":"f","index":0,"signature":"s==","text":"Hm.","type":"reasoning.text"}]"#;
    for own in [r#""reasoning_content":"Hm.""#, r#""reasoning":"Hm.""#, details] {
        let called = r#""tool_calls":[{"id":"c1","type":"function","function":{"name":"math_add","arguments":"{}"}}]"#;
        let message = format!(r#"{{"role":"assistant","content":null,{own},{called}}}"#);
        let answer = read(&completion(&message, "tool_calls")).unwrap();
        let history = [
            Message::Assistant {
                text: String::new(),
                calls: answer.calls.into(),
                verbatim: answer.verbatim,
            },
            Message::tool_results([(call("c1", ""), Answer::from(Output::text("2")))]),
        ];
        let (listing, api) = (listing(), Api::OpenAiChat);
        let request = ModelRequest::new(&history, &listing);
        let text = body(&api.asked("m", None), &request).unwrap();
        assert!(text.contains(&format!(r#""content":null,{own},"tool_calls""#)), "{text}");
        let other = RequestTarget { origin: "openai-chat@elsewhere", ..api.asked("m", None) };
        assert!(!body(&other, &request).unwrap().contains("Hm."));
    }
    // The signature of a thought of Gemini, behind an API that imitates this one.
    let signed = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"math_add","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"math_add","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s=="}}}]}"#;
    let answer = read(&completion(signed, "tool_calls")).unwrap();
    let history = [Message::Assistant {
        text: String::new(),
        calls: answer.calls.into(),
        verbatim: answer.verbatim,
    }];
    let listing = listing();
    let text =
        body(&Api::OpenAiChat.asked("m", None), &ModelRequest::new(&history, &listing)).unwrap();
    assert_eq!(
        text.matches(r#"},"extra_content":{"google":{"thought_signature":"s=="}}}"#).count(),
        1,
        "{text}"
    );
    let message = r#"{"role":"assistant","content":"Done.","reasoning":{"effort":"low"}}"#;
    assert!(read(&completion(message, "stop")).unwrap().verbatim.is_none());
}

#[test]
fn every_reason_to_finish_is_read() {
    let call = r#"{"role":"assistant","content":"I add.","tool_calls":[{"id":"c1","type":"function","function":{"name":"math_add","arguments":"{\"a\": 1}"}}]}"#;
    let text = r#"{"role":"assistant","content":"Done.","refusal":null}"#;
    let refusal = r#"{"role":"assistant","content":null,"refusal":"I do not."}"#;
    for (message, reason, stop, calls, words) in [
        (call, "tool_calls", StopReason::Finished, 1, "I add."),
        (call, "length", StopReason::CutInCall, 0, "I add."),
        (text, "stop", StopReason::Finished, 0, "Done."),
        (text, "length", StopReason::CutShort, 0, "Done."),
        (text, "content_filter", StopReason::Refused, 0, "Done."),
        (refusal, "stop", StopReason::Refused, 0, "I do not."),
    ] {
        let answer = read(&completion(message, reason)).unwrap();
        assert_eq!((&answer.stop, answer.calls.len()), (&stop, calls), "{message} {reason}");
        assert_eq!((answer.text.as_str(), answer.usage), (words, Some(Usage::new(5, 3))));
    }
    let answer = read(&completion(call, "tool_calls")).unwrap();
    assert_eq!(answer.calls[0].arguments, r#"{"a": 1}"#);
    assert_eq!(answer.calls[0].name, "math.add");
}

/// The reasons are those of DeepSeek, Mistral, OpenRouter and z.ai.
#[test]
fn an_answer_that_broke_off_is_a_fault_or_cut_short_and_its_calls_do_not_run() {
    let call = r#"{"role":"assistant","content":"I purge.","tool_calls":[{"id":"a","type":"function","function":{"name":"purge","arguments":""}}]}"#;
    let text = r#"{"role":"assistant","content":"The first half of"}"#;
    for message in [call, text] {
        for reason in ["error", "network_error", "insufficient_system_resource"] {
            let fault = read(&completion(message, reason)).unwrap_err();
            assert_eq!(
                (fault.kind, fault.class),
                ("server_error", toolwright::ErrorClass::Transient)
            );
            assert!(fault.message.contains(&format!("({reason})")), "{}", fault.message);
        }
    }
    for reason in ["model_length", "model_context_window_exceeded"] {
        assert_eq!(read(&completion(text, reason)).unwrap().stop, StopReason::CutShort);
    }
    assert_eq!(read(&completion(text, "sensitive")).unwrap().stop, StopReason::Refused);
    for reason in ["model_length", "model_context_window_exceeded", "a_reason_of_tomorrow"] {
        let answer = read(&completion(call, reason)).unwrap();
        assert_eq!((answer.stop, answer.calls.len()), (StopReason::CutInCall, 0), "{reason}");
    }
    let answer = read(&completion(text, "a_reason_of_tomorrow")).unwrap();
    assert_eq!(answer.stop, StopReason::Finished);
    let error = r#""error":{"code":502,"message":"Provider returned error"},"finish_reason""#;
    let failed = completion(r#"{"content":""}"#, "error").replace("\"finish_reason\"", error);
    let fault = read(&failed).unwrap_err();
    assert_eq!(fault.class, toolwright::ErrorClass::Transient);
    assert!(fault.message.contains("Provider returned error"), "{}", fault.message);
    let long = failed.replace("502", "400").replace("Provider returned", "maximum context length");
    assert_eq!(read(&long).unwrap_err().kind, "context_too_long");
}

/// xAI counts it in the total alone.
#[test]
fn reasoning_that_is_counted_beside_the_completion_is_a_part_of_the_output() {
    let text = r#"{"prompt_tokens":32,"completion_tokens":9,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":94}}"#;
    assert_eq!(usage(text), Some(Usage::new(32, 103).reasoning(94)));
    let within = text.replace("\"completion_tokens\":9", "\"completion_tokens\":103");
    assert_eq!(usage(&within), Some(Usage::new(32, 103).reasoning(94)));
    let none = r#"{"prompt_tokens":32,"completion_tokens":9,"total_tokens":null}"#;
    assert_eq!(usage(none), Some(Usage::new(32, 9)));
}

#[test]
fn a_response_that_is_no_completion_is_refused_with_what_it_is() {
    for (text, why) in [
        ("not JSON", "the message is not JSON"),
        (r#"{"object":"chat.completion","choices":[]}"#, "it has no choices"),
        (r#"{"choices":null}"#, "found an object with the key choices"),
        (
            r#"{"type":"message","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}"#,
            "found one of anthropic",
        ),
        (
            r#"{"choices":[{"message":{"role":"assistant","tool_calls":[{"id":7}]}}]}"#,
            "/choices/0/message/tool_calls/0",
        ),
    ] {
        let fault = read(text).unwrap_err();
        assert_eq!((fault.kind, fault.class), ("invalid_response", toolwright::ErrorClass::Final));
        assert!(fault.message.contains("expected an OpenAI chat completion"), "{}", fault.message);
        assert!(fault.message.contains(why), "{}", fault.message);
    }
}

#[test]
fn the_tokens_that_were_read_from_the_cache_are_counted() {
    let usage = |details: &str| {
        let text = completion(r#"{"content":"Hello."}"#, "stop");
        let usage = format!(r#""prompt_tokens":5,{details}"completion_tokens":3"#);
        let plain = r#""prompt_tokens":5,"completion_tokens":3"#;
        read(&text.replace(plain, &usage)).unwrap().usage.unwrap()
    };
    let cached = usage(r#""prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":1},"#);
    assert_eq!((cached.input_tokens, cached.cached_tokens), (5, 4));
    assert_eq!(cached.cache_write_tokens, 1);
    for none in ["", r#""prompt_tokens_details":null,"#, r#""prompt_tokens_details":{},"#] {
        assert_eq!(usage(none).cached_tokens, 0, "{none}");
    }
}
