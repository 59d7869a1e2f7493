//! The server: what it serves, what it refuses, and what it says at its end.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;
use crate::recording::{Exchange, RecordedRequest, RecordedResponse};
use toolwright::provider::Provider;

fn recording() -> Recording {
    let exchange = |request: &str, status: u16, response: &str| Exchange {
        request: RecordedRequest::new("POST", "/v1/messages", request).unwrap(),
        response: RecordedResponse::new(status, response),
    };
    let mut limited = exchange(r#"{"n":1}"#, 429, r#"{"type":"error"}"#);
    limited.response.headers.insert("retry-after".to_owned(), "7".to_owned());
    let exchanges = vec![limited, exchange(r#"{"n":1}"#, 200, r#"{"n":1.50,"in":"{{folder}}"}"#)];
    Recording::new(Provider::Anthropic, exchanges)
}

async fn replay() -> Replay {
    let placeholders = Placeholders::standard().value("folder", r"C:\work");
    Replay::of(recording(), placeholders).start().await.unwrap()
}

async fn post(replay: &Replay, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(replay.address).await.unwrap();
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: replay\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    response
}

#[tokio::test]
async fn responses_come_in_their_order_byte_for_byte() {
    let replay = replay().await;
    let limited = post(&replay, "/v1/messages", r#"{"n":1}"#).await;
    assert!(limited.starts_with("HTTP/1.1 429 "), "{limited}");
    assert!(limited.contains("\r\nretry-after: 7\r\n"), "{limited}");
    let answered = post(&replay, "/v1/messages", "{ \"n\": 1 }").await;
    assert!(answered.ends_with("\r\n\r\n{\"n\":1.50,\"in\":\"C:\\\\work\"}"), "{answered}");
    assert_eq!(replay.finish(), Ok(()));
}

#[tokio::test]
async fn a_request_that_differs_is_refused_and_so_is_all_after_it() {
    let replay = replay().await;
    let refused = post(&replay, "/v1/messages", r#"{"n":2}"#).await;
    assert!(refused.starts_with("HTTP/1.1 400 "), "{refused}");
    assert!(refused.contains("at /n: recorded 1, received 2"), "{refused}");
    let again = post(&replay, "/v1/messages", r#"{"n":1}"#).await;
    assert!(again.starts_with("HTTP/1.1 400 "), "{again}");
    let error = replay.finish().unwrap_err();
    assert_eq!(
        error.to_string(),
        "request 1 differs from the recorded one at /n: recorded 1, received 2"
    );
}

#[tokio::test]
async fn another_path_a_body_of_no_json_and_one_request_too_many_are_refused() {
    let elsewhere = replay().await;
    post(&elsewhere, "/v1/complete", r#"{"n":1}"#).await;
    assert_eq!(
        elsewhere.finish().unwrap_err().to_string(),
        "request 1 differs from the recorded one: recorded POST /v1/messages, received POST /v1/complete"
    );
    let broken = replay().await;
    post(&broken, "/v1/messages", r#"{"n":"#).await;
    let words = broken.finish().unwrap_err().to_string();
    assert!(words.starts_with("request 1 has a body that is not JSON: "), "{words}");
    let over = replay().await;
    for _ in 0..3 {
        post(&over, "/v1/messages", r#"{"n":1}"#).await;
    }
    assert_eq!(
        over.finish().unwrap_err().to_string(),
        "received POST /v1/messages as request 3, but the recording has 2 exchanges; record it anew"
    );
}

#[tokio::test]
async fn a_recording_that_was_not_used_whole_is_an_error() {
    let replay = replay().await;
    post(&replay, "/v1/messages", r#"{"n":1}"#).await;
    assert_eq!(
        replay.finish().unwrap_err().to_string(),
        "1 of 2 recorded exchanges were not asked for, the first of them POST /v1/messages"
    );
}

#[tokio::test]
async fn without_comparison_every_request_gets_the_next_response() {
    let replay = Replay::of(recording(), Placeholders::standard());
    let replay = replay.without_comparison().start().await.unwrap();
    for status in ["429", "200"] {
        let response = post(&replay, "/elsewhere", "no JSON").await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
    }
    assert_eq!(replay.finish(), Ok(()));
}
