//! The server over HTTP, with raw requests and with the client of this crate.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolwright::journal::{Journal, MemoryStore, State, Store as _};
use toolwright::{Call, CancellationToken, Executor, OnNoApprover, Registry, tool};
use toolwright_mcp::{McpConfig, McpServer, McpServers, TokenCheck, TokenRefusal};

/// The token of ada is a variable that cargo sets for tests.
pub const ADAS: &str = env!("CARGO_MANIFEST_DIR");

pub struct Tokens;

impl TokenCheck for Tokens {
    fn check<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<String, TokenRefusal>> {
        Box::pin(async move {
            match token {
                ADAS => Ok("ada".to_owned()),
                "bobs" => Ok("bob".to_owned()),
                "weak" => Err(TokenRefusal::MissingScope("tools".to_owned())),
                "later" => Err(TokenRefusal::Unavailable),
                _ => Err(TokenRefusal::Invalid),
            }
        })
    }
}

/// Name the user.
#[tool(unlinked, effect = read, reads())]
async fn name_user(user: &User) -> String {
    user.0.clone()
}

struct User(String);

/// Delete everything.
#[tool(unlinked, effect = idempotent, danger = critical, writes())]
async fn delete_all() {}

pub struct Served {
    pub url: String,
    pub ended: CancellationToken,
    client: reqwest::Client,
    serving: Option<tokio::task::JoinHandle<()>>,
}

impl Served {
    pub async fn of(server: McpServer) -> Self {
        Self::at("127.0.0.1:0", server).await
    }

    async fn at(address: &str, server: McpServer) -> Self {
        let bound = server.http(address.parse().unwrap()).unwrap().bind().await.unwrap();
        let (url, ended) = (bound.url(), CancellationToken::new());
        let serving = Some(tokio::spawn(bound.serve_until(ended.clone())));
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { url, ended, client, serving }
    }

    /// Ends the server, and waits until it has ended.
    pub async fn end(mut self) {
        self.ended.cancel();
        self.serving.take().unwrap().await.unwrap();
    }

    pub fn post(&self, message: &Value) -> RequestBuilder {
        let post = self.client.post(&self.url).body(message.to_string());
        post.header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
    }

    /// Begins a session and returns its id.
    pub async fn session(&self, token: &str) -> String {
        let begun = self.post(&initialize()).bearer_auth(token).send().await.unwrap();
        assert_eq!(begun.status(), StatusCode::OK);
        let id = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.post(&ready).bearer_auth(token).header("mcp-session-id", &id).send().await.unwrap();
        id
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    }})
}

fn calling(tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": {}}})
}

/// The message of an answer with the id 2, of a body or of a stream of events.
pub async fn message(response: Response) -> Value {
    let text = response.text().await.unwrap();
    let lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    let mut messages = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages.find(|it| it["id"] == 2).unwrap_or_else(|| panic!("{text}"))
}

fn server() -> McpServer {
    let registry = Registry::of([NAME_USER, DELETE_ALL]).unwrap();
    let executor = Executor::builder(registry).per_run::<User>().build().unwrap();
    McpServer::new(executor)
        .each_session_of(|run, user| run.with(User(user.unwrap_or("none").to_owned())))
}

fn with_tokens() -> McpServer {
    let url = "https://tools.example/mcp";
    server().check_tokens(Tokens).protected_resource(url, ["https://login.example"])
}

/// What is in the WWW-Authenticate header.
fn challenge(headers: &HeaderMap) -> &str {
    headers[WWW_AUTHENTICATE].to_str().unwrap()
}

