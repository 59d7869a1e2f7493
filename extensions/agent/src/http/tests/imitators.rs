//! Servers that imitate an API of a vendor, or take less than the vendor does.

use serde_json::Value;
use toolwright::provider::{MediaSupport, ToolCall};
use toolwright::{Answer, Output};

use super::streamed::{hear, stream_text};
use super::*;
use crate::http::api::Api;
use crate::{StopReason, Verbatim};

#[tokio::test]
async fn a_stream_that_is_called_plain_text_is_heard() {
    let answer = Answers::with(200, &stream_text()).header("content-type: text/plain");
    let server = Server::start(vec![answer]).await;
    let (answer, heard) = hear(&at(&server.url()).build().unwrap()).await;
    assert_eq!((answer.unwrap().text.as_str(), heard.text.as_str()), ("Done.", "Done."));
}

#[tokio::test]
async fn an_empty_refusal_refuses_nothing() {
    let said = r#"{"choices":[{"message":{"role":"assistant","content":"Done.","refusal":""}}]}"#;
    let server = Server::start(vec![Answers::with(200, said)]).await;
    let model = HttpModel::openai_chat("some-model").base_url(server.url()).key("hunter2");
    let answer = ask(model).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.stop), ("Done.", StopReason::Finished));
}

/// The arguments of the call of a body, as an object.
fn arguments(api: Api, body: &str) -> Value {
    let body: Value = serde_json::from_str(body).unwrap();
    let text = |it: &Value| serde_json::from_str(it.as_str().unwrap()).unwrap();
    match api {
        Api::Anthropic => body["messages"][1]["content"][0]["input"].clone(),
        Api::OpenAiChat => text(&body["messages"][1]["tool_calls"][0]["function"]["arguments"]),
        Api::OpenAiResponses => text(&body["input"][1]["arguments"]),
        Api::Gemini => body["contents"][1]["parts"][0]["functionCall"]["args"].clone(),
    }
}

/// vLLM and llama.cpp refuse every later request of a history with other arguments.
#[test]
fn arguments_that_are_no_object_go_back_as_one() {
    let listing = |api: Api| Registry::empty().listing(api.provider().into()).unwrap();
    for api in [Api::Anthropic, Api::OpenAiChat, Api::OpenAiResponses, Api::Gemini] {
        for (written, sent) in [
            // It may be the begin of another number.
            ("{\"n\": 1", serde_json::json!({})),
            ("{\"n\": \"1\"", serde_json::json!({"n": "1"})),
            ("{'n': 1,}", serde_json::json!({"n": 1})),
            ("[1]", serde_json::json!({})),
            ("one, please", serde_json::json!({})),
            ("", serde_json::json!({})),
            ("{\"n\": 1}", serde_json::json!({"n": 1})),
        ] {
            let call =
                ToolCall { id: Some("c1".into()), name: "f".into(), arguments: written.into() };
            let item = serde_json::json!([{"type": "function_call", "call_id": "c1", "name": "f", "arguments": written}]);
            let plain = Message::assistant("", [call.clone()]);
            let verbatim =
                plain.clone().verbatim(Verbatim::new("openai-responses", item.to_string()));
            for said in [plain, verbatim] {
                let answer = Answer::from(Output::text("no"));
                let history =
                    [Message::user("Go."), said, Message::tool_results([(call.clone(), answer)])];
                let to = Asked { media: MediaSupport::Full, ..api.asked("some-model", None) };
                let listing = listing(api);
                let body = api.body(&to, &ModelRequest::new(&history, &listing)).unwrap();
                assert_eq!(arguments(api, &body), sent, "{api:?} {written}");
            }
        }
    }
}

/// Buys articles.
#[toolwright::tool(effect = read, unlinked)]
async fn buy(
    /// Which.
    #[arg(alias = "items")]
    articles: Vec<String>,
    /// How many of each.
    count: u32,
) -> u32 {
    count * u32::try_from(articles.len()).unwrap_or_default()
}

/// What ran is what its model reads of it, in every later request.
#[test]
fn a_call_that_was_repaired_and_ran_goes_back_as_it_ran() {
    let written = "{'items': 'tea', 'count': '3'}";
    for api in [Api::Anthropic, Api::OpenAiChat, Api::OpenAiResponses, Api::Gemini] {
        let catalog = Registry::of([BUY]).unwrap().catalog();
        let listing = catalog.listing(api.provider().into()).unwrap();
        let call =
            ToolCall { id: Some("c1".into()), name: "buy".into(), arguments: written.into() };
        let item = serde_json::json!([{"type": "function_call", "call_id": "c1", "name": "buy", "arguments": written}]);
        let plain = Message::assistant("", [call.clone()]);
        let verbatim = plain.clone().verbatim(Verbatim::new("openai-responses", item.to_string()));
        for said in [plain, verbatim] {
            let answer = Answer::from(Output::text("3"));
            let history =
                [Message::user("Go."), said, Message::tool_results([(call.clone(), answer)])];
            let to = Asked { media: MediaSupport::Full, ..api.asked("some-model", None) };
            let request = ModelRequest::new(&history, &listing).catalog(&catalog);
            let body = api.body(&to, &request).unwrap();
            let ran = serde_json::json!({"articles": ["tea"], "count": 3});
            assert_eq!(arguments(api, &body), ran, "{api:?}");
        }
    }
}

#[test]
fn a_call_that_the_provider_made_itself_goes_back_as_it_wrote_it() {
    let item = r#"{"type":"mcp_call","name":"f","arguments":"","output":"x"}"#;
    let said = Message::assistant("Done.", []);
    let said = said.verbatim(Verbatim::new("openai-responses", format!("[{item}]")));
    let api = Api::OpenAiResponses;
    let listing = Registry::empty().listing(api.provider().into()).unwrap();
    let to = Asked { media: MediaSupport::Full, ..api.asked("some-model", None) };
    let history = [Message::user("Go."), said, Message::user("On.")];
    let body = api.body(&to, &ModelRequest::new(&history, &listing)).unwrap();
    assert!(body.contains(item), "{body}");
}
