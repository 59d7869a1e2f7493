//! The messages that carry answers back are messages that the vendors take.

use oracles::document::Document;
use serde_json::Value;
use toolwright::provider::{Provider, ToolCall};
use toolwright::{Call, Content, Executor, Output, Registry, ToolError, tool};

/// A picture of one pixel.
const PIXEL: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

/// Answers in words.
#[tool(effect = read)]
async fn words() -> &'static str {
    "three files"
}

/// Answers nothing.
#[tool(effect = read)]
async fn nothing() {}

/// Answers a list.
#[tool(effect = read)]
async fn list() -> Vec<u64> {
    vec![1, u64::MAX]
}

/// Answers a picture.
#[tool(effect = read)]
async fn picture() -> Output {
    Output::text("a picture:")
        .with(Content::Image { media_type: "image/png".into(), data: PIXEL.into() })
}

/// Answers what few providers take.
#[tool(effect = read)]
async fn mixture() -> Output {
    Output::text("a sound:")
        .with(Content::Audio { media_type: "audio/wav".into(), data: "AAAA".into() })
        .with(Content::Image { media_type: "image/tiff".into(), data: "AAAA".into() })
        .with(Content::json("[1]"))
        .with(Content::Resource { uri: "file:///a.md".into(), media_type: None, text: None })
        .structured(serde_json::json!({"files": 3}))
}

/// Fails.
#[tool(effect = read)]
async fn failure() -> Result<String, ToolError> {
    Err(ToolError::new("not_found", "no such file"))
}

/// The answers of all of them, and that to a call of a tool that does not exist.
async fn answered(provider: Provider) -> Value {
    let tools = [WORDS, NOTHING, LIST, PICTURE, MIXTURE, FAILURE];
    let executor = Executor::builder(Registry::of(tools).unwrap()).unrestricted().build().unwrap();
    let names = ["words", "nothing", "list", "picture", "mixture", "failure", "unknown"];
    let mut answered = Vec::new();
    for (index, name) in names.into_iter().enumerate() {
        let call = ToolCall {
            id: Some(format!("call_{index}")),
            name: name.to_owned(),
            arguments: "{}".to_owned(),
        };
        let answer = executor.call(&Call::from(&call)).await;
        answered.push((call, answer));
    }
    provider.tool_results(&answered).unwrap()
}

fn taken<'a>(
    document: Document,
    definition: &str,
    messages: impl IntoIterator<Item = &'a Value>,
) -> usize {
    let judge = document.definition(definition).unwrap();
    let mut count = 0;
    for message in messages {
        let objections = judge.objections(message);
        assert!(objections.is_empty(), "{definition} refuses {message:#}: {objections:?}");
        count += 1;
    }
    count
}

#[tokio::test]
async fn anthropic_takes_one_message_of_results() {
    let message = answered(Provider::Anthropic).await;
    let blocks = message["content"].as_array().unwrap();
    assert_eq!(taken(Document::Anthropic, "RequestToolResultBlock", blocks), 7);
    taken(Document::Anthropic, "InputMessage", [&message]);
}

#[tokio::test]
async fn openai_chat_takes_a_message_for_each_result() {
    let messages = answered(Provider::OpenAiChat).await;
    let (last, results) = messages.as_array().unwrap().split_last().unwrap();
    assert_eq!(taken(Document::OpenAi, "ChatCompletionRequestToolMessage", results), 7);
    // The picture, which no result can hold.
    taken(Document::OpenAi, "ChatCompletionRequestUserMessage", [last]);
}

#[tokio::test]
async fn openai_responses_takes_an_item_for_each_result() {
    let items = answered(Provider::OpenAiResponses).await;
    let items = items.as_array().unwrap();
    assert_eq!(taken(Document::OpenAi, "FunctionCallOutputItemParam", items), 7);
}

#[tokio::test]
async fn gemini_takes_one_content_of_results() {
    let content = answered(Provider::Gemini).await;
    assert_eq!(content["parts"].as_array().unwrap().len(), 7);
    taken(Document::Gemini, "Content", [&content]);
}
