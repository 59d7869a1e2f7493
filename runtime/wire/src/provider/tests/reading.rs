//! Messages in: what is a call, what is passed over, what is refused.

use super::super::{MessageError, Provider, ToolCall};

pub(super) const CHAT_CALL: &str =
    r#"{"id":"c1","type":"function","function":{"name":"ping","arguments":"{\"n\":1}"}}"#;
pub(super) const RESPONSES_CALL: &str =
    r#"{"type":"function_call","id":"fc1","call_id":"c1","name":"ping","arguments":"{\"n\":1}"}"#;
pub(super) const ANTHROPIC_CALL: &str =
    r#"{"type":"tool_use","id":"c1","name":"ping","input":{"n":1}}"#;
pub(super) const GEMINI_CALL: &str = r#"{"functionCall":{"id":"c1","name":"ping","args":{"n":1}}}"#;

pub(super) fn ping() -> Vec<ToolCall> {
    vec![ToolCall { id: Some("c1".into()), name: "ping".into(), arguments: r#"{"n":1}"#.into() }]
}

/// Every form in which one call may come, with the provider that writes it.
fn forms() -> Vec<(Provider, String)> {
    use Provider::{Anthropic, Gemini, OpenAiChat, OpenAiResponses};
    let chat_message =
        format!(r#"{{"role":"assistant","content":null,"tool_calls":[{CHAT_CALL}]}}"#);
    let content = format!(r#"{{"role":"model","parts":[{{"text":"a"}},{GEMINI_CALL}]}}"#);
    let blocks = format!(r#"[{{"type":"text","text":"a"}},{ANTHROPIC_CALL}]"#);
    vec![
        (Anthropic, ANTHROPIC_CALL.into()),
        (Anthropic, blocks.clone()),
        (Anthropic, format!(r#"{{"role":"assistant","content":{blocks}}}"#)),
        (
            Anthropic,
            format!(
                r#"{{"type":"message","role":"assistant","content":{blocks},"stop_reason":"tool_use"}}"#
            ),
        ),
        (OpenAiChat, CHAT_CALL.into()),
        (OpenAiChat, format!("[{CHAT_CALL}]")),
        (OpenAiChat, chat_message.clone()),
        (OpenAiChat, format!(r#"{{"choices":[{{"index":0,"message":{chat_message}}}]}}"#)),
        (OpenAiResponses, RESPONSES_CALL.into()),
        (OpenAiResponses, format!(r#"[{{"type":"reasoning","summary":[]}},{RESPONSES_CALL}]"#)),
        (OpenAiResponses, format!(r#"{{"output":[{RESPONSES_CALL}]}}"#)),
        (OpenAiResponses, format!(r#"{{"object":"response","output":[{RESPONSES_CALL}]}}"#)),
        (Gemini, GEMINI_CALL.into()),
        (Gemini, format!("[{GEMINI_CALL}]")),
        (Gemini, content.clone()),
        (Gemini, format!(r#"{{"candidates":[{{"content":{content},"index":0}}]}}"#)),
    ]
}

pub(super) fn refusal(provider: Provider, message: &str) -> String {
    provider.tool_calls(message).unwrap_err().to_string()
}

#[test]
fn every_form_is_recognised_and_gives_the_same_call() {
    for (provider, form) in forms() {
        assert_eq!(Provider::detect(&form).unwrap(), provider, "{form}");
        assert_eq!(provider.tool_calls(&form).unwrap(), ping(), "{form}");
    }
}

#[test]
fn another_providers_message_is_refused_and_never_read_as_one_without_calls() {
    for (writer, form) in forms() {
        for reader in Provider::ALL.into_iter().filter(|reader| *reader != writer) {
            let error = reader.tool_calls(&form).unwrap_err();
            assert!(
                matches!(error, MessageError::OtherProvider { expected, found }
                    if expected == reader && found == writer),
                "{reader}: {form}: {error}"
            );
        }
    }
}

#[test]
fn messages_without_calls_give_none() {
    for (provider, message) in [
        (Provider::Anthropic, r#"{"role":"assistant","content":"Done."}"#),
        (
            Provider::Anthropic,
            r#"[{"type":"thinking","thinking":"…","signature":"x"},
                {"type":"server_tool_use","id":"s1","name":"web_search","input":{}},
                {"type":"web_search_tool_result","tool_use_id":"s1","content":[]}]"#,
        ),
        (
            Provider::OpenAiChat,
            r#"{"choices":[{"message":{"role":"assistant","content":"Done.","refusal":null}}]}"#,
        ),
        (
            Provider::OpenAiResponses,
            r#"{"output":[{"type":"reasoning","summary":[]},{"type":"web_search_call","id":"w1"},
                {"type":"shell_call","call_id":"c1","environment":{"type":"container_reference"}},
                {"type":"tool_search_call","call_id":"c2","execution":"server"},
                {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}]}"#,
        ),
        (Provider::Gemini, r#"{"candidates":[{"finishReason":"SAFETY"}],"usageMetadata":{}}"#),
        (Provider::Gemini, r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#),
        (
            Provider::Gemini,
            r#"[{"executableCode":{"code":"1"}},{"toolCall":{"id":"t"}},{"text":"Done."}]"#,
        ),
    ] {
        assert_eq!(provider.tool_calls(message).unwrap(), [], "{message}");
    }
}

#[test]
fn arguments_keep_their_spelling_numbers_and_repeated_keys() {
    let exact = r#"{ "n" : 123456789012345678901234567890.10 , "n":1e2, "ü":"\u00fc" }"#;
    for (provider, message) in [
        (
            Provider::Anthropic,
            format!(r#"{{"type":"tool_use","id":"a","name":"b","input":  {exact} }}"#),
        ),
        (Provider::Gemini, format!(r#"{{"functionCall":{{"name":"b","args":{exact}}}}}"#)),
    ] {
        assert_eq!(provider.tool_calls(&message).unwrap()[0].arguments, exact);
    }
}

#[test]
fn deeply_nested_arguments_pass_through() {
    let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
    let message = format!(r#"[{{"type":"tool_use","id":"a","name":"b","input":{deep}}}]"#);
    assert_eq!(Provider::Anthropic.tool_calls(&message).unwrap()[0].arguments, deep);
}

#[test]
fn openai_arguments_stay_as_decoded_even_when_empty_or_no_json() {
    for arguments in ["", "{", "ten"] {
        let message =
            format!(r#"[{{"id":"c","function":{{"name":"ping","arguments":"{arguments}"}}}}]"#);
        let calls = Provider::OpenAiChat.tool_calls(&message).unwrap();
        assert_eq!(calls[0].arguments, arguments);
    }
}

#[test]
fn gemini_calls_may_lack_id_and_arguments_and_use_either_spelling() {
    let calls = Provider::Gemini
        .tool_calls(
            r#"{"parts":[{"function_call":{"name":"a","args":null},"thoughtSignature":"eA=="}]}"#,
        )
        .unwrap();
    assert_eq!(calls[0].id, None);
    assert_eq!(calls[0].arguments, "{}");
}

#[test]
fn a_wrong_value_is_named_with_its_place() {
    for (provider, message, expected) in [
        (
            Provider::OpenAiChat,
            r#"{"choices":[{"message":{"tool_calls":[{"id":7,"type":"function","function":{"name":"a","arguments":"{}"}}]}}]}"#,
            "openai-chat message at /choices/0/message/tool_calls/0/id: expected a string, found a number",
        ),
        (
            Provider::OpenAiChat,
            r#"[{"id":"c","function":{"name":"a","arguments":[]}}]"#,
            "openai-chat message at /0/function/arguments: expected a string, found an array",
        ),
        (
            Provider::OpenAiChat,
            r#"{"choices":{}}"#,
            "openai-chat message at /choices: expected an array of choices, found an empty object",
        ),
        (
            Provider::OpenAiChat,
            r#"{"error":{"message":"overloaded"}}"#,
            "openai-chat message at the top: expected a chat completion, an assistant message, \
             its tool_calls or a call, found an object with the key error",
        ),
        (
            Provider::Anthropic,
            r#"{"type":"error","error":{"type":"overloaded_error"}}"#,
            "anthropic message at the top: expected a message, its content or a block, \
             found an object with the keys error, type",
        ),
        (
            Provider::Anthropic,
            r#"[{"type":"tool_use","id":"a","name":"b","input":"{}"}]"#,
            "anthropic message at /0/input: expected an object, found a string",
        ),
        (
            Provider::Anthropic,
            r#"[{"type":"tool_use","id":"a","name":"\ud800","input":{}}]"#,
            "anthropic message at /0/name: expected a string, found a string with a broken escape",
        ),
        (
            Provider::OpenAiResponses,
            r#"{"object":"response","output":null}"#,
            "openai-responses message at /output: expected an array of items, found null",
        ),
        (
            Provider::OpenAiResponses,
            r#"[{"type":"function_call","call_id":true,"name":"a","arguments":""}]"#,
            "openai-responses message at /0/call_id: expected a string, found a boolean",
        ),
        (
            Provider::Gemini,
            r#"{"parts":[{"functionCall":{"name":"a","args":[1]}}]}"#,
            "gemini message at /parts/0/functionCall/args: expected an object, found an array",
        ),
        (
            Provider::Gemini,
            "7",
            "gemini message at the top: expected a response, a content, its parts or a part, found a number",
        ),
    ] {
        assert_eq!(refusal(provider, message), expected);
    }
}

#[test]
fn text_that_is_no_json_is_refused_with_its_cause() {
    let error = Provider::Gemini.tool_calls("I cannot help").unwrap_err();
    assert_eq!(error.to_string(), "the message is not JSON");
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn custom_calls_and_other_calls_for_the_client_are_refused_by_id() {
    for (provider, message, call, kind) in [
        (
            Provider::OpenAiChat,
            r#"{"tool_calls":[{"id":"c9","type":"custom","custom":{"name":"a","input":"b"}}]}"#,
            "c9",
            "custom tool call",
        ),
        (
            Provider::OpenAiChat,
            r#"{"role":"assistant","function_call":{"name":"old","arguments":"{}"}}"#,
            "old",
            "function_call of the deprecated form",
        ),
        (
            Provider::OpenAiResponses,
            r#"[{"type":"custom_tool_call","call_id":"c9","name":"a","input":"b"}]"#,
            "c9",
            "custom_tool_call",
        ),
        (
            Provider::OpenAiResponses,
            r#"[{"type":"mcp_approval_request","id":"mcpr_1","name":"f","arguments":"{}"}]"#,
            "mcpr_1",
            "mcp_approval_request",
        ),
        (
            Provider::OpenAiResponses,
            r#"[{"type":"computer_call","call_id":"c9"}]"#,
            "c9",
            "computer_call",
        ),
        (
            Provider::OpenAiResponses,
            r#"[{"type":"shell_call","call_id":"c9","environment":{"type":"local"}}]"#,
            "c9",
            "shell_call",
        ),
        (
            Provider::OpenAiResponses,
            r#"[{"type":"shell_call","call_id":"c9"}]"#,
            "c9",
            "shell_call",
        ),
        (
            Provider::OpenAiResponses,
            r#"[{"type":"local_shell_call","call_id":"c9"}]"#,
            "c9",
            "local_shell_call",
        ),
        (
            Provider::OpenAiResponses,
            r#"[{"type":"apply_patch_call","call_id":"c9"}]"#,
            "c9",
            "apply_patch_call",
        ),
        (
            Provider::OpenAiResponses,
            r#"[{"type":"tool_search_call","call_id":"c9","execution":"client"}]"#,
            "c9",
            "tool_search_call",
        ),
    ] {
        let error = refusal(provider, message);
        let expected = format!("call {call} is a {kind}, only function calls are supported");
        assert!(error.ends_with(&expected), "{error}");
    }
}

#[test]
fn calls_in_an_alternative_other_than_the_first_are_refused() {
    let called = format!(r#"{{"message":{{"tool_calls":[{CHAT_CALL}]}}}}"#);
    let silent = r#"{"message":{"role":"assistant","content":"a"}}"#;
    for choices in [format!("{called},{called}"), format!("{silent},{called}")] {
        assert_eq!(
            refusal(Provider::OpenAiChat, &format!(r#"{{"choices":[{choices}]}}"#)),
            "openai-chat message at /choices/1: tools are called in an alternative other than the first"
        );
    }
    let kept = format!(r#"{{"choices":[{called},{silent}]}}"#);
    assert_eq!(Provider::OpenAiChat.tool_calls(&kept).unwrap(), ping());

    let candidate = format!(r#"{{"content":{{"parts":[{GEMINI_CALL}]}}}}"#);
    let error =
        refusal(Provider::Gemini, &format!(r#"{{"candidates":[{candidate},{candidate}]}}"#));
    assert!(error.contains("/candidates/1: tools are called"), "{error}");
}

#[test]
fn the_place_of_a_key_is_escaped_as_json_pointers_are() {
    let root: Box<serde_json::value::RawValue> = serde_json::from_str(r#"{"a/b~c":7}"#).unwrap();
    let node = super::super::Node::root(Provider::Gemini, &root);
    let error = node.fields("an object").unwrap().string("a/b~c").unwrap_err();
    assert!(error.to_string().starts_with("gemini message at /a~1b~0c: "), "{error}");
}

#[test]
fn a_shape_that_does_not_tell_the_provider_is_not_guessed() {
    for message in [
        "[]",
        "{}",
        "null",
        r#""text""#,
        r#"[{"type":"text","text":"a"}]"#,
        r#"{"role":"assistant","content":"Done."}"#,
    ] {
        let error = Provider::detect(message).unwrap_err();
        assert!(matches!(error, MessageError::Unrecognised { .. }), "{message}: {error}");
    }
    let both = r#"{"choices":[],"candidates":[]}"#;
    assert_eq!(
        Provider::detect(both).unwrap_err().to_string(),
        "the message may be of openai-chat or of gemini"
    );
}

#[test]
fn calls_of_servers_that_imitate_the_chat_api_are_read() {
    let message = r#"{"role":"assistant","content":null,"tool_calls":[
        {"id":"","type":"","function":{"name":"a","arguments":{"n":9007199254740993}}},
        {"function":{"name":"b","arguments":null}},
        {"id":"c","function":{"name":"c"}}]}"#;
    let calls = Provider::OpenAiChat.tool_calls(message).unwrap();
    let found = calls.iter().map(|call| (call.id.as_deref(), &*call.name, &*call.arguments));
    assert_eq!(
        found.collect::<Vec<_>>(),
        [(None, "a", r#"{"n":9007199254740993}"#), (None, "b", "{}"), (Some("c"), "c", "{}")]
    );
}
