//! Messages whose model was stopped while it wrote a call, and pieces of messages: refused, never taken for whole.

use super::super::{MessageError, Provider};
use super::reading::{ANTHROPIC_CALL, CHAT_CALL, GEMINI_CALL, RESPONSES_CALL, ping, refusal};

#[test]
fn a_call_that_was_cut_short_is_refused_but_text_after_the_calls_may_be() {
    let chat = format!(
        r#"{{"choices":[{{"message":{{"tool_calls":[{CHAT_CALL}]}},"finish_reason":"length"}}]}}"#
    );
    let anthropic =
        format!(r#"{{"type":"message","content":[{ANTHROPIC_CALL}],"stop_reason":"max_tokens"}}"#);
    let responses =
        format!("[{}]", RESPONSES_CALL.replace(r#""id":"fc1""#, r#""status":"incomplete""#));
    let gemini = format!(
        r#"{{"candidates":[{{"content":{{"parts":[{GEMINI_CALL}]}},"finishReason":"MAX_TOKENS"}}]}}"#
    );
    let malformed = r#"{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}"#;
    for (provider, message, pointer) in [
        (Provider::OpenAiChat, chat.as_str(), "/choices/0/message/tool_calls/0"),
        (Provider::Anthropic, &anthropic, "/content/0"),
        (Provider::OpenAiResponses, &responses, "/0"),
        (Provider::Gemini, &gemini, "/candidates/0/content/parts/0"),
        (Provider::Gemini, malformed, "/candidates/0/finishReason"),
    ] {
        let error = refusal(provider, message);
        assert!(error.contains(&format!("at {pointer}: the call is incomplete")), "{error}");
    }
    let text_last = anthropic
        .replace(ANTHROPIC_CALL, &format!(r#"{ANTHROPIC_CALL},{{"type":"text","text":"a"}}"#));
    assert_eq!(Provider::Anthropic.tool_calls(&text_last).unwrap(), ping());
}

#[test]
fn each_reason_to_stop_says_whether_the_last_call_is_whole() {
    let anthropic = |reason: &str| {
        format!(r#"{{"type":"message","content":[{ANTHROPIC_CALL}],"stop_reason":"{reason}"}}"#)
    };
    let chat = |reason: &str| {
        let message = format!(r#"{{"tool_calls":[{CHAT_CALL}]}}"#);
        format!(r#"{{"choices":[{{"message":{message},"finish_reason":"{reason}"}}]}}"#)
    };
    let responses = |reason: &str| {
        let status = format!(r#""status":"{reason}""#);
        format!("[{}]", RESPONSES_CALL.replace(r#""id":"fc1""#, &status))
    };
    let gemini = |reason: &str| {
        let content = format!(r#"{{"parts":[{GEMINI_CALL}]}}"#);
        format!(r#"{{"candidates":[{{"content":{content},"finishReason":"{reason}"}}]}}"#)
    };
    type Message<'a> = &'a dyn Fn(&str) -> String;
    let reasons: [(Provider, Message<'_>, &[&str], &[&str]); 4] = [
        (
            Provider::Anthropic,
            &anthropic,
            &["max_tokens", "model_context_window_exceeded", "refusal"],
            &["tool_use", "end_turn", "stop_sequence", "pause_turn"],
        ),
        (
            Provider::OpenAiChat,
            &chat,
            &["length", "content_filter", "model_length", "insufficient_system_resource", "error"],
            &["tool_calls", "stop", "function_call"],
        ),
        (Provider::OpenAiResponses, &responses, &["incomplete", "in_progress"], &["completed"]),
        (
            Provider::Gemini,
            &gemini,
            &["MAX_TOKENS", "MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE"],
            &["STOP", "FINISH_REASON_UNSPECIFIED"],
        ),
    ];
    for (provider, message, cut_short, whole) in reasons {
        for reason in cut_short {
            let error = provider.tool_calls(&message(reason)).unwrap_err();
            assert!(
                matches!(&error, MessageError::CutShort { reason: told, .. } if told == reason),
                "{provider} {reason}: {error}"
            );
        }
        for reason in whole {
            let calls = provider.tool_calls(&message(reason)).unwrap();
            assert_eq!(calls, ping(), "{provider} {reason}");
        }
    }
}

/// Arguments that have not begun look like those of a call without any.
#[test]
fn after_a_reason_of_a_server_that_is_not_known_a_call_counts_if_its_arguments_are_whole() {
    let message = |arguments: &str| {
        let function = format!(r#"{{"name":"ping","arguments":"{arguments}"}}"#);
        let call = format!(r#"{{"id":"a","type":"function","function":{function}}}"#);
        format!(
            r#"{{"choices":[{{"message":{{"tool_calls":[{call}]}},"finish_reason":"server_gone"}}]}}"#
        )
    };
    for cut in ["", "{", r#"{\"a\":"#] {
        let error = refusal(Provider::OpenAiChat, &message(cut));
        assert!(error.contains("the model stopped with `server_gone`"), "{error}");
    }
    assert_eq!(Provider::OpenAiChat.tool_calls(&message("{}")).unwrap().len(), 1);
}

#[test]
fn a_piece_of_a_call_or_a_list_of_messages_is_not_read_as_a_message_without_calls() {
    for (message, expected) in [
        (
            r#"[{"functionCall":{"name":"ping","partialArgs":[{"jsonPath":"$.n"}]}}]"#,
            "gemini message at /0/functionCall/partialArgs: expected a whole call, not a piece of a stream, \
             found an array",
        ),
        (
            r#"[{"text":"a"},{"parts":[{"functionCall":{"name":"ping"}}]}]"#,
            "gemini message at /1: expected a part, found an object with the key parts",
        ),
        (
            r#"[{"text":"a"},{"candidates":[]}]"#,
            "gemini message at /1: expected a part, found an object with the key candidates",
        ),
    ] {
        assert_eq!(refusal(Provider::Gemini, message), expected);
    }
}
