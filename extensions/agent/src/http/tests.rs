//! Requests over a real connection: what is tried again, what is not, and in which words it ends.

mod compaction;
mod given_up;
#[cfg(unix)]
mod keys;
mod media;
mod omitted;
mod prefix;
mod provider_tools;
mod quirks;
mod server;
mod servers;
mod streamed;
mod tool_search;
mod transport;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use toolwright::retry::{Jitter, RetryPolicy};
use toolwright::{ErrorClass, Registry};

use self::server::{Answers, Server};
use super::*;
use crate::history::Message;
use crate::recording::Recording;

const DONE: &str = r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn"}"#;
const BUSY: &str = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;

fn at(url: &str) -> HttpModelBuilder {
    let retry = RetryPolicy::NETWORK.delay(Duration::from_millis(1)).jitter(Jitter::None);
    let model = HttpModel::anthropic("some-model").base_url(url).key("hunter2").retry(retry);
    model.timeout(Duration::from_secs(10))
}

async fn ask(builder: HttpModelBuilder) -> Result<ModelAnswer, ModelError> {
    let model = builder.build().unwrap();
    let listing = Registry::empty().listing(model.dialect()).unwrap();
    model.answer(ModelRequest::new(&[Message::user("Go.")], &listing)).await
}

async fn asked(answers: impl Into<Vec<Answers>>) -> (Result<ModelAnswer, ModelError>, Vec<String>) {
    let server = Server::start(answers.into()).await;
    let answer = ask(at(&server.url())).await;
    (answer, server.requests())
}

#[tokio::test]
async fn a_request_carries_key_version_and_body() {
    let (answer, requests) = asked([Answers::with(200, DONE)]).await;
    assert_eq!(answer.unwrap().text, "Done.");
    let [request] = &requests[..] else { panic!("{requests:?}") };
    assert!(request.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{request}");
    for header in
        ["x-api-key: hunter2", "anthropic-version: 2023-06-01", "content-type: application/json"]
    {
        assert!(request.contains(&format!("{header}\r\n")), "{header} is not in {request}");
    }
    let body =
        r#"{"model":"some-model","max_tokens":8192,"messages":[{"role":"user","content":"Go."}]}"#;
    assert!(request.ends_with(body), "{request}");
}

#[tokio::test]
async fn a_key_of_openai_is_a_bearer_token() {
    let said = r#"{"choices":[{"message":{"role":"assistant","content":"Done."}}]}"#;
    let server = Server::start(vec![Answers::with(200, said)]).await;
    let model = HttpModel::openai_chat("some-model").base_url(server.url()).key("hunter2");
    assert_eq!(ask(model).await.unwrap().text, "Done.");
    let requests = server.requests();
    assert!(requests[0].starts_with("POST /chat/completions "), "{requests:?}");
    assert!(requests[0].contains("authorization: Bearer hunter2\r\n"), "{requests:?}");
}

#[tokio::test]
async fn a_request_that_did_not_begin_or_changed_nothing_is_made_again() {
    for answer in [
        Answers::with(429, BUSY),
        Answers::with(500, BUSY),
        Answers::with(503, "<html>"),
        Answers::with(529, BUSY),
        Answers::Cut,
        Answers::CutInBody,
    ] {
        let name = format!("{answer:?}");
        let (answer, requests) = asked([answer, Answers::with(200, DONE)]).await;
        assert_eq!(answer.unwrap().text, "Done.", "{name}");
        assert_eq!((requests.len(), &requests[0]), (2, &requests[1]), "{name}");
    }
}

#[tokio::test]
async fn a_request_that_is_wrong_is_made_once() {
    for status in [302, 400, 401, 403, 404, 413, 422] {
        let (answer, requests) =
            asked([Answers::with(status, BUSY), Answers::with(200, DONE)]).await;
        let error = answer.unwrap_err();
        assert_eq!((error.classified(), requests.len()), (ErrorClass::Final, 1), "{status}");
        let words = error.message();
        assert!(words.contains(&format!("answered status {status} (overloaded_error")), "{words}");
        assert!(words.contains("expected 200; "), "{words}");
    }
}

#[tokio::test]
async fn a_context_that_is_too_long_is_an_error_with_the_size_and_asked_for_once() {
    let body = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}"#;
    let (answer, requests) = asked([Answers::with(400, body), Answers::with(200, DONE)]).await;
    let error = answer.unwrap_err();
    assert_eq!((error.kind(), requests.len()), ("context_too_long", 1));
    let size = error.context_size().unwrap();
    assert_eq!(
        (size.found, size.allowed, size.excess()),
        (Some(208_310), Some(200_000), Some(8_310))
    );
    let words = "the request has 208310 tokens, the model takes at most 200000; begin a new run";
    assert!(error.message().contains(words), "{error}");
}

