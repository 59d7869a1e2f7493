//! What a call answers, by what its server answers.

use std::time::Duration;

use serde_json::json;
use toolwright::retry::RetryPolicy;
use toolwright::{Answer, ErrorClass, Executor, Registry};
use toolwright_openapi::OpenApi;

use crate::support::{HERE, Server, build, call, document, executor, json, response};

const PATHS: &str = "
  /a:
    post:
      operationId: op
      responses:
        '200':
          description: ok
          content: {application/json: {schema: {type: object, required: [id], properties: {id: {type: integer}, secret: {type: string, writeOnly: true}}}}}
        '201': {$ref: '#/components/responses/Made'}
        4XX: {description: no, content: {application/problem+json: {}}}
components: {responses: {Made: {description: made, content: {'*/*': {}}}}}
";

async fn answered(status: u16, media_type: &'static str, body: &'static [u8]) -> Answer {
    let server = Server::answering(move |_| response(status, media_type, body)).await;
    call(&executor(&document(&server.url, PATHS)), "op", json!({})).await
}

fn metadata(answer: &Answer) -> &serde_json::Map<String, serde_json::Value> {
    answer.metadata().expect("it has some")
}

/// The tools of a document, whose calls are made once.
fn once(api: OpenApi) -> Executor {
    let mut once = RetryPolicy::default();
    once.attempts = 1;
    let builder = Executor::builder(Registry::empty()).with(api).unrestricted();
    builder.retry(once).build().expect("an executor")
}

/// A server that accepts a connection, reads, and closes it without an answer.
async fn closing() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.readable().await.expect("a request");
            let _ = stream.try_read(&mut [0; 4096]);
        }
    });
    url
}

#[tokio::test]
async fn a_request_without_an_answer_says_whether_it_may_have_happened_and_what_to_check() {
    let hint = async |url: &str, method: &str| {
        let paths = PATHS.replace("post:", method);
        let api = OpenApi::load(document(url, &paths)).expect("a document").permit(HERE);
        let answer = call(&once(api), "op", json!({})).await;
        let error = answer.error().expect("no answer");
        (error.kind().to_owned(), error.next_action().unwrap_or_default().to_owned())
    };
    let (kind, words) = hint("http://127.0.0.1:1", "post:").await;
    assert_eq!(kind, "unreachable");
    let nothing = "nothing was done, because no connection to http://127.0.0.1:1 was made";
    assert!(words.starts_with(nothing) && words.contains("network or proxy"), "{words}");
    let url = closing().await;
    let (kind, words) = hint(&url, "post:").await;
    assert_eq!(kind, "connection_lost");
    assert!(words.starts_with(&format!("{url} may have done what the call asks for")), "{words}");
    assert_eq!(hint(&url, "get:").await, ("connection_lost".to_owned(), String::new()));
}

