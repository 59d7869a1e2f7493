//! What servers want beside the API of a vendor: queries, headers, members of the body, and a limit between two pieces.

use serde_json::{Value, json};

use super::server::End;
use super::streamed::hear;
use super::*;

const SAID: &str = r#"{"choices":[{"message":{"role":"assistant","content":"Done."}}]}"#;

/// The one request that a chat model makes.
async fn request(model: impl FnOnce(&str) -> HttpModelBuilder) -> (String, Value) {
    let server = Server::start(vec![Answers::with(200, SAID)]).await;
    assert_eq!(ask(model(&server.url())).await.unwrap().text, "Done.");
    let request = server.requests().remove(0);
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), serde_json::from_str(body).unwrap())
}

#[tokio::test]
async fn a_base_url_with_a_query_has_it_behind_the_path_of_the_api() {
    let (head, _) = request(|url| {
        let base = format!("{url}/openai/deployments/gpt?api-version=2024-10-21");
        HttpModel::openai_chat("gpt").base_url(base).key_header("api-key").key("hunter2")
    })
    .await;
    let line = "POST /openai/deployments/gpt/chat/completions?api-version=2024-10-21 HTTP/1.1";
    assert!(head.starts_with(line), "{head}");
    assert!(head.contains("api-key: hunter2\r\n") && !head.contains("authorization"), "{head}");
}

#[tokio::test]
async fn a_query_stands_beside_the_one_by_which_gemini_streams() {
    let piece = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Done."}]},"finishReason":"STOP"}]}"#;
    let pieces = vec![format!("data: {piece}\n\n")];
    let server = Server::start(vec![Answers::Stream { pieces, end: End::Whole }]).await;
    let model = HttpModel::gemini("some-model").base_url(format!("{}/?team=7", server.url()));
    hear(&model.build().unwrap()).await.0.unwrap();
    let line = "POST /v1beta/models/some-model:streamGenerateContent?team=7&alt=sse HTTP/1.1";
    assert!(server.requests()[0].starts_with(line), "{:?}", server.requests());
}

#[tokio::test]
async fn azure_is_asked_by_its_deployment_with_the_key_in_its_header() {
    let (head, body) =
        request(|url| HttpModel::azure(format!("{url}/"), "mini").key("hunter2")).await;
    assert!(head.starts_with("POST /openai/v1/chat/completions HTTP/1.1"), "{head}");
    assert!(head.contains("api-key: hunter2"), "{head}");
    assert_eq!(body["model"], "mini");
}

#[tokio::test]
async fn headers_and_members_of_the_application_go_with_every_request() {
    let (head, body) = request(|url| {
        HttpModel::vllm("some-model")
            .base_url(url)
            .header("x-team", "tea")
            .header("content-type", "application/json; charset=utf-8")
            .max_tokens(90)
            .temperature(0.5)
            .seed(7)
            .extra_body(json!({"top_k": 20, "chat_template_kwargs": {"enable_thinking": false}}))
    })
    .await;
    assert!(head.contains("x-team: tea\r\n"), "{head}");
    assert_eq!(
        body,
        json!({
            "top_k": 20,
            "chat_template_kwargs": {"enable_thinking": false},
            "model": "some-model",
            "max_tokens": 90,
            "temperature": 0.5,
            "seed": 7,
            "messages": [{"role": "user", "content": "Go."}],
        })
    );
}

#[tokio::test]
async fn the_settings_of_a_request_go_before_those_of_its_model() {
    let server = Server::start(vec![Answers::with(200, SAID)]).await;
    let model = HttpModel::ollama("some-model").base_url(server.url());
    let model = model.temperature(0.5).top_p(0.9).build().unwrap();
    let listing = Registry::empty().listing(model.dialect()).unwrap();
    let history = [Message::user("Go.")];
    let settings = ModelSettings::new().temperature(0.0);
    let request = ModelRequest::new(&history, &listing).settings(&settings);
    let body: Value = serde_json::from_str(&model.body(&request).unwrap()).unwrap();
    assert_eq!((&body["temperature"], &body["top_p"]), (&json!(0.0), &json!(0.9)));
}

/// It has the begin of an answer, and nothing more.
#[tokio::test]
async fn an_answer_that_brings_nothing_any_more_is_asked_for_again_long_before_its_time() {
    let begin = "data: {\"choices\":[{\"delta\":{\"content\":\"Do\"}}]}\n\n".to_owned();
    let silent = Answers::Stream { pieces: vec![begin], end: End::Never };
    let whole = "data: {\"choices\":[{\"delta\":{\"content\":\"Done.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let whole = Answers::Stream { pieces: vec![whole.to_owned()], end: End::Whole };
    let server = Server::start(vec![silent, whole]).await;
    let retried = Arc::new(Mutex::new(String::new()));
    let retrying = Arc::clone(&retried);
    let model = HttpModel::openai_chat("some-model")
        .base_url(server.url())
        .retry(RetryPolicy::NETWORK.delay(Duration::from_millis(1)).jitter(Jitter::None))
        .idle_timeout(Duration::from_millis(200))
        .on_retry(move |it| it.message.clone_into(&mut retrying.lock().unwrap()));
    let (answer, heard) = hear(&model.build().unwrap()).await;
    assert_eq!((answer.unwrap().text.as_str(), heard.text.as_str()), ("Done.", "Done."));
    let words = retried.lock().unwrap().clone();
    assert!(words.contains("sent nothing of its answer for 0.2 s"), "{words}");
}