#[tokio::test]
async fn retry_after_is_waited_for() {
    let limited = Answers::with(429, BUSY).header("retry-after: 1");
    let begun = Instant::now();
    let (answer, _) = asked([limited, Answers::with(200, DONE)]).await;
    assert_eq!(answer.unwrap().text, "Done.");
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
}

/// Also where the request may have begun, so that the policy alone would ask earlier.
#[tokio::test]
async fn retry_after_counts_with_every_status() {
    let failed = Answers::with(500, BUSY).header("retry-after-ms: 40");
    let server = Server::start(vec![failed, Answers::with(200, DONE)]).await;
    let waits = Arc::new(Mutex::new(Vec::new()));
    let waited = Arc::clone(&waits);
    let model = at(&server.url()).on_retry(move |it| waited.lock().unwrap().push(it.wait));
    ask(model).await.unwrap();
    assert_eq!(*waits.lock().unwrap(), [Duration::from_millis(40)]);
}

#[tokio::test]
async fn a_pause_longer_than_what_is_waited_for_ends_the_request() {
    let limited = || Answers::with(429, BUSY).header("retry-after: 3600");
    let server = Server::start(vec![limited(), limited()]).await;
    let error = ask(at(&server.url())).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.retry_after()),
        ("rate_limited", Some(Duration::from_secs(3600)))
    );
    let words = error.message();
    assert!(words.contains("asks to be left alone for 3600 s"), "{words}");
    assert!(
        words.ends_with("asks callers to wait 3600 s, and the request may wait at most 60 s"),
        "{words}"
    );
    let model = at(&server.url()).build().unwrap();
    let listing = Registry::empty().listing(model.dialect()).unwrap();
    let history = [Message::user("Go.")];
    let limits =
        crate::model::RequestLimits { time: Some(Duration::from_secs(9)), ..Default::default() };
    let request = ModelRequest::new(&history, &listing).limits(limits);
    let words = model.answer(request).await.unwrap_err().to_string();
    let (_, longest) = words.rsplit_once("may wait at most ").unwrap();
    let longest: u64 = longest.strip_suffix(" s").unwrap().parse().unwrap();
    assert!(longest <= 9, "the run's time counts: {words}");
}

