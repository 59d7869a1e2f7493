//! The server over HTTP on a bad day: more users than it has room for, calls that nothing decides, pages of other sites.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use reqwest::header::HeaderMap;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use toolwright::journal::{Filter, Journal, MemoryStore, Page, State, Store as _};
use toolwright::{Executor, OnNoApprover, Registry, tool};
use toolwright_mcp::{McpServer, TokenCheck, TokenRefusal};

use crate::http::{ADAS, Served, Tokens, message};
use crate::support::{self, session};

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

struct Slow {
    begun: Arc<Notify>,
    done: Arc<Notify>,
}

/// Works in silence.
#[tool(unlinked, effect = read, reads())]
async fn slow(of: &Slow) -> &'static str {
    of.begun.notify_one();
    of.done.notified().await;
    "done"
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

/// A run ends where there is no room for another user's, but not one with a call that waits: its approval would be void.
#[tokio::test]
async fn the_call_of_a_user_that_waits_is_not_displaced_by_1_100_others() {
    let (store, ada) =
        (MemoryStore::new(), toolwright::approval::ApproverKey::generate("ada").unwrap());
    let journal = Journal::new(store).trust("ada", ada.public()).on_no_approver(OnNoApprover::Park);
    let builder = Executor::builder(Registry::of([HELLO, DELETE]).unwrap()).journal(journal);
    let served = Served::of(McpServer::new(builder.build().unwrap()).check_tokens(AnyUser)).await;
    let filed = async || {
        let answer = call(&served, "ada", "delete", json!({"number": 1})).await;
        let text = message(answer).await["result"]["content"][0]["text"].clone();
        let error: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
        error["details"]["call"].as_str().unwrap().to_owned()
    };
    let first = filed().await;
    for user in 0..1_100 {
        let answer = call(&served, &format!("user-{user}"), "hello", json!({})).await;
        assert_eq!(answer.status(), StatusCode::OK, "{user}");
    }
    assert_eq!(filed().await, first, "the run of the call has ended");
}

/// A call that could not be collected later is not filed: each retry would file another.
#[tokio::test]
async fn a_call_that_finds_no_room_to_wait_is_cancelled_until_others_expire() {
    let (store, hour) = (MemoryStore::new(), Arc::new(AtomicI64::new(0)));
    let clock = Arc::clone(&hour);
    let ada = toolwright::approval::ApproverKey::generate("ada").unwrap();
    let journal = Journal::new(store.clone()).trust("ada", ada.public());
    let journal = journal.on_no_approver(OnNoApprover::Park).clock(move || {
        let hours = clock.load(Ordering::SeqCst);
        jiff::Timestamp::from_second(1_800_000_000 + 3600 * hours).unwrap()
    });
    let builder = Executor::builder(Registry::of([DELETE]).unwrap()).journal(journal);
    let (client, _serving) = session(McpServer::new(builder.build().unwrap())).await;
    let kind = async |number: u32| {
        let answer = support::call(&client, "delete", json!({"number": number})).await.unwrap();
        support::error(&answer)["error_type"].as_str().unwrap().to_owned()
    };
    for number in 0..1024 {
        assert_eq!(kind(number).await, "approval_required", "{number}");
    }
    assert_eq!(kind(1024).await, "too_many_waiting");
    let calls = store.list(&Filter::default(), Page::first(2000)).await.unwrap().calls;
    let open = calls.iter().filter(|it| it.state == State::Pending).count();
    assert_eq!((calls.len(), open), (1025, 1024), "the one without room waits for nobody");
    // The first call is known, room or not.
    assert_eq!(kind(0).await, "approval_required");
    hour.store(24 * 365, Ordering::SeqCst);
    assert_eq!(kind(1025).await, "approval_required");
}

