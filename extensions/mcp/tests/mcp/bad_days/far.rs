//! A server at a URL whose answers are too long, and one whose tools cannot all be used.

use std::time::Duration;

use serde_json::json;
use toolwright::ErrorClass;

use super::restarts::{Application, JSON, NOT_FOUND, Restarted};

/// Longer than what is taken, as one message and as an event of a stream.
#[tokio::test]
async fn an_answer_of_20_megabytes_ends_its_call_by_its_cause_over_http_too() {
    let text = "x".repeat(20 << 20);
    let message =
        json!({"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text", "text": text}]}});
    let whole = format!("{message}").leak();
    let event = format!("data: {message}\n\n").leak();
    for page in [("200 OK", JSON, &*whole), ("200 OK", "text/event-stream", &*event)] {
        let server = Restarted::start(NOT_FOUND, Some(page)).await;
        let application = Application::with(&server, "timeout = 60");
        let answer = tokio::time::timeout(Duration::from_secs(30), application.hello()).await;
        let answer = answer.expect(page.1);
        let error = answer.error().unwrap();
        let found = (error.kind(), error.classified());
        assert_eq!(found, ("answer_not_taken", ErrorClass::Unknown), "{}: {error}", page.1);
        assert!(error.message().ends_with("it is longer than 16 MiB"), "{error}");
        assert_eq!(server.calls(), 1);
        application.servers.close().await;
    }
}

#[tokio::test]
async fn a_tool_without_a_schema_is_left_out_over_http_too_and_the_rest_works() {
    let server = Restarted::start(NOT_FOUND, None).await;
    let tools = json!([
        {"name": "missing"},
        {"name": "null", "inputSchema": null},
        {"name": "true", "inputSchema": true},
        {"name": "hello", "inputSchema": {"type": "object"}},
    ]);
    server.tools.set(tools).unwrap();
    let application = Application::with(&server, "");
    let unusable = application.servers.register_all().await.unwrap();
    let refused: Vec<&str> = unusable.tools.iter().map(|it| &*it.tool).collect();
    assert_eq!(refused, ["missing", "null", "true"], "{unusable:?}");
    assert!(application.hello().await.text().contains("\nhello\n"));
    application.servers.close().await;
}

/// As one message and as an event of a stream.
#[tokio::test]
async fn a_tool_that_is_nested_too_deep_is_left_out_over_http_too_and_the_rest_works() {
    let deep = format!("{}1{}", r#"{"a":"#.repeat(1000), "}".repeat(1000));
    let list = format!(
        r#"{{"jsonrpc":"2.0","id":#,"result":{{"tools":[{{"name":"deep","inputSchema":{deep}}},{{"name":"hello","inputSchema":{{"type":"object"}}}}]}}}}"#
    );
    let event = format!("data: {list}\n\n");
    for (kind, page) in [(JSON, list), ("text/event-stream", event)] {
        let server = Restarted::start(NOT_FOUND, None).await;
        server.listed.set((kind, page)).unwrap();
        let application = Application::with(&server, "headers = { X-Team = \"red\" }");
        let unusable = application.servers.register_all().await.unwrap();
        let [refused] = &unusable.tools[..] else { panic!("{kind}: {unusable:?}") };
        assert_eq!(refused.tool, "deep");
        assert!(refused.reason.starts_with("it cannot be read: recursion limit"), "{refused:?}");
        assert!(application.hello().await.text().contains("\nhello\n"));
        application.servers.close().await;
        let teams = server.teams.lock().unwrap().clone();
        assert!(teams.iter().all(|it| it.as_deref() == Some("red")), "{teams:?}");
    }
}

/// The library would skip the event, and the call would wait for its time limit.
#[tokio::test]
async fn an_answer_in_a_stream_that_is_nested_too_deep_ends_its_call() {
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    let event = format!(
        "data: {{\"jsonrpc\":\"2.0\",\"id\":#,\"result\":{{\"content\":[],\"structuredContent\":{{\"a\":{deep}}}}}}}\n\n"
    );
    let page = ("200 OK", "text/event-stream", &*event.leak());
    let server = Restarted::start(NOT_FOUND, Some(page)).await;
    let application = Application::with(&server, "timeout = 60");
    let answer = tokio::time::timeout(Duration::from_secs(30), application.hello()).await;
    let answer = answer.expect("the call has an answer");
    let error = answer.error().unwrap();
    assert_eq!((error.kind(), error.classified()), ("answer_not_taken", ErrorClass::Unknown));
    assert!(error.message().contains("recursion limit"), "{error}");
    application.servers.close().await;
}

/// A server of JavaScript writes this when it cuts a description in the middle of an emoji.
#[tokio::test]
async fn a_tool_in_a_stream_whose_text_cannot_be_parsed_is_left_out_and_the_rest_works() {
    let list = r#"{"jsonrpc":"2.0","id":#,"result":{"tools":[{"name":"cut","description":"\ud83d","inputSchema":{"type":"object"}},{"name":"hello","inputSchema":{"type":"object"}}]}}"#;
    let server = Restarted::start(NOT_FOUND, None).await;
    server.listed.set(("text/event-stream", format!("data: {list}\n\n"))).unwrap();
    let application = Application::with(&server, "");
    let unusable = application.servers.register_all().await.unwrap();
    let [refused] = &unusable.tools[..] else { panic!("{unusable:?}") };
    assert_eq!(refused.tool, "cut");
    assert!(application.hello().await.text().contains("\nhello\n"));
    application.servers.close().await;
}

#[tokio::test]
async fn the_headers_of_the_configuration_are_on_every_request() {
    let server = Restarted::start(NOT_FOUND, None).await;
    let application = Application::with(&server, "headers = { X-Team = \"red\" }");
    assert!(!application.hello().await.is_error());
    application.servers.close().await;
    let teams = server.teams.lock().unwrap().clone();
    assert!(teams.len() > 2 && teams.iter().all(|it| it.as_deref() == Some("red")), "{teams:?}");
}
