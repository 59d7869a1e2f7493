//! What comes seldom: empty deltas, calls that grow by turns, events without a meaning, tools that the provider runs.

use super::*;

#[test]
fn empty_deltas_are_no_events() {
    let anthropic = |delta: &str| {
        format!(
            "data: {{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{{\"type\":{delta}}}}}\n\n"
        )
    };
    let chat =
        |delta: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{{delta}}}}}]}}\n\n");
    let responses = |kind: &str| {
        format!("data: {{\"type\":\"response.{kind}\",\"output_index\":1,\"delta\":\"\"}}\n\n")
    };
    let gemini = |content: &str| format!("data: {{\"candidates\":[{{{content}}}]}}\n\n");
    for (provider, stream, before, empty) in [
        (
            Provider::Anthropic,
            ANTHROPIC,
            "data: {\"type\":\"content_block_stop\",\"index\":1}",
            anthropic(r#""text_delta","text":"""#)
                + &anthropic(r#""input_json_delta","partial_json":"""#),
        ),
        (
            Provider::OpenAiChat,
            CHAT,
            "data: {\"choices\":[{\"index\":0,\"delta\":{},",
            chat(r#""content":"","refusal":"","reasoning_content":"""#)
                + &chat(r#""tool_calls":[]"#)
                + &chat(r#""tool_calls":[{"index":1,"function":{"arguments":""}}]"#)
                + &chat(r#""content":null,"tool_calls":null"#),
        ),
        (
            Provider::OpenAiResponses,
            RESPONSES,
            "data: {\"type\":\"response.output_item.done\",\"output_index\":1",
            responses("output_text.delta")
                + &responses("function_call_arguments.delta")
                + &responses("reasoning_text.delta"),
        ),
        (
            Provider::Gemini,
            GEMINI,
            "data: {\"candidates\":[{\"content\":{\"role\":\"model\"},\"finishReason\"",
            gemini("")
                + &gemini(r#""content":{"parts":[]}"#)
                + &gemini(r#""content":{"parts":[{"text":""}]}"#),
        ),
    ] {
        let (expected, _) = read(provider, [stream.as_bytes()]);
        let with_empty = stream.replacen(before, &format!("{empty}{before}"), 1);
        assert!(with_empty.len() > stream.len(), "{provider}");
        let (events, message) = read(provider, [with_empty.as_bytes()]);
        assert_eq!(events, expected, "{provider}");
        assert_eq!(provider.tool_calls(&message.unwrap()).unwrap(), self::expected(), "{provider}");
    }
}

#[test]
fn what_a_server_has_compacted_is_a_block_of_the_whole_message() {
    let stream = |block: &str, deltas: &str| {
        format!(
            "data: {{\"type\":\"message_start\",\"message\":{{\"role\":\"assistant\"}}}}\n\n\
             data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{block}}}\n\n{deltas}\
             data: {{\"type\":\"content_block_stop\",\"index\":0}}\n\n\
             data: {{\"type\":\"message_stop\"}}\n\n"
        )
    };
    let delta = |content: &str| {
        format!(
            "data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"compaction_delta\",\"content\":{content}}}}}\n\n"
        )
    };
    for (block, deltas, expected) in [
        (
            r#"{"type":"compaction","content":""}"#,
            delta("\"It was \\\"sunny\\\".\""),
            r#""It was \"sunny\".""#,
        ),
        (r#"{"type":"compaction"}"#, delta("\"a\"") + &delta("\"b\""), r#""ab""#),
        (r#"{"type":"compaction","content":null}"#, delta("null"), "null"),
        (r#"{"type":"compaction","content":null}"#, String::new(), "null"),
        (
            r#"{"type":"compaction","content":""}"#,
            delta("\"a\",\"encrypted_content\":\"e\""),
            r#""a""#,
        ),
    ] {
        let (events, message) = read(Provider::Anthropic, [stream(block, &deltas).as_bytes()]);
        assert_eq!(events, [], "{block}");
        let message: serde_json::Value = serde_json::from_str(&message.unwrap()).unwrap();
        let expected: serde_json::Value = serde_json::from_str(expected).unwrap();
        let mut block = message["content"][0].clone();
        let encrypted = deltas.contains("encrypted_content").then(|| serde_json::json!("e"));
        assert_eq!(block.as_object_mut().unwrap().remove("encrypted_content"), encrypted);
        assert_eq!(block, serde_json::json!({"type": "compaction", "content": expected}));
    }
}

/// Anthropic's and Chat's streams above have calls that grow by turns, and Gemini's calls come whole.
#[test]
fn calls_of_the_responses_api_that_grow_by_turns_are_each_whole() {
    let item = |event: &str, index: usize, arguments: &str| {
        format!(
            r#"data: {{"type":"response.output_item.{event}","output_index":{index},"item":{{"type":"function_call","call_id":"c{index}","name":"f{index}","arguments":"{arguments}"}}}}"#
        ) + "\n\n"
    };
    let delta = |index: usize, delta: &str| {
        format!(
            r#"data: {{"type":"response.function_call_arguments.delta","output_index":{index},"delta":"{delta}"}}"#
        ) + "\n\n"
    };
    let call = |index: usize, arguments: &str| {
        format!(
            r#"{{"type":"function_call","call_id":"c{index}","name":"f{index}","arguments":"{arguments}"}}"#
        )
    };
    let (one, two) = (r#"{\"a\":1}"#, r#"{\"b\":2}"#);
    let stream = [
        item("added", 0, ""),
        item("added", 1, ""),
        delta(1, r#"{\"b\""#),
        delta(0, r#"{\"a\""#),
        delta(1, ":2}"),
        delta(0, ":1}"),
        item("done", 1, two),
        item("done", 0, one),
        format!(
            r#"data: {{"type":"response.completed","response":{{"object":"response","status":"completed","output":[{},{}]}}}}"#,
            call(0, one),
            call(1, two)
        ) + "\n\n",
    ]
    .concat();
    let (events, message) = read(Provider::OpenAiResponses, [stream.as_bytes()]);
    let calls = Provider::OpenAiResponses.tool_calls(&message.unwrap()).unwrap();
    assert_eq!(calls.len(), 2);
    let mut grown = [String::new(), String::new()];
    let mut whole = Vec::new();
    for event in events {
        match event {
            StreamEvent::Arguments { index, delta } => grown[index].push_str(&delta),
            StreamEvent::Call { index, call } => {
                assert_eq!((&call, &grown[index]), (&calls[index], &call.arguments));
                whole.push(index);
            }
            _ => {}
        }
    }
    assert_eq!(whole, [1, 0]);
}

/// The two providers whose events have no kind.
#[test]
fn an_event_without_anything_known_is_skipped_and_reported() {
    for (provider, stream, data, kind) in [
        (Provider::OpenAiChat, CHAT, r#"{"object":"sparkle","sparkles":3}"#, "sparkle"),
        (Provider::OpenAiChat, CHAT, r#"{"sparkles":3}"#, "a chunk without choices"),
        (Provider::Gemini, GEMINI, r#"{"sparkles":3}"#, "a chunk without candidates"),
        (
            Provider::Gemini,
            GEMINI,
            r#"{"candidates":[{"content":{"parts":[{"sparkle":{"size":3}}]}}]}"#,
            "sparkle",
        ),
    ] {
        let ended = stream.find("\n\n").unwrap() + 2;
        let (before, after) = stream.split_at(ended);
        let stream = format!("{before}data: {data}\n\n{after}");
        let (events, message) = read(provider, [stream.as_bytes()]);
        let unknown = StreamEvent::Unknown { kind: kind.into() };
        assert_eq!(events.iter().filter(|it| **it == unknown).count(), 1, "{provider} {events:?}");
        assert_eq!(provider.tool_calls(&message.unwrap()).unwrap(), expected(), "{provider}");
    }
}

/// What it took is not known then; the answer is one all the same.
#[test]
fn a_usage_of_another_form_does_not_damage_an_answer() {
    for (provider, stream, usage) in [
        (Provider::Anthropic, ANTHROPIC, r#""usage":{"output_tokens":9}"#),
        (Provider::OpenAiChat, CHAT, r#""usage":{"prompt_tokens":5,"completion_tokens":9}"#),
        (
            Provider::Gemini,
            GEMINI,
            r#""usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":9}"#,
        ),
    ] {
        let key = usage.split_once(':').unwrap().0;
        for other in [r#""much""#, "-3", "[1]", "{}"] {
            let stream = stream.replace(usage, &format!("{key}:{other}"));
            let (_, message) = read(provider, [stream.as_bytes()]);
            let message = message.unwrap_or_else(|error| panic!("{provider} {other}: {error}"));
            assert_eq!(provider.tool_calls(&message).unwrap(), expected(), "{provider} {other}");
        }
    }
}

/// Nobody here runs it, but who listens can say what takes its time.
#[test]
fn a_tool_that_the_provider_runs_is_reported_by_its_name() {
    let block = r#"data: {"type":"content_block_start","index":1,"content_block":{"type":"text","#;
    let server = r#"data: {"type":"content_block_start","index":9,"content_block":{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}}

data: {"type":"content_block_delta","index":9,"delta":{"type":"input_json_delta","partial_json":"{}"}}

data: {"type":"content_block_stop","index":9}

"#;
    let anthropic = ANTHROPIC.replace(block, &format!("{server}{block}"));
    let item = r#"data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}

"#;
    let search = r#"data: {"type":"response.output_item.added","output_index":0,"item":{"type":"web_search_call","id":"ws_1"}}

"#;
    let responses = RESPONSES.replace(item, &format!("{search}{item}"));
    let code = r#"data: {"candidates":[{"content":{"parts":[{"executableCode":{"language":"PYTHON","code":"1"}}]}}]}

"#;
    for (provider, stream, expected) in [
        (Provider::Anthropic, anthropic, "web_search"),
        (Provider::OpenAiResponses, responses, "web_search"),
        (Provider::Gemini, format!("{code}{GEMINI}"), "code_execution"),
    ] {
        let (events, message) = read(provider, [stream.as_bytes()]);
        assert_eq!(provider.tool_calls(&message.unwrap()).unwrap(), self::expected(), "{provider}");
        let names: Vec<&str> = events
            .iter()
            .filter_map(|event| match event {
                StreamEvent::ProviderTool { name } => Some(name.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(names, [expected], "{provider}");
        let begun = events.iter().filter(|it| matches!(it, StreamEvent::CallBegan { .. }));
        assert_eq!(begun.count(), 2, "{provider}");
    }
}

/// Some servers send the whole response with an empty output.
#[test]
fn a_response_without_output_has_the_items_that_came() {
    let at = RESPONSES.find("\"type\":\"response.completed\"").unwrap();
    let (before, last) = RESPONSES.split_at(at);
    let begin = last.find("\"output\":[").unwrap();
    let head = &last[..begin];
    let stream = format!("{before}{head}\"output\":[]}}}}\n\n");
    let (events, message) = read(Provider::OpenAiResponses, [stream.as_bytes()]);
    let message = message.unwrap();
    assert_eq!(Provider::OpenAiResponses.tool_calls(&message).unwrap(), expected(), "{message}");
    let calls = events.iter().filter(|event| matches!(event, StreamEvent::Call { .. })).count();
    assert_eq!(calls, expected().len());
}

#[test]
fn what_stands_beside_a_call_is_in_the_message() {
    let extra = "\"extra_content\":{\"google\":{\"thought_signature\":\"s==\"}}";
    let signed =
        CHAT.replacen("\"type\":\"function\"", &format!("\"type\":\"function\",{extra}"), 1);
    assert_ne!(signed, CHAT);
    let (_, message) = read(Provider::OpenAiChat, [signed.as_bytes()]);
    assert!(message.unwrap().contains(extra));
}

/// How many bytes came at once must not matter, and the client stops reading at the end.
#[test]
fn a_sign_of_life_or_another_mark_behind_the_end_changes_nothing() {
    for (provider, stream) in
        [(Provider::Anthropic, ANTHROPIC), (Provider::OpenAiResponses, RESPONSES)]
    {
        let (_, expected) = read(provider, [stream.as_bytes()]);
        let expected = expected.unwrap();
        for end in ["[DONE]", r#"{"type":"ping"}"#, r#"{"type":"keepalive","sequence_number":3}"#] {
            let stream = format!("{stream}data: {end}\n\n");
            for size in [1, stream.len()] {
                let (_, message) = read(provider, stream.as_bytes().chunks(size));
                assert_eq!(message.unwrap(), expected, "{provider} {end} {size}");
            }
        }
    }
}

/// LiteLLM and vLLM write their errors this way behind every API.
#[test]
fn an_error_without_a_type_is_one_of_the_provider() {
    let error = r#"{"error":{"message":"maximum context length","code":400}}"#;
    for (provider, stream) in ALL {
        let ended = stream.find("\n\n").unwrap() + 2;
        let stream = format!("{}data: {error}\n\n", &stream[..ended]);
        let (_, message) = read(provider, [stream.as_bytes()]);
        let Err(StreamError::Provider { body }) = message else { panic!("{provider} {message:?}") };
        assert_eq!(body, error, "{provider}");
    }
    for damaged in ["{}", r#"{"error":null}"#] {
        for provider in [Provider::Anthropic, Provider::OpenAiResponses] {
            let (_, message) = read(provider, [format!("data: {damaged}\n\n").as_bytes()]);
            assert!(matches!(message, Err(StreamError::NotJson(_))), "{provider} {message:?}");
        }
    }
}

/// vLLM makes up an id for each of them.
#[test]
fn a_response_that_gives_a_call_another_id_than_the_stream_has_the_one_of_the_stream() {
    let (before, last) = RESPONSES.split_at(RESPONSES.rfind("data: ").unwrap());
    let item = r#"data: {"type":"response.output_item.done","output_index":0,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]}}"#;
    let last = last.replace("\"c1\"", "\"c9\"");
    let stream = format!("{before}{item}\n\n{last}");
    let (events, message) = read(Provider::OpenAiResponses, [stream.as_bytes()]);
    let message = message.unwrap();
    assert_eq!(Provider::OpenAiResponses.tool_calls(&message).unwrap(), expected(), "{message}");
    assert!(message.contains("I look."), "{message}");
    let calls = events.iter().filter(|event| matches!(event, StreamEvent::Call { .. })).count();
    assert_eq!(calls, expected().len());
    // An item that did not come by itself would be lost, so the two contradict each other.
    let (_, message) = read(Provider::OpenAiResponses, [format!("{before}{last}").as_bytes()]);
    assert!(matches!(message, Err(StreamError::Order { .. })), "{message:?}");
}

/// Gemini's older models, and gateways that translate.
#[test]
fn text_behind_the_reason_to_finish_of_gemini_is_a_part_of_the_answer() {
    let chunk = |parts: &str, reason: &str| {
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{parts}]}},\"finishReason\":\"{reason}\"}}]}}\n\n"
        )
    };
    let stream = chunk("", "STOP")
        + &chunk(r#"{"text":"One "}"#, "STOP")
        + &chunk(r#"{"text":"two"}"#, "MAX_TOKENS");
    let (events, message) = read(Provider::Gemini, [stream.as_bytes()]);
    let text = |text: &str| StreamEvent::Text(text.into());
    assert_eq!(events, [text("One "), text("two")]);
    assert!(message.unwrap().contains(r#""finishReason":"MAX_TOKENS""#));
    let stream = chunk("", "SAFETY") + &chunk(r#"{"text":"One"}"#, "STOP");
    let (_, message) = read(Provider::Gemini, [stream.as_bytes()]);
    assert!(matches!(message, Err(StreamError::Order { .. })), "{message:?}");
}

/// What surrounds a letter may have hundreds of bytes.
#[test]
fn the_size_of_a_stream_is_that_of_its_answer() {
    for (provider, stream) in ALL {
        let mut reader = provider.stream();
        let mut sizes = vec![0];
        for byte in stream.as_bytes().chunks(1) {
            reader.push(byte).unwrap();
            sizes.push(reader.size());
        }
        let (events, _) = read(provider, [stream.as_bytes()]);
        let texts = events.iter().map(StreamEvent::length).sum::<usize>();
        let size = *sizes.last().unwrap();
        assert!(texts < size && size < stream.len(), "{provider} {texts} {size}");
        // An event that is not complete counts as well.
        assert!(sizes.iter().any(|it| *it > size), "{provider}");
    }
    let piece = chunk_of("a", &"x".repeat(400));
    let mut reader = Provider::OpenAiChat.stream();
    for count in 1..9 {
        reader.push(piece.as_bytes()).unwrap();
        assert_eq!(reader.size(), count);
    }
}

fn chunk_of(text: &str, beside: &str) -> String {
    format!(
        "data: {{\"id\":\"{beside}\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n"
    )
}
