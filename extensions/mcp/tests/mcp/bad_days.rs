//! The server over HTTP on a bad day: more users than it has room for, calls that nothing decides, pages of other sites.

use futures::future::BoxFuture;
use reqwest::header::HeaderMap;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use toolwright::journal::{Journal, MemoryStore};
use toolwright::{Executor, OnNoApprover, Registry, tool};
use toolwright_mcp::{McpServer, TokenCheck, TokenRefusal};

use crate::http::{ADAS, Served, Tokens, message};

/// Says hello.
#[tool(unlinked, effect = read, reads())]
async fn hello() -> &'static str {
    "hello"
}

/// Deletes one thing.
#[tool(unlinked, effect = idempotent, danger = critical, writes())]
async fn delete(
    /// Which.
    number: u32,
) {
    let _ = number;
}

/// Each token is that of a user of its own.
struct AnyUser;

impl TokenCheck for AnyUser {
    fn check<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<String, TokenRefusal>> {
        Box::pin(async move { Ok(token.to_owned()) })
    }
}

fn greeter() -> McpServer {
    McpServer::new(Executor::builder(Registry::of([HELLO]).unwrap()).build().unwrap())
}

/// A call of a request that belongs to no session.
async fn call(served: &Served, token: &str, tool: &str, arguments: Value) -> Response {
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": tool, "arguments": arguments, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        },
    }});
    let post = served.post(&call).bearer_auth(token).header("mcp-protocol-version", "2026-07-28");
    post.header("mcp-method", "tools/call").header("mcp-name", tool).send().await.unwrap()
}

#[tokio::test]
async fn more_users_than_there_is_room_for_are_served_one_after_the_other() {
    let served = Served::of(greeter().check_tokens(AnyUser)).await;
    for user in 0..1_100 {
        let answer = call(&served, &format!("user-{user}"), "hello", json!({})).await;
        assert_eq!(answer.status(), StatusCode::OK, "{user}");
    }
    let again = message(call(&served, "user-0", "hello", json!({})).await).await;
    assert_eq!(again["result"]["content"][0]["text"], "hello");
}

#[tokio::test]
async fn each_of_300_undecided_calls_is_filed_once() {
    let store = MemoryStore::new();
    let ada = toolwright::approval::ApproverKey::generate("ada").unwrap();
    let journal = Journal::new(store.clone()).trust("ada", ada.public());
    let journal = journal.on_no_approver(OnNoApprover::Park);
    let builder = Executor::builder(Registry::of([DELETE]).unwrap()).journal(journal);
    let served = Served::of(McpServer::new(builder.build().unwrap()).check_tokens(Tokens)).await;
    let filed = async |number: u32| {
        let answer = call(&served, ADAS, "delete", json!({"number": number})).await;
        let text = message(answer).await["result"]["content"][0]["text"].clone();
        let error: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
        error["details"]["call"].as_str().unwrap().to_owned()
    };
    let mut first = String::new();
    for number in 0..300 {
        first = filed(number).await;
    }
    assert_eq!(filed(299).await, first, "the last call was filed once more");
}

#[tokio::test]
async fn a_page_of_an_allowed_site_may_ask_and_read_and_one_of_another_may_not() {
    let site = "https://app.example";
    let served = Served::of(greeter().check_tokens(AnyUser).origin(site)).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let asked = async |origin: &str| {
        let asks = client.request(Method::OPTIONS, &served.url).header("origin", origin);
        let asks = asks.header("access-control-request-method", "POST");
        asks.header("access-control-request-headers", "authorization").send().await.unwrap()
    };
    let of = |headers: &HeaderMap, name: &str| {
        headers.get(name).map(|it| it.to_str().unwrap().to_lowercase()).unwrap_or_default()
    };
    let allowed = asked(site).await;
    assert_eq!(allowed.status(), StatusCode::NO_CONTENT);
    let headers = allowed.headers();
    assert_eq!(of(headers, "access-control-allow-origin"), site);
    assert_eq!(of(headers, "vary"), "origin");
    for name in ["authorization", "content-type", "mcp-session-id", "mcp-protocol-version"] {
        assert!(of(headers, "access-control-allow-headers").contains(name), "{name}");
    }
    for method in ["get", "post", "delete"] {
        assert!(of(headers, "access-control-allow-methods").contains(method), "{method}");
    }
    let other = asked("https://other.example").await;
    assert_eq!(other.status(), StatusCode::FORBIDDEN);
    assert_eq!(of(other.headers(), "access-control-allow-origin"), "");
    // A page has to read a refusal, too, to know why.
    let refused = client.post(&served.url).header("origin", site).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(of(refused.headers(), "access-control-allow-origin"), site);
    assert!(of(refused.headers(), "access-control-expose-headers").contains("mcp-session-id"));
}

#[tokio::test]
async fn params_that_do_not_fit_their_method_are_called_that_and_an_unknown_method_unknown() {
    let served = Served::of(greeter()).await;
    let id = served.session("none").await;
    let code = async |method: &str, params: Value| {
        let wrong = json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": params});
        let answer = served.post(&wrong).header("mcp-session-id", &id).send().await.unwrap();
        message(answer).await["error"].clone()
    };
    let wrong = code("tools/call", json!({"name": 5})).await;
    assert_eq!(wrong["code"], -32602, "{wrong}");
    assert!(wrong["message"].as_str().unwrap().contains("tools/call"), "{wrong}");
    assert_eq!(code("resources/read", json!({"uri": []})).await["code"], -32602);
    assert_eq!(code("tools/fly", json!({})).await["code"], -32601);
}

#[tokio::test]
async fn the_end_of_a_session_is_answered_without_content() {
    let served = Served::of(greeter()).await;
    let id = served.session("none").await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let deleted = client.delete(&served.url).header("mcp-session-id", &id).send().await.unwrap();
    assert_eq!(deleted.status(), StatusCode::NO_CONTENT);
}

/// Time passes at once where nothing else happens.
#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_given_up() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let served = Served::of(greeter()).await;
    let address = served.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: 100\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    // An hour of this clock; without a limit the body is waited for longer than that.
    let read = stream.read_to_string(&mut answer);
    tokio::time::timeout(std::time::Duration::from_secs(3600), read).await.unwrap().unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}
