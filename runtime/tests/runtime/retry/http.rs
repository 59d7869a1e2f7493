//! Errors of reqwest against servers on loopback that misbehave.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use toolwright::{ErrorClass, ToolError};

const NOT_STARTED: ErrorClass = ErrorClass::NotStarted { retry_after: None };

/// A server that answers one request with these bytes and hangs up; the address, with a key in it.
fn server(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a server on loopback");
    let address = listener.local_addr().expect("a server on loopback");
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a server on loopback");
        let mut request = [0; 4096];
        let _ = stream.read(&mut request).expect("a server on loopback");
        stream.write_all(answer.as_bytes()).expect("a server on loopback");
    });
    format!("http://{address}/?key=hidden")
}

async fn asked(address: &str) -> Result<serde_json::Value, reqwest::Error> {
    let client = reqwest::Client::builder().no_proxy().build()?;
    client.get(address).send().await?.error_for_status()?.json().await
}

async fn error(address: &str) -> ToolError {
    let error = ToolError::from(asked(address).await.expect_err("the server misbehaves"));
    assert!(error.source().is_some(), "the cause is kept");
    assert!(!format!("{error:?}").contains("hidden"), "the address is not: {error:?}");
    error
}

#[tokio::test]
async fn statuses_say_whether_anything_happened() {
    for (status, kind, class) in [
        ("429 Too Many Requests", "rate_limited", NOT_STARTED),
        ("503 Service Unavailable", "server_error", ErrorClass::Transient),
        ("500 Internal Server Error", "server_error", ErrorClass::Transient),
        ("404 Not Found", "not_found", ErrorClass::Final),
        ("403 Forbidden", "permission_denied", ErrorClass::Final),
        ("422 Unprocessable Entity", "http_error", ErrorClass::Final),
    ] {
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        let error = error(&server(answer.leak())).await;
        assert_eq!((error.kind(), error.classified()), (kind, class), "{status}");
    }
}

#[tokio::test]
async fn a_refused_connection_never_started() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = error(&format!("http://{address}/?key=hidden")).await;
    assert_eq!((error.kind(), error.classified()), ("unreachable", NOT_STARTED));
}

#[tokio::test]
async fn a_connection_that_is_lost_after_sending_may_have_acted() {
    for answer in ["", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"] {
        let error = error(&server(answer)).await;
        assert_eq!((error.kind(), error.classified()), ("connection_lost", ErrorClass::Transient));
    }
}

#[tokio::test]
async fn a_server_that_does_not_answer_may_have_acted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/?key=hidden", listener.local_addr().unwrap());
    let client = reqwest::Client::builder().no_proxy();
    let client = client.timeout(Duration::from_millis(20)).build().unwrap();
    let error = ToolError::from(client.get(address).send().await.unwrap_err());
    assert_eq!((error.kind(), error.classified()), ("no_response", ErrorClass::Transient));
}

#[tokio::test]
async fn what_cannot_be_sent_or_read_fails_for_good() {
    let wrong = error("http://[/?key=hidden").await;
    assert_eq!((wrong.kind(), wrong.classified()), ("invalid_request", ErrorClass::Final));
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nhtml";
    let unreadable = error(&server(answer)).await;
    assert_eq!(
        (unreadable.kind(), unreadable.classified()),
        ("invalid_response", ErrorClass::Final)
    );
}
