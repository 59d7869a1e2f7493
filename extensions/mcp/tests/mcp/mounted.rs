//! The server as a service of another HTTP server.

use std::convert::Infallible;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Bytes};
use hyper::{Request, Response, StatusCode};
use serde_json::json;
use toolwright::{Executor, Registry, tool};
use toolwright_mcp::{HttpServer, McpServer, McpService};
use tower_service::Service;

/// Says hello.
#[tool(unlinked, effect = read, reads())]
async fn hello() -> &'static str {
    "hello"
}

fn server() -> HttpServer {
    let executor = Executor::builder(Registry::of([HELLO]).unwrap()).build().unwrap();
    McpServer::new(executor).http("127.0.0.1:8080".parse().unwrap()).unwrap()
}

/// What axum asks of a service that is routed to.
fn check<S, B>(service: S) -> S
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
{
    service
}

fn post(path: &str, host: &str) -> Request<Full<Bytes>> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    Request::post(path)
        .header("host", host)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(Full::new(Bytes::from(body.to_string())))
        .unwrap()
}

async fn status(service: &mut McpService, path: &str, host: &str) -> (StatusCode, String) {
    let answer = service.call(post(path, host)).await.unwrap();
    let status = answer.status();
    let mut body = answer.into_body();
    // A stream has no end: its first piece is enough.
    let first = body.frame().await.and_then(|it| it.unwrap().into_data().ok()).unwrap_or_default();
    (status, String::from_utf8_lossy(&first).into_owned())
}

#[tokio::test]
async fn a_mounted_server_answers_at_whatever_path_and_checks_what_it_checks_otherwise() {
    let mut service = check(server().mount().unwrap());
    let (answered, _) = status(&mut service.clone(), "/tools/mcp", "127.0.0.1:8080").await;
    assert_eq!(answered, StatusCode::OK);
    let (refused, words) = status(&mut service, "/tools/mcp", "evil.example").await;
    assert_eq!(refused, StatusCode::FORBIDDEN, "{words}");
    service.end().await;
}
