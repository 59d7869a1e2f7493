//! The captured messages of the example are what the converters take them for, and tools answer
//! them.

use toolwright::provider::{Provider, ToolCall};
use toolwright::{Answer, Call, Executor};

use crate::support::{Log, builder};

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

/// The tools of the captured messages, with a service that writes down what ran.
mod tools {
    use toolwright::{ToolError, tool};

    use crate::support::Log;

    /// Lists.
    #[tool(effect = read)]
    pub async fn list_files(
        log: &Log,
        /// Where.
        path: String,
        /// How deep.
        depth: Option<u32>,
    ) -> Vec<String> {
        log.add(format!("list {path} {depth:?}"));
        vec![path]
    }

    /// Reads.
    #[tool(effect = read)]
    pub async fn read_file(
        log: &Log,
        /// Which.
        path: String,
        /// From which line.
        offset: Option<u32>,
        /// How many lines.
        limit: Option<u32>,
    ) -> Result<String, ToolError> {
        log.add(format!("read {path} {offset:?} {limit:?}"));
        if path.ends_with("scheduler.rs") {
            return Err(ToolError::new("not_found", "no such file"));
        }
        Ok(format!("text of {path}"))
    }

    /// Searches.
    #[tool(effect = read)]
    pub async fn search_files(
        log: &Log,
        /// What.
        pattern: String,
        /// Where.
        path: String,
        /// How many.
        limit: u32,
    ) -> Vec<String> {
        log.add(format!("search {pattern} {path} {limit}"));
        vec![pattern]
    }

    /// Completes.
    #[tool(terminal)]
    pub async fn complete_task(
        log: &Log,
        /// Summary of work done
        summary: String,
    ) -> String {
        log.add("complete");
        format!("Task completed: {summary}")
    }
}

fn executor(log: &Log) -> Executor {
    let tools = [tools::LIST_FILES, tools::READ_FILE, tools::SEARCH_FILES, tools::COMPLETE_TASK];
    builder(tools).service(log.clone()).build().unwrap()
}

async fn answers(executor: &Executor, calls: Vec<ToolCall>) -> Vec<(ToolCall, Answer)> {
    let mut answered = Vec::new();
    for call in calls {
        let answer = executor.call(&Call::from(&call)).await;
        answered.push((call, answer));
    }
    answered
}

/// S0.31: a call in a message is looked up by its name.
/// S0.33: the function that was found is called.
/// S0.34: its result goes back as a `tool_result` block that names the call.
#[tokio::test]
async fn a_tool_use_block_is_answered_by_a_tool_result_block() {
    let log = Log::default();
    let message = MESSAGES[0].1;
    let calls = Provider::Anthropic.tool_calls(message).unwrap();
    let ids: Vec<String> = calls.iter().filter_map(|call| call.id.clone()).collect();
    let answered = answers(&executor(&log), calls).await;
    assert_eq!(
        log.lines(),
        [
            "list runtime/src Some(1)",
            "read README.md None Some(60)",
            "search pub enum Danger runtime/src 20"
        ]
    );
    let results = Provider::Anthropic.tool_results(&answered).unwrap();
    assert_eq!(results["role"], "user");
    let blocks = results["content"].as_array().unwrap();
    assert_eq!(blocks.len(), ids.len());
    for (block, id) in blocks.iter().zip(&ids) {
        assert_eq!(
            (&block["type"], &block["tool_use_id"]),
            (&"tool_result".into(), &id.as_str().into())
        );
        assert_eq!(block.get("is_error"), None, "a success is not marked: {block}");
    }
    assert_eq!(blocks[1]["content"], "text of README.md");
}

