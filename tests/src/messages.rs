//! The captured messages of the example are what the converters take them for.

use toolwright::provider::{Provider, ToolCall};

const MESSAGES: [(Provider, &str, &[&str]); 4] = [
    (
        Provider::Anthropic,
        include_str!("../../examples/workspace/messages/anthropic.json"),
        &["list_files", "read_file", "search_files"],
    ),
    (
        Provider::OpenAiChat,
        include_str!("../../examples/workspace/messages/openai-chat.json"),
        &["read_file", "search_files"],
    ),
    (
        Provider::OpenAiResponses,
        include_str!("../../examples/workspace/messages/openai-responses.json"),
        &["read_file", "read_file", "list_files"],
    ),
    (
        Provider::Gemini,
        include_str!("../../examples/workspace/messages/gemini.json"),
        &["read_file", "list_files", "complete_task"],
    ),
];

#[test]
fn every_captured_message_is_recognised_and_its_calls_have_distinct_ids() {
    for (provider, message, names) in MESSAGES {
        assert_eq!(Provider::detect(message).unwrap(), provider);
        let calls = provider.tool_calls(message).unwrap();
        let found: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(found, names);
        let mut ids: Vec<_> = calls.iter().map(|call| call.id.clone().unwrap()).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), calls.len());
    }
}

#[test]
fn one_captured_call_misses_its_file_and_one_has_a_wrong_type() {
    let calls: Vec<ToolCall> = MESSAGES
        .iter()
        .flat_map(|(provider, message, _)| provider.tool_calls(message).unwrap())
        .collect();
    let having = |part: &str| calls.iter().filter(|it| it.arguments.contains(part)).count();
    assert_eq!(having("runtime/src/scheduler.rs"), 1);
    assert_eq!(having(r#""limit":"ten""#), 1);
}
