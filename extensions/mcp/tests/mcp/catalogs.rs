//! A catalog for each user: which tools are listed and called depends on who asks.

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
    // A user without a profile has no session, and so no tool.
    let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let refused = served.post(&begin).bearer_auth("eve").send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::INTERNAL_SERVER_ERROR);
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
