//! Streams of every provider: cut anywhere, broken off anywhere, and out of order.

mod quirks;
mod recorded;
mod unusual;

use super::*;

/// Text, two calls and usage; white space and a large number in the arguments, a character of four bytes in the text.
const ANTHROPIC: &str = r#"event: message_start
data: {"type":"message_start","message":{"type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":5,"output_tokens":1}}}

event: ping
data: {"type":"ping"}

data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s=="}}

data: {"type":"content_block_stop","index":0}

data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"I loo"}}

data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"k 🔎."}}

data: {"type":"content_block_stop","index":1}

data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"c1","name":"f","input":{}}}

data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"c2","name":"g","input":{}}}

data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"n\": 90071"}}

data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}

data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"99254740993}"}}

data: {"type":"content_block_stop","index":3}

data: {"type":"content_block_stop","index":2}

data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}}

data: {"type":"message_stop"}

"#;

const CHAT: &str = r#"data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}

data: {"choices":[{"index":0,"delta":{"content":"I loo"},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"content":"k 🔎."},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"g","arguments":"{"}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"n\": 9007199254740993}"}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":9}}

data: [DONE]

"#;

const RESPONSES: &str = r#"event: response.created
data: {"type":"response.created","response":{"object":"response","status":"in_progress","output":[]}}

data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}

data: {"type":"response.output_text.delta","output_index":0,"delta":"I loo"}

data: {"type":"response.output_text.delta","output_index":0,"delta":"k 🔎."}

data: {"type":"response.output_text.done","output_index":0,"text":"I look 🔎."}

data: {"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"c1","name":"f","arguments":"","status":"in_progress"}}

data: {"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"n\": 9007199254740993}"}

data: {"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"n\": 9007199254740993}","status":"completed"}}

data: {"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"c2","name":"g","arguments":"{}","status":"completed"}}

data: {"type":"response.completed","response":{"object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look 🔎."}]},{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"n\": 9007199254740993}","status":"completed"},{"type":"function_call","call_id":"c2","name":"g","arguments":"{}","status":"completed"}]}}

"#;

const GEMINI: &str = r#"data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hm.","thought":true}]}}]}

data: {"candidates":[{"content":{"role":"model","parts":[{"text":"I loo"}]}}]}

data: {"candidates":[{"content":{"role":"model","parts":[{"text":"k 🔎."}]}}]}

data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"f","args":{"n": 9007199254740993}},"thoughtSignature":"s=="},{"functionCall":{"id":"c2","name":"g","args":{}}}]}}]}

