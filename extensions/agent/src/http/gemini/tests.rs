//! Requests as the API takes them, and every way in which a response may end.

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
    Registry::of([ADD]).unwrap().listing(toolwright::dialect::Dialect::Gemini).unwrap()
}

fn call(id: Option<&str>, arguments: &str) -> ToolCall {
    ToolCall { id: id.map(str::to_owned), name: "math.add".into(), arguments: arguments.into() }
}

fn written(model: &str, history: &[Message]) -> String {
    let listing = listing();
    body(&Api::Gemini.asked(model, None), &ModelRequest::new(history, &listing)).unwrap()
}

fn read(text: &str) -> ModelAnswer {
    Api::Gemini.answer(text, &listing()).unwrap()
}

fn response(parts: &str, reason: &str) -> String {
    format!(
        r#"{{"candidates":[{{"content":{{"role":"model","parts":{parts}}},"finishReason":"{reason}"}}],"usageMetadata":{{"promptTokenCount":5,"cachedContentTokenCount":2,"candidatesTokenCount":3,"thoughtsTokenCount":4}}}}"#
    )
}

#[test]
fn a_request_has_the_listings_tools_and_a_part_for_each_call_and_result() {
    let listing = listing();
    let name = &listing.shown_name("math.add").into_owned();
    let history = [
        Message::user("Add."),
        Message::assistant(
            "I add.",
            [call(Some("c1"), r#"{"a":9007199254740993}"#), call(Some("c2"), "{\"a\":")],
        ),
        Message::tool_results([
            (call(Some("c1"), ""), Answer::from(Output::text("2"))),
            (call(Some("c2"), ""), Answer::from(Output::text("3"))),
        ]),
    ];
    let settings = ModelSettings::new()
        .tool_choice(ToolChoice::Tool("math.add".into()))
        .stop_words(["END"])
        .reasoning(Reasoning::Effort(Effort::High));
    let request =
        ModelRequest::new(&history, &listing).instructions("Be brief.").settings(&settings);
    let text = body(&Api::Gemini.asked("gemini-3-pro", Some(90)), &request).unwrap();
    let tools = format!(r#""tools":{},"#, listing.tools());
    assert!(text.contains(&tools) && text.contains(r#""args":{"a":9007199254740993}"#), "{text}");
    let mut body: Value = serde_json::from_str(&text).unwrap();
    body.as_object_mut().unwrap().remove("tools");
    let result = |id: &str, output: &str| json!({"functionResponse": {"id": id, "name": name, "response": {"output": output}}});
    assert_eq!(
        body,
        json!({
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [name]}},
            "generationConfig": {
                "maxOutputTokens": 90, "stopSequences": ["END"], "thinkingConfig": {"thinkingLevel": "HIGH"},
            },
            "contents": [
                {"role": "user", "parts": [{"text": "Add."}]},
                {"role": "model", "parts": [
                    {"text": "I add."},
                    {
                        "thoughtSignature": FOREIGN,
                        "functionCall": {"id": "c1", "name": name, "args": {"a": 9_007_199_254_740_993_i64}},
                    },
                    {"functionCall": {"id": "c2", "name": name, "args": {}}},
                ]},
                {"role": "user", "parts": [result("c1", "2"), result("c2", "3")]},
            ],
        })
    );
}

#[test]
fn parts_go_back_byte_for_byte_also_where_calls_have_no_ids() {
    let name = listing().shown_name("math.add").into_owned();
    let parts = format!(
        r#"[{{"thoughtSignature":"s==","functionCall":{{"name":"{name}","args":{{"a": 1.0}}}}}}, {{"functionCall":{{"name":"{name}"}}}}]"#
    );
    let answer = read(&response(&parts, "STOP"));
    let arguments: Vec<&str> = answer.calls.iter().map(|call| call.arguments.as_str()).collect();
    assert_eq!(
        (answer.calls[0].name.as_str(), &arguments[..]),
        ("math.add", &[r#"{"a": 1.0}"#, "{}"][..])
    );
    let answers = answer.calls.iter().map(|call| (call.clone(), Answer::from(Output::text("2"))));
    let history = [Message::tool_results(answers), Message::user("Again.")];
    let model = Message::Assistant {
        text: String::new(),
        calls: answer.calls.clone().into(),
        verbatim: answer.verbatim,
    };
    let text = written("gemini-3-pro", &[&[model][..], &history].concat());
    assert!(text.contains(&format!(r#"{{"role":"model","parts":{parts}}}"#)), "{text}");
    assert!(!text.contains("call_0_0"), "{text}");
}

/// Some servers count their ids anew in each answer: the API takes that, and wants its signatures back.
#[test]
fn an_id_of_an_earlier_message_stays() {
    let name = listing().shown_name("math.add").into_owned();
    let part =
        format!(r#"[{{"thoughtSignature":"s","functionCall":{{"id":"c1","name":"{name}"}}}}]"#);
    let turn = || {
        let verbatim = Verbatim::new("gemini", &*part);
        let answered =
            Message::tool_results([(call(Some("c1"), ""), Answer::from(Output::text("2")))]);
        [Message::assistant("", [call(Some("c1"), "{}")]).verbatim(verbatim), answered]
    };
    let text = written("gemini-3-pro", &[turn(), turn()].concat());
    assert_eq!(text.matches(&part).count(), 2, "{text}");
}

#[test]
fn a_call_of_another_model_is_signed_for_models_that_ask_for_a_signature() {
    let history = [
        Message::assistant("", [call(Some("c1"), "{}")]),
        Message::tool_results([(call(Some("c1"), ""), Answer::from(Output::text("2")))]),
    ];
    assert!(written("gemini-3-pro", &history).contains(FOREIGN));
    assert!(!written("gemini-2.5-pro", &history).contains(FOREIGN));
}

#[test]
fn every_reason_to_finish_is_read() {
    let name = listing().shown_name("math.add").into_owned();
    let call =
        format!(r#"[{{"text":"I add."}},{{"functionCall":{{"name":"{name}","args":{{}}}}}}]"#);
    let text = r#"[{"text":"Hm.","thought":true},{"text":"Do"},{"text":"ne."}]"#;
    for (parts, reason, stop, calls, words) in [
        (call.as_str(), "STOP", StopReason::Finished, 1, "I add."),
        (call.as_str(), "FUNCTION_CALL", StopReason::Finished, 1, "I add."),
        (&call, "MAX_TOKENS", StopReason::CutInCall, 0, "I add."),
        (text, "STOP", StopReason::Finished, 0, "Done."),
        (text, "MAX_TOKENS", StopReason::CutShort, 0, "Done."),
        (text, "SAFETY", StopReason::Refused, 0, "Done."),
        ("[]", "RECITATION", StopReason::Refused, 0, "RECITATION"),
        (text, "A_NEW_REASON", StopReason::Finished, 0, "Done."),
        (&call, "A_NEW_REASON", StopReason::Refused, 0, "I add."),
        ("[]", "A_NEW_REASON", StopReason::Refused, 0, "A_NEW_REASON"),
    ] {
        let answer = read(&response(parts, reason));
        assert_eq!(
            (&answer.stop, answer.calls.len(), answer.text.as_str()),
            (&stop, calls, words),
            "{parts} {reason}"
        );
        assert_eq!(answer.usage, Some(Usage::new(5, 7).cached(2).reasoning(4)));
    }
    for (parts, reason, kind, class) in [
        ("[]", "MALFORMED_FUNCTION_CALL", "malformed_call", ErrorClass::Transient),
        (text, "UNEXPECTED_TOOL_CALL", "malformed_call", ErrorClass::Transient),
        (&call, "MISSING_THOUGHT_SIGNATURE", "invalid_request", ErrorClass::Final),
    ] {
        let fault = Api::Gemini.answer(&response(parts, reason), &listing()).unwrap_err();
        assert_eq!((fault.kind, fault.class), (kind, class), "{reason}");
        assert!(fault.message.contains(reason), "{}", fault.message);
        assert_eq!(
            fault.taken,
            crate::http::FaultUsage::Whole(Box::new(Usage::new(5, 7).cached(2).reasoning(4)))
        );
    }
    let blocked = read(r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#);
    assert_eq!(
        (blocked.stop, blocked.text.as_str()),
        (StopReason::Refused, "the prompt was blocked: SAFETY")
    );
}

#[test]
fn a_response_that_is_none_is_refused_with_what_it_is() {
    for (text, why) in [
        ("not JSON", "the message is not JSON"),
        (r#"{"candidates":[]}"#, "it has no candidates"),
        (r#"{"choices":[{"message":{"role":"assistant","content":"Hi"}}]}"#, "one of openai-chat"),
    ] {
        let fault = Api::Gemini.answer(text, &listing()).unwrap_err();
        assert_eq!(fault.kind, "invalid_response");
        assert!(fault.message.contains("expected a Gemini response"), "{}", fault.message);
        assert!(fault.message.contains(why), "{}", fault.message);
    }
}
