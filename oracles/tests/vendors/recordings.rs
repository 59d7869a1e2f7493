//! What the coder's recordings say that was sent and answered is what the vendors' documents take and give.

use std::path::Path;

use oracles::document::Document;
use serde_json::Value;
use toolwright::provider::Provider;

/// The requests and the responses of a recording, as the file has them.
fn recorded(provider: Provider) -> (Vec<Value>, Vec<(u64, Value)>) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/coder/recordings");
    let text =
        std::fs::read_to_string(Path::new(folder).join(format!("{provider}.jsonl"))).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert_eq!(lines.next().unwrap()["provider"], provider.name());
    lines
        .map(|mut line| {
            let status = line["response"]["status"].as_u64().unwrap();
            (line["request"]["body"].take(), (status, line["response"]["body"].take()))
        })
        .unzip()
}

fn valid<'a>(document: Document, name: &str, bodies: impl IntoIterator<Item = &'a Value>) -> usize {
    let definition = document.definition(name).unwrap();
    let mut count = 0;
    for body in bodies {
        let objections = definition.objections(body);
        assert!(objections.is_empty(), "body {count} is no {name}: {objections:#?}");
        count += 1;
    }
    count
}

fn of_answers(responses: &[(u64, Value)]) -> impl Iterator<Item = &Value> {
    responses.iter().filter(|(status, _)| *status == 200).map(|(_, body)| body)
}

#[test]
fn anthropic_takes_every_request_and_gives_every_response() {
    let (requests, responses) = recorded(Provider::Anthropic);
    assert!(valid(Document::Anthropic, "CreateMessageParams", &requests) >= 5);
    assert!(valid(Document::Anthropic, "Message", of_answers(&responses)) >= 5);
}

#[test]
fn openai_takes_every_request_and_gives_every_response() {
    let (requests, responses) = recorded(Provider::OpenAiChat);
    assert!(valid(Document::OpenAi, "CreateChatCompletionRequest", &requests) >= 5);
    assert!(valid(Document::OpenAi, "CreateChatCompletionResponse", of_answers(&responses)) >= 5);
}

/// The documents judge: a request that lacks something or has something wrong is refused.
#[test]
fn a_request_that_is_wrong_is_refused() {
    let (requests, _) = recorded(Provider::Anthropic);
    let anthropic = Document::Anthropic.definition("CreateMessageParams").unwrap();
    let mut wrong = requests[1].clone();
    wrong["messages"][2]["content"][0]["tool_use_id"] = "not an id".into();
    assert!(!anthropic.objections(&wrong).is_empty());
    let mut unknown = requests[0].clone();
    unknown["max_completion_tokens"] = 1.into();
    assert!(!anthropic.objections(&unknown).is_empty());
    let (requests, _) = recorded(Provider::OpenAiChat);
    let openai = Document::OpenAi.definition("CreateChatCompletionRequest").unwrap();
    let mut wrong = requests[1].clone();
    wrong["messages"][3]["role"] = "tool_result".into();
    assert!(!openai.objections(&wrong).is_empty());
}