data: {"candidates":[{"content":{"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":9}}

"#;

const ALL: [(Provider, &str); 4] = [
    (Provider::Anthropic, ANTHROPIC),
    (Provider::OpenAiChat, CHAT),
    (Provider::OpenAiResponses, RESPONSES),
    (Provider::Gemini, GEMINI),
];

type Read = (Vec<StreamEvent>, Result<String, StreamError>);

fn read<'a>(provider: Provider, pieces: impl IntoIterator<Item = &'a [u8]>) -> Read {
    let (mut stream, mut events) = (provider.stream(), Vec::new());
    for piece in pieces {
        match stream.push(piece) {
            Ok(more) => events.extend(more),
            Err(error) => return (events, Err(error)),
        }
    }
    (events, stream.finish())
}

fn expected() -> Vec<ToolCall> {
    let call = |id: &str, name: &str, arguments: &str| ToolCall {
        id: Some(id.into()),
        name: name.into(),
        arguments: arguments.into(),
    };
    vec![call("c1", "f", r#"{"n": 9007199254740993}"#), call("c2", "g", "{}")]
}

#[test]
fn a_stream_gives_its_text_its_calls_and_the_message_byte_for_byte() {
    for (provider, stream) in ALL {
        let (events, message) = read(provider, [stream.as_bytes()]);
        let message = message.unwrap();
        assert_eq!(provider.tool_calls(&message).unwrap(), expected(), "{provider} {message}");
        let text: String = events
            .iter()
            .filter_map(|event| match event {
                StreamEvent::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(text, "I look 🔎.", "{provider}");
        let mut calls: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                StreamEvent::Call { call, .. } => Some(call.clone()),
                _ => None,
            })
            .collect();
        calls.sort_by(|one, other| one.id.cmp(&other.id));
        assert_eq!(calls, expected(), "{provider}");
        let unknown = events.iter().any(|event| matches!(event, StreamEvent::Unknown { .. }));
        assert!(!unknown, "{provider} {events:?}");
    }
    let (_, message) = read(Provider::Anthropic, [ANTHROPIC.as_bytes()]);
    let message: serde_json::Value = serde_json::from_str(&message.unwrap()).unwrap();
    assert_eq!(message["content"][0]["signature"], "s==");
    assert_eq!(message["stop_reason"], "tool_use");
    assert_eq!(message["usage"], serde_json::json!({"input_tokens": 5, "output_tokens": 9}));
}

/// Each place is one between two bytes, also within a character and within a line end.
#[test]
fn the_pieces_do_not_matter() {
    for (provider, stream) in ALL {
        for stream in [stream.to_owned(), stream.replace('\n', "\r\n"), stream.replace('\n', "\r")]
        {
            let bytes = stream.as_bytes();
            let (whole, message) = read(provider, [bytes]);
            let message = message.unwrap();
            for place in 0..=bytes.len() {
                let (events, other) = read(provider, [&bytes[..place], &bytes[place..]]);
                assert_eq!((&events, &other.unwrap()), (&whole, &message), "{provider} {place}");
            }
            let (events, other) = read(provider, bytes.chunks(1));
            assert_eq!((events, other.unwrap()), (whole, message), "{provider}");
        }
    }
}

#[test]
fn a_stream_that_breaks_off_anywhere_is_no_whole_answer_and_has_what_was_complete() {
    for (provider, stream) in ALL {
        let bytes = stream.as_bytes();
        // The last byte is the line end that completes the last event.
        for place in 0..bytes.len() {
            let (events, message) = read(provider, [&bytes[..place]]);
            let calls = events.into_iter().filter_map(|event| match event {
                StreamEvent::Call { call, .. } => Some(call),
                _ => None,
            });
            match message {
                Err(StreamError::Cut { complete }) => {
                    assert_eq!(complete, calls.collect::<Vec<_>>(), "{provider} {place}");
                }
                // Behind the reason to finish only the usage is missing.
                Ok(message) if stream[..place].contains(r#""finish_reason":"tool_calls""#) => {
                    assert_eq!(provider.tool_calls(&message).unwrap(), expected());
                }
                other => panic!("{provider} {place}: {other:?}"),
            }
        }
    }
}

#[test]
fn an_event_that_contradicts_those_before_it_is_an_error() {
    let stopped = r#"data: {"type":"content_block_stop","index":2}

"#;
    let delta = r#"data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"1"}}

"#;
    let begun = r#"data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

"#;
    let late = r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1"}}]}}]}

"#;
    let early = r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c0","function":{"name":"e"}}]}}]}

"#;
    let more = r#"data: {"type":"response.function_call_arguments.delta","output_index":1,"delta":"1"}

"#;
    let done = "data: {\"type\":\"response.completed\"";
    let item = r#"data: {"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}}

"#;
    let part = r#"data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]}}]}

"#;
    for (provider, stream) in [
        // Arguments after their end.
        (Provider::Anthropic, ANTHROPIC.replace(stopped, &format!("{stopped}{delta}"))),
        (Provider::OpenAiChat, CHAT.replace("data: [DONE]", &format!("{late}data: [DONE]"))),
        (Provider::Gemini, format!("{GEMINI}{part}")),
        (Provider::OpenAiResponses, RESPONSES.replace(done, &format!("{more}{done}"))),
        // A call before one that began.
        (Provider::OpenAiChat, CHAT.replace("\"index\":0,\"id\"", "\"index\":2,\"id\"")),
        (Provider::OpenAiChat, early.replace("\"index\":0,\"id", "\"index\":1,\"id") + early),
        // Another call in the whole answer.
        (
            Provider::OpenAiResponses,
            RESPONSES.replacen(r#"54740993}","status""#, r#"54740992}","status""#, 1),
        ),
        // Twice.
        (Provider::OpenAiResponses, RESPONSES.replace(done, &format!("{item}{done}"))),
        (Provider::Anthropic, ANTHROPIC.replace(begun, &format!("{begun}{begun}"))),
        (Provider::Anthropic, format!("{ANTHROPIC}{ANTHROPIC}")),
        (Provider::OpenAiResponses, format!("{RESPONSES}{RESPONSES}")),
        (Provider::OpenAiChat, format!("{CHAT}{CHAT}")),
        // Without what has to come before.
        (Provider::Anthropic, ANTHROPIC.replace(begun, "")),
        (Provider::Anthropic, begun.to_owned()),
        (Provider::Anthropic, ANTHROPIC.replace(stopped, "")),
        (Provider::OpenAiChat, late.to_owned()),
        (Provider::OpenAiChat, "data: [DONE]\n\n".to_owned()),
    ] {
        let (_, message) = read(provider, [stream.as_bytes()]);
        assert!(matches!(message, Err(StreamError::Order { .. })), "{provider}: {message:?}");
    }
}

#[test]
fn an_unknown_event_is_skipped_and_reported() {
    for (provider, stream) in
        [(Provider::Anthropic, ANTHROPIC), (Provider::OpenAiResponses, RESPONSES)]
    {
        let ended = stream.trim_end().rfind("\n\n").unwrap() + 2;
        let (before, last) = stream.split_at(ended);
        // Its members may be of another form than those of the same name in known events.
        let others =
            r#","delta":[3],"index":"a","output_index":"b","usage":4,"item":5,"message":6"#;
        for members in ["", others] {
            let stream = format!("{before}data: {{\"type\":\"sparkle\"{members}}}\n\n{last}");
            let (events, message) = read(provider, [stream.as_bytes()]);
            let unknown = StreamEvent::Unknown { kind: "sparkle".into() };
            assert!(events.contains(&unknown), "{provider} {events:?}");
            assert_eq!(provider.tool_calls(&message.unwrap()).unwrap(), expected());
        }
    }
}

#[test]
fn a_server_that_imitates_the_chat_api_may_send_empty_reasons_and_its_own_name_for_reasoning() {
    for own in [
        r#""reasoning":"Hm.""#,
        r#""reasoning_content":"Hm.""#,
        r#""reasoning":"Hm.","reasoning_content":"Hm.""#,
        r#""reasoning":{"effort":"low"},"reasoning_content":"Hm.""#,
        r#""reasoning":"Hm.","reasoning_details":[{"index":0,"text":"Hm.","type":"reasoning.text"}]"#,
    ] {
        let imitated = CHAT.replace("\"finish_reason\":null", "\"finish_reason\":\"\"").replacen(
            "\"content\":\"\"",
            &format!("\"content\":\"\",{own}"),
            1,
        );
        let mut stream = Provider::OpenAiChat.stream();
        let events = stream.push(imitated.as_bytes()).unwrap();
        assert_eq!(events[0], StreamEvent::Reasoning("Hm.".to_owned()), "{own}");
        let message = stream.finish().unwrap();
        assert_eq!(Provider::OpenAiChat.tool_calls(&message).unwrap(), expected(), "{own}");
        let details = own.split_once(",\"reasoning_details\"").map_or("", |(_, details)| details);
        assert!(message.contains(details), "{message}");
    }
}

#[test]
fn an_error_of_the_provider_in_the_middle_ends_the_stream() {
    let error = "data: {\"type\":\"error\",\"error\":{\"message\":\"Overloaded\"}}\n\n";
    for (provider, _) in ALL {
        let (_, message) = read(provider, [error.as_bytes()]);
        assert!(matches!(message, Err(StreamError::Provider { .. })), "{provider}: {message:?}");
    }
}

/// Never as an empty object, which a tool could take for its input.
#[test]
fn arguments_that_are_no_json_are_never_taken_for_arguments() {
    let stream = ANTHROPIC.replace(r#""partial_json":"99254740993}""#, r#""partial_json":"}}""#);
    let (events, message) = read(Provider::Anthropic, [stream.as_bytes()]);
    let calls = events.iter().filter(|event| matches!(event, StreamEvent::Call { .. }));
    assert_eq!(calls.count(), 1, "the other call");
    assert!(Provider::Anthropic.tool_calls(&message.unwrap()).is_err());
}

/// So that a listener can say what is called, and start what is safe to start, before the answer is whole.
#[test]
fn a_call_begins_with_its_name_grows_and_ends_at_one_place() {
    for (provider, stream) in ALL {
        let (events, message) = read(provider, [stream.as_bytes()]);
        let calls = provider.tool_calls(&message.unwrap()).unwrap();
        let mut grown = vec![String::new(); calls.len()];
        let mut begun = Vec::new();
        for event in events {
            match event {
                StreamEvent::CallBegan { index, name } => {
                    assert_eq!(index, begun.len(), "{provider}");
                    begun.push(name);
                }
                StreamEvent::Arguments { index, delta } => grown[index].push_str(&delta),
                StreamEvent::Call { index, call } => assert_eq!(call, calls[index], "{provider}"),
                _ => {}
            }
        }
        assert_eq!(begun, ["f", "g"], "{provider}");
        let is_whole = provider == Provider::Gemini || grown[0] == calls[0].arguments;
        assert!(is_whole, "{provider} {grown:?}");
    }
}

/// Some servers send them without an item that begins.
#[test]
fn a_call_of_which_the_stream_had_no_begin_begins_where_it_is_whole() {
    let at = RESPONSES
        .find("data: {\"type\":\"response.output_item.added\",\"output_index\":1")
        .unwrap();
    let end = at + RESPONSES[at..].find("\n\n").unwrap() + 2;
    let stream = format!("{}{}", &RESPONSES[..at], &RESPONSES[end..]);
    let (events, message) = read(Provider::OpenAiResponses, [stream.as_bytes()]);
    assert_eq!(Provider::OpenAiResponses.tool_calls(&message.unwrap()).unwrap(), expected());
    let names = events.iter().filter_map(|event| match event {
        StreamEvent::CallBegan { index, name } => Some((*index, name.as_str())),
        _ => None,
    });
    assert_eq!(names.collect::<Vec<_>>(), [(0, "f"), (1, "g")]);
    let kind = "response.function_call_arguments.delta before its item".to_owned();
    assert!(events.contains(&StreamEvent::Unknown { kind }));
}

/// A number that no `f64` holds, and a key twice.
#[test]
fn an_input_that_comes_at_once_is_the_text_that_the_model_wrote() {
    let stream = ANTHROPIC.replace(
        r#""id":"c2","name":"g","input":{}"#,
        r#""id":"c2","name":"g","input":{"b": 90071992547409930001, "a":1, "b":2}"#,
    );
    let (_, message) = read(Provider::Anthropic, [stream.as_bytes()]);
    let calls = Provider::Anthropic.tool_calls(&message.unwrap()).unwrap();
    assert_eq!(calls[1].arguments, r#"{"b": 90071992547409930001, "a":1, "b":2}"#);
}
