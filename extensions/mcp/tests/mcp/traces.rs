//! The trace to which a call belongs, from a client and to a server.

use std::sync::{Arc, Mutex};

use rmcp::model::{MetaObject, RequestMetaObject, RequestParamsMeta as _};
use serde_json::json;
use toolwright::{Call, Executor, Registry, tool};
use toolwright_mcp::{McpServer, McpServers, TraceContext};

use crate::client::configuration;
use crate::support::{request, session};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Says hello.
#[tool(unlinked, effect = read, reads())]
async fn hello() -> &'static str {
    "hello"
}

#[tokio::test]
async fn a_server_is_named_the_trace_of_the_call_that_it_gets() {
    let folder = tempfile::tempdir().unwrap();
    let servers = McpServers::new(configuration(folder.path(), "trust = \"annotations\""))
        .trace_by(|| TraceContext::new(PARENT, Some("vendor=1")));
    let builder = Executor::builder(Registry::empty()).unrestricted();
    let executor = builder.with(servers.clone()).build().unwrap();
    let meta = executor.call(&Call::new("peer__meta", "{}")).await.text().into_owned();
    assert!(meta.contains(&format!("\"traceparent\":\"{PARENT}\"")), "{meta}");
    assert!(meta.contains("\"tracestate\":\"vendor=1\""), "{meta}");
    servers.close().await;
}

/// A client could name anything: what is no trace context makes no span.
#[tokio::test]
async fn the_call_of_a_client_is_in_a_span_of_the_trace_that_it_names() {
    let traces = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&traces);
    let executor = Executor::builder(Registry::of([HELLO]).unwrap()).build().unwrap();
    let server = McpServer::new(executor).trace_by(move |trace| {
        noted.lock().unwrap().push(trace.clone());
        tracing::Span::none()
    });
    let (client, _serving) = session(server).await;
    for parent in [PARENT, "00-nonsense"] {
        let mut call = request("hello", json!({}));
        let mut meta = MetaObject::default();
        meta.insert("traceparent".to_owned(), parent.into());
        call.set_meta(RequestMetaObject::from(meta));
        client.peer().call_tool_once(call).await.unwrap();
    }
    assert_eq!(*traces.lock().unwrap(), [TraceContext::new(PARENT, None).unwrap()]);
}
