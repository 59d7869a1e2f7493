//! Requests as the API takes them, and every way in which a response may end.

use toolwright::{Answer, Output, Registry, ToolError, tool};

use super::*;
use crate::history::Message;
use crate::http::api::Api;
use crate::limits::Usage;

/// Adds one.
#[tool(name = "math.add")]
async fn add(
    /// To what.
    b: i64,
    /// And what.
    a: i64,
) -> i64 {
    a + b
}

fn listing() -> Listing {
    Registry::of([ADD]).unwrap().listing(toolwright::dialect::Dialect::Anthropic).unwrap()
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall { id: Some(id.into()), name: "math.add".into(), arguments: arguments.into() }
}

fn written(history: &[Message]) -> Value {
    let listing = listing();
    let request = ModelRequest::new(history, &listing);
    serde_json::from_str(&body(&Api::Anthropic.asked("m", None), &request).unwrap()).unwrap()
}

fn read(text: &str) -> Result<ModelAnswer, Fault> {
    Api::Anthropic.answer(text, &listing())
}

fn message(content: &str, stop: &str) -> String {
    format!(
        r#"{{"type":"message","role":"assistant","content":{content},"stop_reason":"{stop}","usage":{{"input_tokens":5,"cache_read_input_tokens":2,"output_tokens":3}}}}"#
    )
}

#[test]
fn the_tools_are_the_text_of_the_listing() {
    let listing = listing();
    let history = [Message::user("Add.")];
    let request = ModelRequest::new(&history, &listing).instructions("Be brief.");
    let text = body(&Api::Anthropic.asked("m", Some(100)), &request).unwrap();
    let tools = listing.tools().get();
    assert_eq!(
        text,
        format!(
            r#"{{"model":"m","max_tokens":100,"system":"Be brief.","tools":{tools},"messages":[{{"role":"user","content":"Add."}}]}}"#
        )
    );
}