/// A user alone does not take the connections of all others.
#[tokio::test]
async fn the_requests_of_one_user_that_are_under_way_are_counted() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let served = Served::of(greeter().check_tokens(AnyUser)).await;
    let address = served.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer ada\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: 100\r\n\r\n{{"
    );
    let begin = async || {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    };
    let mut open = Vec::new();
    for _ in 0..129 {
        open.push(begin().await);
    }
    let first = {
        let status = open.iter_mut().map(|stream| {
            Box::pin(async {
                let mut status = [0; 12];
                stream.read_exact(&mut status).await.unwrap();
                String::from_utf8_lossy(&status).into_owned()
            })
        });
        futures::future::select_all(status).await.0
    };
    assert_eq!(first, "HTTP/1.1 429");
    let bobs = call(&served, "bob", "hello", json!({})).await;
    assert_eq!(bobs.status(), StatusCode::OK);
    drop(open);
    for _ in 0..200 {
        if call(&served, "ada", "hello", json!({})).await.status() == StatusCode::OK {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the places of requests that have ended are still taken");
}

/// A call may work in silence for longer than a session lasts in which nothing happens.
#[tokio::test]
async fn a_session_with_a_call_under_way_lasts_and_one_without_ends() {
    let (begun, done) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let services = Slow { begun: Arc::clone(&begun), done: Arc::clone(&done) };
    let builder = Executor::builder(Registry::of([SLOW]).unwrap()).service(services);
    let executor = builder.timeout(None).build().unwrap();
    let served = Served::of(McpServer::new(executor)).await;
    let (busy, idle) = (served.session("none").await, served.session("none").await);
    let request =
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "slow"}});
    let slow = tokio::spawn(served.post(&request).header("mcp-session-id", &busy).send());
    begun.notified().await;
    tokio::time::pause();
    tokio::time::sleep(Duration::from_secs(2 * 60 * 60)).await;
    tokio::time::resume();
    done.notify_one();
    let answer = message(slow.await.unwrap().unwrap()).await;
    assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
    let ping = json!({"jsonrpc": "2.0", "id": 3, "method": "ping"});
    let status = async |session: &str| {
        served.post(&ping).header("mcp-session-id", session).send().await.unwrap().status()
    };
    assert_eq!(status(&busy).await, StatusCode::OK);
    assert_eq!(status(&idle).await, StatusCode::NOT_FOUND);
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

/// Whatever its params are: a client learns that it has to do otherwise.
#[tokio::test]
async fn a_method_that_the_revision_does_not_have_is_unknown() {
    let served = Served::of(greeter()).await;
    let id = served.session("none").await;
    let listen =
        json!({"jsonrpc": "2.0", "id": 2, "method": "subscriptions/listen", "params": {"x": 1}});
    let answer = served.post(&listen).header("mcp-session-id", &id).send().await.unwrap();
    assert_eq!(message(answer).await["error"]["code"], -32601);
    for method in ["resources/subscribe", "resources/unsubscribe", "logging/setLevel"] {
        let request = json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }}});
        let post = served.post(&request).header("mcp-protocol-version", "2026-07-28");
        let answer = post.header("mcp-method", method).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{method}");
        assert_eq!(message(answer).await["error"]["code"], -32601, "{method}");
    }
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
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: 100\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    // An hour of this clock; without a limit the body is waited for longer than that.
    let read = stream.read_to_string(&mut answer);
    tokio::time::timeout(Duration::from_secs(3600), read).await.unwrap().unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

/// Every place of a connection is taken by a body that does not come; the next request waits for their end, and no longer.
#[tokio::test(start_paused = true)]
async fn as_many_slow_bodies_as_there_are_connections_block_the_others_for_their_time_alone() {
    use tokio::io::AsyncWriteExt as _;
    let served = Served::of(greeter()).await;
    let address = served.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: 100\r\n\r\n{{"
    );
    let mut open = Vec::new();
    for _ in 0..512 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        open.push(stream);
    }
    let begun = tokio::time::Instant::now();
    let answer =
        tokio::time::timeout(Duration::from_secs(3600), call(&served, "ada", "hello", json!({})));
    assert_eq!(answer.await.unwrap().status(), StatusCode::OK);
    assert!(begun.elapsed() < Duration::from_secs(60), "after {:?}", begun.elapsed());
}