#[tokio::test]
async fn a_provider_that_stays_away_is_reported_with_the_attempts() {
    let busy = || Answers::with(529, BUSY);
    let (answer, requests) = asked([busy(), busy(), busy(), busy()]).await;
    let error = answer.unwrap_err();
    assert_eq!((error.kind(), requests.len()), ("overloaded", 3));
    assert!(error.message().starts_with("anthropic at http://127.0.0.1:"), "{error}");
    assert!(error.message().ends_with("; asked 3 times"), "{error}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let server = Server::start(Vec::new()).await;
    let url = server.url();
    drop(server);
    let error = ask(at(&url)).await.unwrap_err();
    assert_eq!(error.kind(), "unreachable");
    assert!(matches!(error.classified(), ErrorClass::NotStarted { .. }));
    assert!(error.message().contains(&url) && error.message().contains("check the base URL"));
}

#[tokio::test]
async fn an_answer_that_takes_too_long_is_given_up() {
    let server = Server::start(vec![Answers::Never, Answers::Never, Answers::Never]).await;
    let error = ask(at(&server.url()).timeout(Duration::from_millis(300))).await.unwrap_err();
    assert_eq!((error.kind(), error.classified()), ("no_response", ErrorClass::Transient));
    assert!(error.message().contains("gave no whole answer within 0.3 s"), "{error}");
}

#[tokio::test]
async fn a_body_past_its_limit_is_not_read() {
    for answer in [Answers::with(200, &"x".repeat(2000)), Answers::Chunked("x".repeat(2000))] {
        let server = Server::start(vec![answer, Answers::with(200, DONE)]).await;
        let error = ask(at(&server.url()).body_limit(1000)).await.unwrap_err();
        assert_eq!((error.kind(), server.requests().len()), ("response_too_large", 1));
        assert!(error.message().contains("more than 1000 bytes"), "{error}");
    }
}

#[tokio::test]
async fn a_body_that_is_no_answer_is_shown_and_asked_for_once() {
    for (body, why) in [
        ("<html>Sign in</html>", "answered `<html>Sign in</html>`, expected an Anthropic message"),
        ("", "answered an empty body, expected an Anthropic message"),
        (
            r#"{"choices":[{"message":{"role":"assistant","content":null}}]}"#,
            "found one of openai-chat",
        ),
    ] {
        let (answer, requests) = asked([Answers::with(200, body)]).await;
        let error = answer.unwrap_err();
        assert_eq!((error.kind(), requests.len()), ("invalid_response", 1));
        assert!(error.message().contains(why), "{error}");
    }
}

#[tokio::test]
async fn no_error_holds_the_key_even_where_a_server_repeats_it() {
    let body = r#"{"error":{"type":"authentication_error","message":"invalid x-api-key hunter2"}}"#;
    let (answer, _) = asked([Answers::with(401, body)]).await;
    let error = answer.unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    assert!(error.message().contains("invalid x-api-key [key]"), "{error}");
}

/// Its words are cut after 300 characters; a key in them is removed before.
#[tokio::test]
async fn no_part_of_a_key_is_left_where_the_words_of_a_server_are_cut() {
    let body = format!("{}hunter2", "-".repeat(296));
    let (answer, _) = asked([Answers::with(401, &body)]).await;
    let error = answer.unwrap_err();
    assert!(error.message().contains("--") && !error.message().contains("hun"), "{error}");
}

#[tokio::test]
async fn no_recording_holds_the_key_even_where_a_server_repeats_it() {
    let body = r#"{"error":{"type":"authentication_error","message":"invalid x-api-key hunter2"}}"#;
    let server = Server::start(vec![Answers::with(401, body)]).await;
    let exchanges = Arc::new(Mutex::new(Vec::new()));
    let exchanged = Arc::clone(&exchanges);
    let model =
        at(&server.url()).on_exchange(move |exchange| exchanged.lock().unwrap().push(exchange));
    ask(model).await.unwrap_err();
    let exchanges = std::mem::take(&mut *exchanges.lock().unwrap());
    let text = Recording::new(toolwright::provider::Provider::Anthropic, exchanges).to_string();
    assert!(text.contains("invalid x-api-key [key]") && !text.contains("hunter2"), "{text}");
}

#[tokio::test]
async fn every_exchange_and_every_retry_is_reported() {
    let limited = Answers::with(429, BUSY).header("retry-after-ms: 5");
    let server = Server::start(vec![limited, Answers::with(200, DONE)]).await;
    let (exchanges, retries) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let (exchanged, retried) = (Arc::clone(&exchanges), Arc::clone(&retries));
    let model = at(&server.url())
        .on_exchange(move |exchange| exchanged.lock().unwrap().push(exchange))
        .on_retry(move |it| retried.lock().unwrap().push(format!("{} {:?}", it.attempt, it.wait)));
    ask(model).await.unwrap();
    assert_eq!(*retries.lock().unwrap(), ["1 5ms"]);
    let exchanges = std::mem::take(&mut *exchanges.lock().unwrap());
    let text = Recording::new(toolwright::provider::Provider::Anthropic, exchanges).to_string();
    assert!(!text.contains("hunter2"), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[1].contains(r#""response":{"status":429,"headers":{"retry-after-ms":"5"},"body":"#)
    );
    assert!(
        lines[2].ends_with(&format!(r#""response":{{"status":200,"body":{DONE}}}}}"#)),
        "{text}"
    );
}
