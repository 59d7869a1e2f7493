//! Servers that imitate the chat API: each writes its streams a little otherwise, and what is readable is read.

use super::*;

/// A chunk with this delta, and the chunk with the reason to finish.
fn chunk(delta: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{{delta}}}}}]}}\n\n")
}

fn called(calls: &str) -> String {
    chunk(&format!(r#""tool_calls":[{calls}]"#))
}

const FINISHED: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n";
const DONE: &str = "data: [DONE]\n\n";

/// The calls of an answer: id, name, arguments.
fn calls(stream: &str) -> Vec<(Option<String>, String, String)> {
    let (events, message) = read(Provider::OpenAiChat, [stream.as_bytes()]);
    let calls = Provider::OpenAiChat.tool_calls(&message.unwrap()).unwrap();
    let whole = events.into_iter().filter_map(|event| match event {
        StreamEvent::Call { call, .. } => Some(call),
        _ => None,
    });
    assert_eq!(whole.collect::<Vec<_>>(), calls, "the events are the message");
    calls.into_iter().map(|call| (call.id, call.name, call.arguments)).collect()
}

fn call(id: &str, name: &str, arguments: &str) -> (Option<String>, String, String) {
    (Some(id.to_owned()).filter(|id| !id.is_empty()), name.to_owned(), arguments.to_owned())
}

#[test]
fn calls_with_one_index_and_ids_of_their_own_are_calls_of_their_own() {
    // Ollama, and Gemini's endpoint of this API: every call whole, at index 0.
    let stream = called(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\":1}"}}"#)
        + &called(r#"{"index":0,"id":"b","function":{"name":"f","arguments":"{\"n\":2}"}}"#)
        + &called(r#"{"index":0,"id":"c","function":{"name":"g","arguments":""}}"#)
        + &called(r#"{"index":0,"function":{"arguments":"{}"}}"#)
        + FINISHED
        + DONE;
    let expected = [call("a", "f", "{\"n\":1}"), call("b", "f", "{\"n\":2}"), call("c", "g", "{}")];
    assert_eq!(calls(&stream), expected);
}

#[test]
fn calls_without_ids_begin_by_their_names_and_come_once() {
    for id in ["", r#""id":"","#, r#""id":null,"#] {
        let one = |name: &str, n: u8| {
            let function = format!(r#""function":{{"name":"{name}","arguments":"{{\"n\":{n}}}"}}"#);
            called(&format!(r#"{{"index":0,{id}{function}}}"#))
        };
        let stream = one("f", 1) + &one("f", 2) + &one("f", 2) + &one("g", 2) + FINISHED + DONE;
        let expected =
            [call("", "f", "{\"n\":1}"), call("", "f", "{\"n\":2}"), call("", "g", "{\"n\":2}")];
        assert_eq!(calls(&stream), expected, "{id}");
    }
}

#[test]
fn a_name_that_comes_with_each_piece_begins_one_call() {
    let piece = |arguments: &str| {
        let function = format!(r#"{{"name":"f","arguments":"{arguments}"}}"#);
        called(&format!(r#"{{"index":0,"id":"a","function":{function}}}"#))
    };
    let stream = piece("{\\\"n\\\"") + &piece(":1}") + &piece("") + FINISHED + DONE;
    assert_eq!(calls(&stream), [call("a", "f", "{\"n\":1}")]);
    // The id with the first piece alone: what is behind the arguments is no second call.
    let piece = |id: &str, arguments: &str| {
        let function = format!(r#"{{"name":"f","arguments":"{arguments}"}}"#);
        called(&format!(r#"{{"index":0,{id}"function":{function}}}"#))
    };
    let stream = piece(r#""id":"a","#, "{}") + &piece("", "\\n") + FINISHED + DONE;
    assert_eq!(calls(&stream), [call("a", "f", "{}\n")]);
}

#[test]
fn arguments_that_are_an_object_are_those_of_their_call() {
    let one = |beside: &str, arguments: &str| {
        called(&format!(r#"{{{beside}"function":{{"name":"f","arguments":{arguments}}}}}"#))
    };
    let expected = [call("a", "f", "{\"n\": 1}"), call("b", "f", "{}")];
    for indices in [["0", "1"], ["0", "0"]] {
        let [a, b] = indices.map(|index| format!(r#""index":{index},"#));
        let stream = one(&(a + r#""id":"a","#), r#"{"n": 1}"#) + &one(&(b + r#""id":"b","#), "{}");
        assert_eq!(calls(&(stream + FINISHED + DONE)), expected, "{indices:?}");
    }
    // Behind a piece with the name and an empty text, and once more behind itself.
    let begun = one(r#""index":0,"id":"a","#, r#""""#);
    let object = called(r#"{"index":0,"function":{"arguments":{"n": 1}}}"#);
    let stream = begun + &object + &object + FINISHED + DONE;
    assert_eq!(calls(&stream), expected[..1]);
    // Whole calls without ids, under one index.
    let stream = one(r#""index":0,"#, r#"{"n": 1}"#) + &one(r#""index":0,"#, r#"{"n": 2}"#);
    let expected = [call("", "f", "{\"n\": 1}"), call("", "f", "{\"n\": 2}")];
    assert_eq!(calls(&(stream + FINISHED + DONE)), expected);
}

#[test]
fn an_object_that_is_no_whole_of_the_arguments_damages_the_answer() {
    let begun = |arguments: &str| {
        called(&format!(
            r#"{{"index":0,"id":"a","function":{{"name":"f","arguments":{arguments}}}}}"#
        ))
    };
    let more = called(r#"{"index":0,"function":{"arguments":{"n":2}}}"#);
    for first in [r#""{\"m\":1,""#, r#"{"n":1}"#] {
        let stream = begun(first) + &more;
        let (_, read) = read(Provider::OpenAiChat, [stream.as_bytes()]);
        let error = read.unwrap_err().to_string();
        assert!(error.contains("found an object as more of the arguments of call 0"), "{error}");
    }
    for other in ["7", "[1]", "true"] {
        let (_, read) = read(Provider::OpenAiChat, [begun(other).as_bytes()]);
        assert!(read.is_err(), "{other}");
    }
}

#[test]
fn an_answer_ends_by_its_reason_or_by_the_end_of_the_stream() {
    let one = called(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#);
    for end in [FINISHED, DONE] {
        assert_eq!(calls(&(one.clone() + end)), [call("a", "f", "{}")], "{end}");
    }
    // A call that is not whole was cut, and runs nothing.
    let cut = called(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}"#) + DONE;
    let (events, message) = read(Provider::OpenAiChat, [cut.as_bytes()]);
    assert!(!events.iter().any(|event| matches!(event, StreamEvent::Call { .. })), "{events:?}");
    assert!(Provider::OpenAiChat.tool_calls(&message.unwrap()).is_err());
}

#[test]
fn text_behind_the_reason_and_usage_behind_the_end_are_read() {
    let stop = FINISHED.replace("tool_calls", "stop");
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3}}\n\n";
    let stream = chunk(r#""content":"One ""#) + &stop + &chunk(r#""content":"two""#) + DONE + usage;
    let (_, message) = read(Provider::OpenAiChat, [stream.as_bytes()]);
    let message = message.unwrap();
    assert!(message.contains(r#""content":"One two""#), "{message}");
    assert!(message.contains(r#""usage":{"prompt_tokens":3}"#), "{message}");
}

/// The whole message refuses the call, so nothing may begin by it before.
#[test]
fn a_call_of_an_answer_that_broke_off_is_never_whole() {
    let begun = called(r#"{"index":0,"id":"a","function":{"name":"purge","arguments":""}}"#);
    for reason in [
        "length",
        "model_length",
        "model_context_window_exceeded",
        "content_filter",
        "error",
        "network_error",
        "insufficient_system_resource",
        "a_reason_of_tomorrow",
    ] {
        let stream = begun.clone() + &FINISHED.replace("tool_calls", reason) + DONE;
        let (events, message) = read(Provider::OpenAiChat, [stream.as_bytes()]);
        let whole = events.iter().any(|event| matches!(event, StreamEvent::Call { .. }));
        assert!(!whole, "{reason} {events:?}");
        assert!(Provider::OpenAiChat.tool_calls(&message.unwrap()).is_err(), "{reason}");
    }
}

#[test]
fn an_error_within_a_choice_ends_the_stream() {
    let error = r#""error":{"code":502,"message":"Provider returned error"}"#;
    let stream = FINISHED.replace("\"finish_reason\"", &format!("{error},\"finish_reason\""));
    let (_, message) = read(Provider::OpenAiChat, [stream.as_bytes()]);
    let Err(StreamError::Provider { body }) = message else { panic!("{message:?}") };
    assert_eq!(body, format!("{{{error}}}"));
}

/// Mistral's models that reason; its API refuses a history with the reasoning under another name.
#[test]
fn a_content_that_is_a_list_is_heard_as_reasoning_and_text() {
    let stream =
        chunk(r#""content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]}]"#)
            + &chunk(r#""content":[{"type":"reference","reference_ids":[1]}]"#)
            + &chunk(r#""content":[{"type":"text","text":"Done"}]"#)
            + &chunk(r#""content":".""#)
            + &FINISHED.replace("tool_calls", "stop")
            + DONE;
    let (events, message) = read(Provider::OpenAiChat, [stream.as_bytes()]);
    let text = |text: &str| StreamEvent::Text(text.into());
    assert_eq!(events, [StreamEvent::Reasoning("Hm".into()), text("Done"), text(".")]);
    let message = message.unwrap();
    assert!(message.contains(r#""content":"Done.""#) && !message.contains("Hm"), "{message}");
}

#[test]
fn a_call_with_the_largest_index_is_an_error_and_no_panic() {
    let begun = called(
        r#"{"index":18446744073709551615,"id":"a","function":{"name":"f","arguments":"{"}}"#,
    );
    let more = called(r#"{"index":0,"id":"b","function":{"name":"f","arguments":"{}"}}"#);
    let (_, message) = read(Provider::OpenAiChat, [(begun + &more).as_bytes()]);
    assert!(matches!(message, Err(StreamError::Order { .. })), "{message:?}");
}
