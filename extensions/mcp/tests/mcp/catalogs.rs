//! A catalog for each user: which tools are listed and called depends on who asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::BoxFuture;
use reqwest::StatusCode;
use serde_json::{Value, json};
use toolwright::{Executor, Profiles, Registry, tool};
use toolwright_mcp::{McpServer, TokenCheck, TokenRefusal};

use crate::http::{Served, message};
use crate::support::{call, session, text};

/// Says hello.
#[tool(unlinked, effect = read, reads(), tags("read"))]
async fn hello() -> &'static str {
    "hello"
}

/// Removes everything.
#[tool(unlinked, effect = idempotent, reads())]
async fn remove_all() -> &'static str {
    "removed"
}

/// Each token is that of a user of its own.
struct AnyUser;

impl TokenCheck for AnyUser {
    fn check<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<String, TokenRefusal>> {
        Box::pin(async move { Ok(token.to_owned()) })
    }
}

fn server() -> McpServer {
    let registry = Registry::of([HELLO, REMOVE_ALL]).unwrap();
    let executor = Executor::builder(registry).unrestricted().build().unwrap();
    let profiles: Profiles =
        serde_json::from_str(r#"{"reader": ["tag:read"], "owner": ["*"]}"#).unwrap();
    McpServer::new(executor).profiles(profiles).profile_of(|user| match user {
        Some("ada") => "owner",
        Some("bob") => "reader",
        _ => "nobody",
    })
}

async fn ask(served: &Served, user: &str, session: &str, method: &str, params: Value) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": params});
    let post = served.post(&request).bearer_auth(user).header("mcp-session-id", session);
    message(post.send().await.unwrap()).await
}

#[tokio::test]
async fn each_user_sees_and_calls_the_tools_of_their_own_profile() {
    let served = Served::of(server().check_tokens(AnyUser)).await;
    for (user, tools) in [("ada", vec!["hello", "remove_all"]), ("bob", vec!["hello"])] {
        let session = served.session(user).await;
        let listed = ask(&served, user, &session, "tools/list", json!({})).await;
        let listed = listed["result"]["tools"].as_array().unwrap().clone();
        let names: Vec<&str> = listed.iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names, tools, "{user}");
        let call = json!({"name": "remove_all", "arguments": {}});
        let answer = ask(&served, user, &session, "tools/call", call).await.to_string();
        assert_eq!(answer.contains("removed"), user == "ada", "{user}: {answer}");
    }
}

/// With and without a session.
#[tokio::test]
async fn a_user_without_a_profile_is_refused_and_reads_which_one_is_missing() {
    let served = Served::of(server().check_tokens(AnyUser)).await;
    let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let single = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}}}});
    for (request, revision) in [(begin, "2025-11-25"), (single, "2026-07-28")] {
        let post = served.post(&request).header("mcp-protocol-version", revision);
        let refused = post.header("mcp-method", "tools/list").bearer_auth("eve").send().await;
        let refused = refused.unwrap();
        assert_eq!(refused.status(), StatusCode::FORBIDDEN, "{revision}");
        assert!(refused.headers().get("mcp-session-id").is_none());
        let words = "the user `eve` may use no tools of this server: it has no profile `nobody`, which it chooses for this \
                     user; ask its operator to give the user a profile, or sign in as another user";
        assert_eq!(refused.text().await.unwrap(), words, "{revision}");
    }
}

/// Requests without a session belong to one run of their user.
#[tokio::test]
async fn a_user_who_gets_another_profile_loses_the_tools_of_the_one_before() {
    let is_demoted = Arc::new(AtomicBool::new(false));
    let demoted = Arc::clone(&is_demoted);
    let server = server().profile_of(move |_| match demoted.load(Ordering::SeqCst) {
        true => "reader",
        false => "owner",
    });
    let served = Served::of(server.check_tokens(AnyUser)).await;
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "remove_all", "arguments": {}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}}}});
    let removes = async || {
        let post = served.post(&call).bearer_auth("ada").header("mcp-method", "tools/call");
        let post =
            post.header("mcp-name", "remove_all").header("mcp-protocol-version", "2026-07-28");
        message(post.send().await.unwrap()).await.to_string().contains("removed")
    };
    assert!(removes().await);
    is_demoted.store(true, Ordering::SeqCst);
    assert!(!removes().await);
}

#[tokio::test]
async fn a_session_over_pipes_does_not_begin_without_a_profile() {
    let (read, write) = tokio::io::split(tokio::io::duplex(64).0);
    let error = server().serve(read, write).await.unwrap_err().to_string();
    assert!(error.starts_with("a user without a name may use no tools"), "{error}");
    assert!(error.contains("no profile `nobody`"), "{error}");
}

#[tokio::test]
async fn the_user_whom_the_application_names_chooses_over_pipes() {
    let (client, _serving) = session(server().each_session(|run| run.user("bob"))).await;
    let listed = client.peer().list_all_tools().await.unwrap();
    assert_eq!(listed.len(), 1);
    let said = call(&client, "hello", json!({})).await.unwrap();
    assert_eq!(text(&said), "hello");
    let refused = call(&client, "remove_all", json!({})).await;
    assert!(refused.is_err() || refused.unwrap().is_error == Some(true));
}