#[tokio::test]
async fn our_client_calls_the_tools_of_our_server_with_the_token_of_a_variable() {
    let served = Served::of(with_tokens()).await;
    let called = async |token_env: &str| {
        let url = &served.url;
        let text = format!(
            "[servers.near]\nurl = \"{url}\"\ntoken_env = \"{token_env}\"\ntrust = \"annotations\""
        );
        let servers = McpServers::new(McpConfig::from_toml(&text).unwrap());
        let builder = Executor::builder(Registry::empty()).unrestricted().with(servers.clone());
        let executor = builder.build().unwrap();
        let answer = executor.call(&Call::new("near__name_user", "{}")).await;
        servers.close().await;
        answer.text().into_owned()
    };
    let named = called("CARGO_MANIFEST_DIR").await;
    assert!(named.contains("\nada\n"), "{named}");
    let refused = called("CARGO_PKG_NAME").await;
    assert!(refused.contains("`near` cannot be used: no session could begin"), "{refused}");
    let missing = called("NO_SUCH_VARIABLE_IS_SET").await;
    assert!(missing.contains("found no token in NO_SUCH_VARIABLE_IS_SET"), "{missing}");
}

#[tokio::test]
async fn one_user_with_too_many_sessions_leaves_room_for_others() {
    let served = Served::of(with_tokens()).await;
    let first = served.session("bobs").await;
    for _ in 1..256 {
        served.session("bobs").await;
    }
    let begin = async |token: &str| {
        served.post(&initialize()).bearer_auth(token).send().await.unwrap().status()
    };
    assert_eq!(begin("bobs").await, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(begin(ADAS).await, StatusCode::OK);
    let end = served.client.delete(&served.url).bearer_auth("bobs").header("mcp-session-id", first);
    assert!(end.send().await.unwrap().status().is_success());
    assert_eq!(begin("bobs").await, StatusCode::OK);
}

#[tokio::test]
async fn a_request_without_a_token_that_counts_reaches_no_tool() {
    let served = Served::of(with_tokens()).await;
    let metadata =
        "resource_metadata=\"https://tools.example/.well-known/oauth-protected-resource/mcp\"";
    let none = served.post(&initialize()).send().await.unwrap();
    assert_eq!(none.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(challenge(none.headers()), format!("Bearer {metadata}"));
    for (token, status, error) in [
        ("wrong", StatusCode::UNAUTHORIZED, "error=\"invalid_token\""),
        ("weak", StatusCode::FORBIDDEN, "error=\"insufficient_scope\", scope=\"tools\""),
    ] {
        let refused = served.post(&initialize()).bearer_auth(token).send().await.unwrap();
        assert_eq!(refused.status(), status);
        assert_eq!(challenge(refused.headers()), format!("Bearer {error}, {metadata}"));
    }
    let later = served.post(&initialize()).bearer_auth("later").send().await.unwrap();
    assert_eq!(later.status(), StatusCode::SERVICE_UNAVAILABLE);

    let origin = served.url.strip_suffix("/mcp").unwrap();
    for path in ["", "/mcp"] {
        let at = format!("{origin}/.well-known/oauth-protected-resource{path}");
        let text = served.client.get(at).send().await.unwrap().text().await.unwrap();
        let described: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(described["resource"], "https://tools.example/mcp");
        assert_eq!(described["authorization_servers"], json!(["https://login.example"]));
    }
    let elsewhere = served.client.get(format!("{origin}/other")).send().await.unwrap();
    assert_eq!(elsewhere.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_session_is_that_of_the_user_who_began_it() {
    let served = Served::of(with_tokens()).await;
    let id = served.session(ADAS).await;
    let call = |token: &str| {
        let call = served.post(&calling("name_user")).header("mcp-session-id", &id);
        call.bearer_auth(token).send()
    };
    let named = message(call(ADAS).await.unwrap()).await;
    assert_eq!(named["result"]["content"][0]["text"], "ada");
    assert_eq!(call("bobs").await.unwrap().status(), StatusCode::NOT_FOUND);
    for method in [Method::GET, Method::DELETE] {
        let other = served.client.request(method.clone(), &served.url).bearer_auth("bobs");
        let other = other.header("accept", "text/event-stream").header("mcp-session-id", &id);
        assert_eq!(other.send().await.unwrap().status(), StatusCode::NOT_FOUND, "{method}");
    }
    let named = message(call(ADAS).await.unwrap()).await;
    assert_eq!(named["result"]["content"][0]["text"], "ada");
}

/// A token that a test lets expire.
#[derive(Clone, Default)]
struct Expiring(Arc<AtomicBool>);

impl TokenCheck for Expiring {
    fn check<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<String, TokenRefusal>> {
        let is_expired = self.0.load(Ordering::SeqCst);
        Box::pin(async move {
            if is_expired { Err(TokenRefusal::Invalid) } else { Ok("ada".to_owned()) }
        })
    }
}

#[derive(Clone, Default)]
struct Steps {
    begun: Arc<Notify>,
    end: Arc<Notify>,
}

/// Work until the test says so.
#[tool(unlinked, effect = read, reads())]
async fn work(steps: &Steps) -> &'static str {
    steps.begun.notify_one();
    steps.end.notified().await;
    "done"
}

#[tokio::test]
async fn a_call_ends_though_its_token_has_expired_and_no_request_passes_after_it() {
    let (token, steps) = (Expiring::default(), Steps::default());
    let builder = Executor::builder(Registry::of([WORK]).unwrap()).service(steps.clone());
    let server = McpServer::new(builder.build().unwrap()).check_tokens(token.clone());
    let served = Served::of(server).await;
    let id = served.session("hers").await;
    let send = || {
        let call = served.post(&calling("work")).header("mcp-session-id", &id);
        call.bearer_auth("hers").send()
    };
    let expire = async {
        steps.begun.notified().await;
        token.0.store(true, Ordering::SeqCst);
        let refused = send().await.unwrap();
        steps.end.notify_one();
        refused
    };
    let both = futures::future::join(async { message(send().await.unwrap()).await }, expire);
    let in_time = tokio::time::timeout(Duration::from_secs(20), both);
    let (called, refused) = in_time.await.unwrap();
    assert_eq!(called["result"]["content"][0]["text"], "done");
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(challenge(refused.headers()), "Bearer error=\"invalid_token\"");
    let gone = served.client.delete(&served.url).header("mcp-session-id", &id).bearer_auth("hers");
    assert_eq!(gone.send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
}

/// Requests of the later revision belong to no session, so that none begins past the limit, or with the run of another.
#[tokio::test]
async fn a_request_of_the_later_revision_begins_no_session() {
    let served = Served::of(server()).await;
    let mut begin = initialize();
    begin["params"]["protocolVersion"] = "2026-07-28".into();
    let post = served.post(&begin).header("mcp-protocol-version", "2026-07-28");
    let answer = post.header("mcp-method", "initialize").send().await.unwrap();
    assert!(answer.headers().get("mcp-session-id").is_none(), "{:?}", answer.headers());
    served.session("").await;
}

/// A page of another site whose name was made to lead to this machine.
#[tokio::test]
async fn a_request_for_another_host_or_from_another_site_is_refused() {
    let served = Served::of(server()).await;
    let with =
        |name: &'static str, value: &str| served.post(&initialize()).header(name, value).send();
    for (name, value) in
        [("host", "evil.example"), ("origin", "http://evil.example"), ("origin", "null")]
    {
        assert_eq!(with(name, value).await.unwrap().status(), StatusCode::FORBIDDEN, "{value}");
    }
    let own = served.url.strip_suffix("/mcp").unwrap();
    assert_eq!(with("origin", own).await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn a_server_that_other_machines_reach_takes_the_host_and_the_sites_that_it_names() {
    let server = with_tokens().host("tools.example");
    let send = async |served: &Served, host: &str, origin: Option<&str>| {
        let port = served.url.rsplit_once(':').unwrap().1;
        let post = served.client.post(format!("http://127.0.0.1:{port}"));
        let post = post.header("content-type", "application/json").body(initialize().to_string());
        let post = post.header("accept", "application/json, text/event-stream");
        let post = post.header("host", host).bearer_auth(ADAS);
        let post = origin.iter().fold(post, |post, origin| post.header("origin", *origin));
        post.send().await.unwrap().status()
    };
    let served = Served::at("0.0.0.0:0", server.clone()).await;
    assert_eq!(send(&served, "tools.example", None).await, StatusCode::OK);
    assert_eq!(send(&served, "127.0.0.1", None).await, StatusCode::FORBIDDEN);
    let site = Some("https://app.example");
    assert_eq!(send(&served, "tools.example", site).await, StatusCode::FORBIDDEN);
    let served = Served::at("0.0.0.0:0", server.origin("https://app.example:443")).await;
    assert_eq!(send(&served, "tools.example", site).await, StatusCode::OK);
    let other = Some("https://evil.example");
    assert_eq!(send(&served, "tools.example", other).await, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused() {
    let served = Served::of(server()).await;
    let mut long = initialize();
    long["params"]["clientInfo"]["name"] = "x".repeat(5 << 20).into();
    // The server may close the connection while the rest is sent.
    if let Ok(refused) = served.post(&long).send().await {
        assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
    }
    assert_eq!(served.post(&initialize()).send().await.unwrap().status(), StatusCode::OK);
}

#[test]
fn an_address_that_other_machines_reach_needs_a_check_and_a_name() {
    let everywhere = "0.0.0.0:0".parse().unwrap();
    let error = server().http(everywhere).unwrap_err();
    assert_eq!(error.problems.len(), 2, "{error}");
    assert!(error.to_string().contains(".check_tokens(…)"), "{error}");
    let error = with_tokens().http(everywhere).unwrap_err();
    assert_eq!(error.problems.len(), 1, "{error}");
    assert!(error.to_string().contains(".host(…)"), "{error}");
    assert!(with_tokens().host("tools.example").http(everywhere).is_ok());
}

fn parking(store: &MemoryStore) -> McpServer {
    let builder = Executor::builder(Registry::of([DELETE_ALL]).unwrap());
    let ada = toolwright::approval::ApproverKey::generate("ada").unwrap();
    let journal = Journal::new(store.clone()).trust("ada", ada.public());
    let journal = journal.on_no_approver(OnNoApprover::Park);
    McpServer::new(builder.journal(journal).build().unwrap())
}

fn waiting(message: &Value) -> toolwright::CallId {
    let text = message["result"]["content"][0]["text"].as_str().unwrap();
    let error: Value = serde_json::from_str(text).unwrap();
    assert_eq!(error["error_type"], "approval_required", "{error}");
    error["details"]["call"].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_client_that_deletes_its_session_ends_the_calls_that_wait_in_it() {
    let store = MemoryStore::new();
    let served = Served::of(parking(&store)).await;
    let id = served.session("none").await;
    let call = served.post(&calling("delete_all")).header("mcp-session-id", &id);
    let call = waiting(&message(call.send().await.unwrap()).await);
    assert_eq!(store.get(call).await.unwrap().unwrap().state, State::Pending);
    let deleted = served.client.delete(&served.url).header("mcp-session-id", &id);
    assert!(deleted.send().await.unwrap().status().is_success());
    let ended = async {
        while store.get(call).await.unwrap().unwrap().state != State::Cancelled {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ended).await.unwrap();
    let gone = served.post(&calling("delete_all")).header("mcp-session-id", &id);
    assert_eq!(gone.send().await.unwrap().status(), StatusCode::NOT_FOUND);
}

/// From 2026-07-28 on, a request belongs to no session.
#[tokio::test]
async fn a_call_that_waits_goes_on_with_the_next_request_of_its_user_where_there_are_no_sessions() {
    let store = MemoryStore::new();
    let served = Arc::new(Served::of(parking(&store).check_tokens(Tokens)).await);
    let call = async |token: &str| {
        let mut call = calling("delete_all");
        call["params"]["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        });
        let post =
            served.post(&call).bearer_auth(token).header("mcp-protocol-version", "2026-07-28");
        let post = post.header("mcp-method", "tools/call").header("mcp-name", "delete_all");
        waiting(&message(post.send().await.unwrap()).await)
    };
    let first = call(ADAS).await;
    assert_eq!(call(ADAS).await, first);
    assert_ne!(call("bobs").await, first);
    assert_eq!(store.get(first).await.unwrap().unwrap().state, State::Pending);
}

#[tokio::test]
async fn what_is_no_message_of_the_protocol_is_refused_and_the_session_goes_on() {
    let served = Served::of(server()).await;
    let id = served.session("none").await;
    for wrong in [json!([calling("name_user")]), json!({"jsonrpc": "2.0"}), json!("text")] {
        let refused = served.post(&wrong).header("mcp-session-id", &id).send().await.unwrap();
        assert!(refused.status().is_client_error(), "{wrong}: {}", refused.status());
    }
    let named = served.post(&calling("name_user")).header("mcp-session-id", &id);
    let named = message(named.send().await.unwrap()).await;
    assert_eq!(named["result"]["content"][0]["text"], "none");
    let unknown = served.post(&calling("name_user")).header("mcp-session-id", "no-such-session");
    assert_eq!(unknown.send().await.unwrap().status(), StatusCode::NOT_FOUND);
}

/// Over a stream, pages are written as texts made once; over HTTP, by the library.
#[tokio::test]
async fn a_list_is_the_same_over_a_stream_and_over_http() {
    let (client, _serving) = crate::support::session(server().page_size(1)).await;
    let served = Served::of(server().page_size(1)).await;
    let id = served.session("none").await;
    let mut cursor = Value::Null;
    let mut pages = 0;
    loop {
        let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"cursor": cursor}});
        let post = served.post(&list).header("mcp-session-id", &id).send().await.unwrap();
        let over_http = message(post).await["result"].take();
        let params = cursor.as_str().map(|it| {
            rmcp::model::PaginatedRequestParams::default().with_cursor(Some(it.to_owned()))
        });
        let over_stream = client.peer().list_tools(params).await.unwrap();
        let mut over_stream = serde_json::to_value(over_stream).unwrap();
        // The client reads what is absent as complete.
        over_stream.as_object_mut().unwrap().remove("resultType");
        assert_eq!(over_stream, over_http);
        pages += 1;
        cursor = over_http["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(pages, 2);
}

/// Each page that was listed is remembered as a text.
#[tokio::test]
async fn a_cursor_that_begins_no_page_is_refused() {
    let (client, _serving) = crate::support::session(server().page_size(2)).await;
    let list = async |cursor: String| {
        let params = rmcp::model::PaginatedRequestParams::default().with_cursor(Some(cursor));
        client.peer().list_tools(Some(params)).await
    };
    let (one, _other) = crate::support::session(server().page_size(1)).await;
    let next = one.peer().list_tools(None).await.unwrap().next_cursor.unwrap();
    let refused = list(next).await.unwrap_err();
    assert!(refused.to_string().contains("the cursor is of no list"), "{refused}");
}

/// A system that holds a piece of an answer back until the piece before is acknowledged delays every call by 40 ms. The
/// fastest of many calls does not depend on what else the machine does.
#[tokio::test]
async fn no_piece_of_an_answer_waits_until_the_one_before_is_acknowledged() {
    let served = Served::of(with_tokens()).await;
    let session = served.session(ADAS).await;
    let mut fastest = Duration::MAX;
    for _ in 0..40 {
        let start = Instant::now();
        let post = served.post(&calling("name_user")).bearer_auth(ADAS);
        message(post.header("mcp-session-id", &session).send().await.unwrap()).await;
        fastest = fastest.min(start.elapsed());
    }
    assert!(fastest < Duration::from_millis(30), "{fastest:?}");
}