#[test]
fn a_history_is_written_with_a_result_for_each_call() {
    let failed = Answer::from(ToolError::new("overflow", "too large"));
    let body = written(&[
        Message::user("Add."),
        Message::assistant(
            "I add.",
            [call("t1", r#"{"a":9007199254740993}"#), call("t2", "not JSON")],
        ),
        Message::tool_results([
            (call("t1", ""), Answer::from(Output::text("3"))),
            (call("t2", ""), failed),
        ]),
        Message::assistant(" ", []),
        Message::user("Again."),
    ]);
    let messages = &body["messages"];
    assert_eq!(messages[1]["content"][0], json!({"type": "text", "text": "I add."}));
    let first = r#"{"type":"tool_use","id":"t1","name":"math_add","input":{"a":9007199254740993}}"#;
    assert_eq!(messages[1]["content"][1], serde_json::from_str::<Value>(first).unwrap());
    assert_eq!(messages[1]["content"][2]["input"], json!({}));
    assert_eq!(messages[2]["content"][0]["tool_use_id"], "t1");
    assert_eq!(messages[2]["content"][1]["is_error"], true);
    assert_eq!(
        (messages[3]["content"].as_str(), messages.as_array().unwrap().len()),
        (Some("Again."), 4)
    );
}

#[test]
fn what_the_provider_wrote_goes_back_byte_for_byte() {
    let content = r#"[{"type":"thinking","thinking":"…","signature":"sig=="},{"type":"tool_use","id":"t1","name":"math_add","input":{"b": 1.0, "a":2}}]"#;
    let answer = read(&message(content, "tool_use")).unwrap();
    assert_eq!(answer.calls[0].name, "math.add");
    assert_eq!(answer.calls[0].arguments, r#"{"b": 1.0, "a":2}"#);
    let verbatim = answer.verbatim.unwrap();
    assert_eq!(verbatim.of("anthropic"), Some(content));
    let part = Part::Model {
        text: "",
        calls: Cow::Borrowed(&answer.calls),
        verbatim: Some(verbatim.text()),
    };
    let (listing, full) = (listing(), MediaSupport::Full);
    let turn = turn(part, (full, true), &listing, &Present::of(listing.tools())).unwrap();
    let turn = serde_json::to_string(&turn).unwrap();
    assert_eq!(turn, format!(r#"{{"role":"assistant","content":{content}}}"#));
}

#[test]
fn calls_of_one_id_get_ids_of_their_own_in_the_next_request() {
    let body = written(&[
        Message::assistant("", [call("t1", "{}"), call("t1", "{}")]),
        Message::tool_results([
            (call("t1", ""), Answer::from(Output::text("3"))),
            (call("t1", ""), Answer::from(ToolError::new("repeated_call_id", "…"))),
        ]),
    ]);
    let ids = |message: usize, key: &str| {
        let content = body["messages"][message]["content"].as_array().unwrap();
        content.iter().map(|it| it[key].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(0, "id"), ["call_0_0", "call_0_1"]);
    assert_eq!(ids(1, "tool_use_id"), ids(0, "id"));
}

/// The API refuses blank texts, and wants the thinking back all the same.
#[test]
fn a_blank_text_does_not_go_back_and_what_is_beside_it_does() {
    let thinking = r#"{"type":"thinking","thinking":"…","signature":"sig=="}"#;
    let call = r#"{"type":"tool_use","id":"t1","name":"math_add","input":{"b": 1.0}}"#;
    let blank = r#"{"type":"text","text":"\n\n"}"#;
    let answer = read(&message(&format!("[{thinking},{blank},{call}]"), "tool_use")).unwrap();
    let verbatim = answer.verbatim.unwrap();
    assert_eq!(verbatim.of("anthropic"), Some(&*format!("[{thinking},{call}]")));
    assert!(read(&message(&format!("[{blank}]"), "end_turn")).unwrap().verbatim.is_none());
}

/// What did not become whole would be refused in every later request.
#[test]
fn of_an_answer_that_was_cut_goes_back_what_is_whole() {
    let text = r#"{"type":"text","text":"I search."}"#;
    let search = |id: &str, input: &str| {
        format!(r#"{{"type":"server_tool_use","id":"{id}","name":"web_search","input":{input}}}"#)
    };
    let result = r#"{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}"#;
    let cut = r#"{"type":"thinking","thinking":"Hm","signature":""}"#;
    let (whole, broken) = (search("s1", "{}"), search("s2", r#""{\"que""#));
    let content = format!("[{text},{whole},{result},{broken},{cut}]");
    let back = read(&message(&content, "max_tokens")).unwrap().verbatim.unwrap();
    assert_eq!(back.text(), format!("[{text},{whole},{result}]"));
    let paused = format!("[{}]", search("s3", "{}"));
    let back = read(&message(&paused, "pause_turn")).unwrap().verbatim.unwrap();
    assert_eq!(back.text(), paused, "the provider goes on with it");
}

/// With tokens to think, the API refuses calls of an open turn that have no thinking before them.
#[test]
fn a_turn_that_another_model_began_ends_without_thinking() {
    let (listing, answer) = (listing(), || Answer::from(Output::text("3")));
    let own = r#"[{"type":"thinking","thinking":"…","signature":"s"},{"type":"tool_use","id":"t1","name":"math_add","input":{}}]"#;
    let own = Message::assistant("", [call("t1", "{}")]).verbatim(Verbatim::new("anthropic", own));
    let foreign = Message::assistant("", [call("t2", "{}")]);
    let answered = |id: &str| Message::tool_results([(call(id, ""), answer())]);
    let user = || Message::user("Add.");
    let tokens = ModelSettings::new().reasoning(Reasoning::Tokens(2048));
    let effort = ModelSettings::new().reasoning(Reasoning::Effort(crate::model::Effort::Low));
    let thinks = |history: &[Message], settings: &ModelSettings| {
        let request = ModelRequest::new(history, &listing).settings(settings);
        body(&Api::Anthropic.asked("m", Some(4096)), &request).unwrap().contains("budget_tokens")
    };
    let began = [user(), foreign.clone(), answered("t2")];
    assert!(!thinks(&began, &tokens));
    assert!(!thinks(&[&began[..], &[own.clone(), answered("t1")]].concat(), &tokens));
    let over = [&began[..], &[Message::assistant("Three.", []), user()]].concat();
    assert!(thinks(&over, &tokens), "the turn is over");
    let left = Message::user("[Left for this task: 3 turns.]");
    let spoken = [&began[..], std::slice::from_ref(&left)].concat();
    assert!(!thinks(&spoken, &tokens), "it goes with the answers");
    let twice = [&began[..], &[user(), left.clone()]].concat();
    assert!(!thinks(&twice, &tokens), "both go with the answers");
    let went_on = [&began[..], &[left.clone(), own.clone(), answered("t1"), left]].concat();
    assert!(!thinks(&went_on, &tokens));
    assert!(thinks(&[user(), own.clone(), answered("t1")], &tokens));
    assert!(thinks(&[user(), own, answered("t1"), foreign, answered("t2")], &tokens));
    let request = ModelRequest::new(&began, &listing).settings(&effort);
    let text = body(&Api::Anthropic.asked("m", Some(4096)), &request).unwrap();
    assert!(text.contains("adaptive"), "with an effort nothing is refused");
}

#[test]
fn every_reason_to_stop_is_read() {
    let call = r#"[{"type":"text","text":"I add."},{"type":"tool_use","id":"t1","name":"math_add","input":{}}]"#;
    let text = r#"[{"type":"text","text":"One."},{"type":"text","text":"Two."}]"#;
    for (content, reason, stop, calls) in [
        (call, "tool_use", StopReason::Finished, 1),
        (call, "max_tokens", StopReason::CutInCall, 0),
        (call, "refusal", StopReason::Refused, 0),
        (text, "end_turn", StopReason::Finished, 0),
        (text, "max_tokens", StopReason::CutShort, 0),
        (text, "refusal", StopReason::Refused, 0),
        ("[]", "end_turn", StopReason::Finished, 0),
    ] {
        let answer = read(&message(content, reason)).unwrap();
        assert_eq!((&answer.stop, answer.calls.len()), (&stop, calls), "{content} {reason}");
        let is_whole = matches!(stop, StopReason::Finished | StopReason::CutShort);
        assert_eq!(answer.verbatim.is_some(), is_whole, "{content} {reason}");
        assert_eq!(answer.usage, Some(Usage::new(7, 3).cached(2)));
    }
    assert_eq!(read(&message(text, "end_turn")).unwrap().text, "One.Two.");
    let details = r#""cache_creation_input_tokens":9,"cache_creation":{"ephemeral_5m_input_tokens":4,"ephemeral_1h_input_tokens":5},"output_tokens_details":{"thinking_tokens":1},"output_tokens""#;
    let detailed = message(text, "end_turn").replace(r#""output_tokens""#, details);
    let usage = Usage::new(16, 3).cached(2).cache_write(9).long_cache_write(5).reasoning(1);
    assert_eq!(read(&detailed).unwrap().usage, Some(usage));
}

/// Each part of a sentence with citations of its own is a block.
#[test]
fn adjacent_texts_are_one_and_texts_around_another_block_are_two() {
    let search = r#"{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}"#;
    let content = format!(
        r#"[{{"type":"text","text":"I look."}},{search},{{"type":"text","text":"Shannon was born in "}},{{"type":"text","text":"1916","citations":[]}},{{"type":"text","text":"."}}]"#
    );
    let answer = read(&message(&content, "end_turn")).unwrap();
    assert_eq!(answer.text, "I look.\n\nShannon was born in 1916.");
}

#[test]
fn a_response_that_is_no_message_is_refused_with_what_it_is() {
    for (text, why) in [
        ("<html>", "the message is not JSON"),
        ("", "the message is not JSON"),
        (
            r#"{"choices":[{"message":{"role":"assistant","content":"Hi"}}]}"#,
            "found one of openai-chat",
        ),
        (
            r#"{"type":"error","error":{"type":"api_error","message":"no"}}"#,
            "found an object with the keys error, type",
        ),
        (
            r#"{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"t"}],"stop_reason":"tool_use"}"#,
            "/content/0/input",
        ),
    ] {
        let fault = read(text).unwrap_err();
        assert_eq!((fault.kind, fault.class), ("invalid_response", toolwright::ErrorClass::Final));
        assert!(fault.message.contains("expected an Anthropic message"), "{}", fault.message);
        assert!(fault.message.contains(why), "{}", fault.message);
    }
}