/// S0.34: the block of a failed call, and no other, says so, whether the tool failed or never ran.
#[tokio::test]
async fn the_tool_result_block_of_a_failed_call_is_marked_as_an_error() {
    let message = r#"[
        {"type":"tool_use","id":"missing","name":"read_file","input":{"path":"scheduler.rs"}},
        {"type":"tool_use","id":"wrong","name":"read_file","input":{"file":"README.md"}},
        {"type":"tool_use","id":"unknown","name":"delete_file","input":{"path":"README.md"}},
        {"type":"tool_use","id":"sound","name":"read_file","input":{"path":"README.md"}}
    ]"#;
    let calls = Provider::Anthropic.tool_calls(message).unwrap();
    let answered = answers(&executor(&Log::default()), calls).await;
    let results = Provider::Anthropic.tool_results(&answered).unwrap();
    let blocks: Vec<_> = results["content"].as_array().unwrap().iter().collect();
    let marks: Vec<_> =
        blocks.iter().map(|it| (it["tool_use_id"].as_str().unwrap(), it.get("is_error"))).collect();
    let failed = Some(&serde_json::Value::Bool(true));
    let expected = [("missing", failed), ("wrong", failed), ("unknown", failed), ("sound", None)];
    assert_eq!(marks, expected);
    for (block, words) in
        blocks.iter().zip(["no such file", "`read_file`", "`delete_file`", "text of README.md"])
    {
        assert!(block["content"].as_str().unwrap().contains(words), "{block}");
    }
}

#[tokio::test]
async fn the_id_that_a_provider_gave_a_call_is_the_calls_own() {
    let heard = Log::default();
    let ids = heard.clone();
    let executor = builder([tools::COMPLETE_TASK])
        .service(Log::default())
        .listen(move |event| ids.add(event.provider_id.unwrap_or("none")))
        .build()
        .unwrap();
    for (message, id) in [
        (r#"{"functionCall":{"id":"c7","name":"complete_task"}}"#, "c7"),
        (r#"{"functionCall":{"name":"complete_task"}}"#, "none"),
    ] {
        let calls = Provider::Gemini.tool_calls(message).unwrap();
        executor.call(&Call::from(&calls[0])).await;
        assert_eq!(heard.lines().last().map(String::as_str), Some(id));
    }
}

/// S2.7: a tool knows no provider; the messages of all four are answered by the same functions.
#[tokio::test]
async fn the_messages_of_four_providers_are_answered_by_the_same_tools() {
    for (provider, message, names) in MESSAGES {
        let log = Log::default();
        let answered = answers(&executor(&log), provider.tool_calls(message).unwrap()).await;
        assert_eq!(answered.len(), names.len());
        let results = provider.tool_results(&answered).unwrap().to_string();
        for (call, answer) in &answered {
            let wrong_type = call.arguments.contains(r#""ten""#);
            let missing = call.arguments.contains("scheduler.rs");
            assert_eq!(answer.is_error(), wrong_type || missing, "{provider} {}", call.name);
            assert!(results.contains(call.id.as_ref().unwrap()), "{provider}");
        }
    }
}

/// S0.9: a loop goes on until a turn calls a tool whose definition says that it is terminal.
#[tokio::test]
async fn a_loop_ends_with_the_turn_that_calls_a_terminal_tool() {
    // The last of the captured messages calls `complete_task`: here it comes first, second, third, last and never.
    for place in 0..=3 {
        let mut messages = MESSAGES;
        messages[place..].rotate_right(1);
        let (turns, calls, log) = turns_until_terminal(&messages).await;
        assert_eq!((turns, log.count("complete")), (place + 1, 1));
        let called: usize = messages.iter().take(turns).map(|(.., names)| names.len()).sum();
        assert_eq!(calls, called, "nothing is called after that turn");
    }
    let (turns, _, log) = turns_until_terminal(&MESSAGES[..3]).await;
    assert_eq!((turns, log.count("complete")), (3, 0));
}

/// A loop as an application writes it: how many turns and calls it took, and what ran.
async fn turns_until_terminal(messages: &[(Provider, &str, &[&str])]) -> (usize, usize, Log) {
    let log = Log::default();
    let executor = executor(&log);
    let (mut turns, mut calls) = (0, 0);
    for (provider, message, _) in messages {
        let answered = answers(&executor, provider.tool_calls(message).unwrap()).await;
        turns += 1;
        calls += answered.len();
        let is_terminal = |name: &str| executor.registry().get(name).unwrap().terminal;
        if answered.iter().any(|(call, _)| is_terminal(&call.name)) {
            break;
        }
    }
    (turns, calls, log)
}
