//! What a server sees of attempts: one key. The server is real, and so is the clock.

use crate::support::ended;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use toolwright::journal::{Journal, MemoryStore, State, Store as _};
use toolwright::retry::RetryPolicy;
use toolwright::{
    Call, DynamicTool, Effect, ErrorClass, Executor, ExecutorBuilder, OnNoApprover, Registry,
    ToolContext, ToolError, tool,
};

use crate::calls::support::{answered, suspended};
use crate::support::{builder, call};

/// Answers every request but the first, and knows the key of each.
struct Server {
    address: SocketAddr,
    keys: Arc<Mutex<Vec<String>>>,
}

fn server() -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let keys: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&keys);
    std::thread::spawn(move || {
        // Those that get no answer stay connected.
        let mut silent = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let header = lines.map(Result::unwrap).take_while(|line| !line.is_empty());
            let mut keys =
                header.filter_map(|line| Some(line.strip_prefix("idempotency-key: ")?.to_owned()));
            let key = keys.next().unwrap();
            let is_first = {
                let mut seen = seen.lock().unwrap();
                seen.push(key);
                seen.len() == 1
            };
            if is_first {
                silent.push(stream);
                continue;
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\npaid").unwrap();
        }
    });
    Server { address, keys }
}

/// Invariant 9. A release that adds a parameter makes no other payment of one that was begun.
#[tokio::test]
async fn the_key_stays_when_the_tool_of_a_begun_call_gets_another_parameter() {
    let store = MemoryStore::new();
    let release = |properties: Value, is_busy: bool| {
        let tool =
            DynamicTool::new("pay_cents", "Pays.", schema(properties), move |_, _| async move {
                let wait = Some(Duration::from_secs(120));
                let busy = ToolError::new("busy", "try later")
                    .class(ErrorClass::NotStarted { retry_after: wait });
                if is_busy { Err(busy) } else { Ok("paid") }
            });
        let late: i64 = if is_busy { 0 } else { 121 };
        let builder = Executor::builder(Registry::of([tool.effect(Effect::Keyed)]).unwrap());
        builder
            .unrestricted()
            .journal(
                Journal::new(store.clone())
                    .on_no_approver(OnNoApprover::Deny)
                    .clock(move || Timestamp::UNIX_EPOCH + SignedDuration::from_secs(late)),
            )
            .build()
            .unwrap()
    };
    let first = release(json!({"cents": {"type": "integer"}}), true);
    let id = suspended(first.submit(&Call::new("pay_cents", r#"{"cents":5}"#)).await).call;
    let before = store.get(id).await.unwrap().unwrap();
    let currency = json!({"type": "string", "default": "eur"});
    let second = release(json!({"cents": {"type": "integer"}, "currency": currency}), false);
    second.worker().unwrap().sweep().await.unwrap();
    let after = store.get(id).await.unwrap().unwrap();
    assert_eq!(after.state, State::Succeeded);
    assert_eq!(after.shown, r#"{"cents":5,"currency":"eur"}"#);
    assert_eq!(after.idempotency_key, before.idempotency_key);
}

fn schema(properties: Value) -> Value {
    json!({
        "type": "object", "properties": properties, "required": ["cents"], "additionalProperties": false
    })
}

async fn pay(server: SocketAddr, context: &ToolContext) -> Result<String, ToolError> {
    let mut stream = TcpStream::connect(server).await?;
    let key = context.idempotency_key();
    let request = format!("POST /pay HTTP/1.1\r\nhost: {server}\r\nidempotency-key: {key}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = [0; 64];
    let length = stream.read(&mut answer).await?;
    let answer = String::from_utf8_lossy(&answer[..length]);
    Ok(answer.rsplit("\r\n").next().unwrap_or_default().to_owned())
}

/// Pays with a key.
#[tool(effect = keyed, timeout = "1s", retry(attempts = 5, delay = "1ms"))]
async fn pay_by_key(server: &SocketAddr, context: &ToolContext) -> Result<String, ToolError> {
    pay(*server, context).await
}

/// Pays once.
#[tool(effect = once, timeout = "1s", retry(attempts = 5, delay = "1ms"))]
async fn pay_once(server: &SocketAddr, context: &ToolContext) -> Result<String, ToolError> {
    pay(*server, context).await
}

fn bank(server: &Server) -> ExecutorBuilder {
    builder([PAY_BY_KEY, PAY_ONCE]).service(server.address).retry(RetryPolicy::NETWORK)
}

fn kept(server: &Server, store: &MemoryStore) -> ExecutorBuilder {
    bank(server).journal(Journal::new(store.clone()).on_no_approver(OnNoApprover::Deny))
}

#[tokio::test]
async fn a_keyed_tool_that_times_out_is_tried_again_and_the_server_sees_the_same_key() {
    for is_kept in [false, true] {
        let (server, store) = (server(), MemoryStore::new());
        let builder = if is_kept { kept(&server, &store) } else { bank(&server) };
        let answer = answered(ended(builder.build().unwrap().submit(&call("pay_by_key"))).await);
        assert_eq!(answer.text(), "paid", "kept: {is_kept}");
        let keys = server.keys.lock().unwrap().clone();
        assert!(keys.len() >= 2 && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    }
}

#[tokio::test]
async fn a_tool_that_acts_once_and_times_out_is_indeterminate_and_the_server_sees_it_once() {
    let (server, store) = (server(), MemoryStore::new());
    let executor = kept(&server, &store).build().unwrap();
    let waits = suspended(ended(executor.submit(&call("pay_once"))).await);
    assert_eq!(waits.state, State::Indeterminate);
    executor.worker().unwrap().sweep().await.unwrap();
    executor.worker().unwrap().resume(waits.call).await;
    assert_eq!(server.keys.lock().unwrap().len(), 1);

    let answer = bank(&self::server()).build().unwrap();
    let answer = ended(answer.call(&call("pay_once"))).await;
    assert_eq!(crate::support::kind(&answer), "timeout");
}

/// Nobody listens where it connects, so nothing was paid.
#[tokio::test]
async fn a_tool_that_acts_once_is_tried_again_where_no_connection_was_made() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = Server { address, keys: Arc::default() };
    let retries = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&retries);
    let executor = bank(&nobody).listen(move |event| {
        if let toolwright::ToolEventKind::Retrying { error, .. } = event.kind {
            heard.lock().unwrap().push(error.kind().to_owned());
        }
    });
    let answer = executor.timeout(Some(Duration::from_secs(1))).build().unwrap();
    assert_eq!(crate::support::kind(&answer.call(&call("pay_once")).await), "unreachable");
    assert_eq!(*retries.lock().unwrap(), ["unreachable"; 4]);
}