#[tokio::test]
async fn an_answer_that_breaks_its_schema_stays_and_is_marked() {
    let answer = answered(200, "application/json", br#"{"id":"seven"}"#).await;
    assert_eq!((answer.is_error(), &*answer.text()), (false, r#"{"id":"seven"}"#));
    assert_eq!(answer.structured(), Some(json!({"id": "seven"})));
    assert_eq!(
        metadata(&answer)["unexpected"],
        json!(["/id: found \"seven\", expected an integer"])
    );
    for (status, media_type, body, expected) in [
        (202, "application/json", &b"{}"[..], "the status 202 is not in the document"),
        (200, "text/html", b"<p>hi", "it is of `text/html`, expected `application/json`"),
        (200, "application/json", b"{", "it is not the JSON that it says it is"),
    ] {
        let answer = answered(status, media_type, body).await;
        assert_eq!(answer.text(), String::from_utf8_lossy(body));
        assert_eq!(metadata(&answer)["unexpected"], json!([expected]));
    }
    let answer = answered(200, "application/json", br#"{"id":7}"#).await;
    assert_eq!(metadata(&answer).get("unexpected"), None);
    assert_eq!(
        metadata(&answer)["untrusted"],
        json!({"api": "Tests", "operation": "POST /a", "source": "API `Tests`, POST /a"})
    );
}

#[tokio::test]
async fn texts_pictures_and_what_is_neither_have_a_form_each() {
    let answer = answered(201, "text/plain", "Grüße".as_bytes()).await;
    assert_eq!(answer.text(), "Grüße");
    let answer = answered(201, "application/zip", b"PK\xff\xfe").await;
    assert_eq!(answer.text(), "(4 bytes application/zip, left out)");
    let answer = answered(204, "text/plain", b"").await;
    assert_eq!(answer.text(), "(status 204, without content)");
    let answer = answered(201, "image/png", b"\x89PNG\r\n\x1a\n").await;
    assert!(
        answer.content().iter().any(|it| matches!(it, toolwright::Content::Image { .. })),
        "{:?}",
        answer.content()
    );
}

#[tokio::test]
async fn an_answer_without_an_end_is_read_up_to_the_limit_and_the_call_has_happened() {
    let server = Server::answering(|_| response(200, "application/json", vec![b'['; 100_000]));
    let server = server.await;
    let api = OpenApi::load(document(&server.url, PATHS))
        .expect("a document")
        .permit(HERE)
        .body_limit(1000);
    let answer = call(&build(api), "op", json!({})).await;
    assert!(!answer.is_error());
    assert_eq!(metadata(&answer)["cut"], json!(true));
    let text = answer.text();
    assert!(text.starts_with("[[[") && text.contains("longer than the 1000 bytes"), "{text}");
}

#[tokio::test]
async fn a_status_that_is_no_success_is_an_error_with_what_the_server_says() {
    let problem = br#"{"title":"No credit","detail":"30 of 50","balance":30}"#;
    let answer = answered(422, "application/problem+json", problem).await;
    let error = answer.error().expect("an error");
    assert_eq!(error.kind(), "refused_by_server");
    assert_eq!(error.message(), "POST /a answered 422 (Unprocessable Entity): No credit: 30 of 50");
    assert!(error.to_json().contains(r#""details":{"balance":30"#), "{}", error.to_json());
    assert_eq!(error.classified(), ErrorClass::Invalid);
}

#[tokio::test]
async fn a_pause_that_the_server_asks_for_is_part_of_the_error() {
    let server = Server::answering(|_| {
        let mut response = json(429, "{}");
        response.headers_mut().insert("retry-after", "7".parse().expect("a value"));
        response
    });
    let server = server.await;
    let api = OpenApi::load(document(&server.url, PATHS)).expect("a document").permit(HERE);
    let answer = call(&once(api), "op", json!({})).await;
    let pause = ErrorClass::NotStarted { retry_after: Some(Duration::from_secs(7)) };
    assert_eq!(answer.error().expect("an error").classified(), pause);
}

#[tokio::test]
async fn a_redirect_is_followed_on_the_same_server_alone() {
    let elsewhere = Server::start().await;
    let target = elsewhere.url.clone();
    let server = Server::answering(move |arrived| {
        let mut response = json(307, "");
        let target = match arrived.target.as_str() {
            "/a" => "/b".to_owned(),
            "/b" => format!("{target}/steal"),
            other => panic!("{other}"),
        };
        response.headers_mut().insert("location", target.parse().expect("a value"));
        response
    })
    .await;
    let answer = call(&executor(&document(&server.url, PATHS)), "op", json!({})).await;
    let error = answer.error().expect("an error");
    assert_eq!(error.kind(), "redirected");
    assert!(error.message().contains("/steal`, which is not followed"), "{error}");
    assert_eq!((server.arrived().len(), elsewhere.arrived().len()), (2, 0));
}

#[tokio::test]
async fn a_redirect_after_five_others_is_not_said_to_lead_to_another_server() {
    let server = Server::answering(|_| {
        let mut response = json(307, "");
        response.headers_mut().insert("location", "/a".parse().expect("a value"));
        response
    });
    let server = server.await;
    let answer = call(&executor(&document(&server.url, PATHS)), "op", json!({})).await;
    let error = answer.error().expect("an error");
    assert!(error.message().ends_with("or too many came before"), "{error}");
    assert_eq!(server.count(), 6);
}

#[tokio::test]
async fn pages_that_follow_are_named() {
    let server = Server::answering(|_| {
        let mut response = json(201, "[1]");
        let link = r#"</a?page=2>; rel="next""#;
        response.headers_mut().insert("link", link.parse().expect("a value"));
        response
    });
    let server = server.await;
    let answer = call(&executor(&document(&server.url, PATHS)), "op", json!({})).await;
    assert_eq!(answer.text(), "[1]\nlink: </a?page=2>; rel=\"next\"");
}
