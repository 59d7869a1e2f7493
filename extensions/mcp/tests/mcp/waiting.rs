//! Calls that wait for a person while their client, or its server, is gone for a moment.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;
use toolwright::approval::{ApprovalService, ApproverKey, Statement};
use toolwright::journal::{Filter, Journal, MemoryStore, Page, State, Store as _};
use toolwright::{CallId, Executor, OnNoApprover, Registry, tool};
use toolwright_mcp::McpServer;

use crate::http::{Served, message};
use crate::support::{call, error, request, session};

#[derive(Clone, Default)]
struct Steps {
    begun: Arc<Notify>,
    left: Arc<Notify>,
}

struct Leaving<'a>(&'a Notify);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// Pay, which takes long.
#[tool(unlinked, effect = once, danger = dangerous, writes(), timeout = none)]
async fn pay(steps: &Steps) {
    let _leaving = Leaving(&steps.left);
    steps.begun.notify_one();
    std::future::pending::<()>().await;
}

struct Office {
    store: MemoryStore,
    ada: ApproverKey,
    steps: Steps,
}

impl Office {
    fn new() -> Self {
        let ada = ApproverKey::generate("ada").unwrap();
        Self { store: MemoryStore::new(), ada, steps: Steps::default() }
    }

    fn server(&self) -> McpServer {
        let journal = Journal::new(self.store.clone()).trust("ada", self.ada.public());
        let journal = journal.on_no_approver(OnNoApprover::Park);
        let builder = Executor::builder(Registry::of([PAY]).unwrap());
        McpServer::new(builder.journal(journal).service(self.steps.clone()).build().unwrap())
    }

    async fn approve(&self, call: CallId) {
        let record = self.store.get(call).await.unwrap().unwrap();
        let signed = self.ada.sign(&Statement::approve(&record, "ada", record.created)).unwrap();
        let service = ApprovalService::new(Arc::new(self.store.clone()));
        service.submit(signed, record.created).await.unwrap();
    }
}

/// A second call would ask the person again, or pay twice.
#[tokio::test]
async fn a_call_whose_repetition_the_client_cancels_is_still_the_call_that_waits() {
    let office = Office::new();
    let (client, _serving) = session(office.server()).await;
    let waits = error(&call(&client, "pay", json!({})).await.unwrap());
    let id = waits["details"]["call"].as_str().unwrap().parse().unwrap();
    office.approve(id).await;
    let mut repeated = Box::pin(client.peer().call_tool_once(request("pay", json!({}))));
    let begun = tokio::time::timeout(Duration::from_secs(20), office.steps.begun.notified());
    tokio::select! {
        _ = &mut repeated => panic!("it takes long"),
        begun = begun => begun.unwrap(),
    }
    // The client's library cancels a request that is dropped.
    drop(repeated);
    let left = office.steps.left.notified();
    tokio::time::timeout(Duration::from_secs(20), left).await.unwrap();
    let again = error(&call(&client, "pay", json!({})).await.unwrap());
    assert_eq!(again["details"]["call"].as_str(), Some(&*id.to_string()), "{again}");
    let calls = office.store.list(&Filter::default(), Page::first(10)).await.unwrap().calls;
    assert_eq!(calls.len(), 1);
}

/// A person would still see the call, and approve it for a client that is gone.
#[tokio::test]
async fn a_server_that_has_ended_has_cancelled_the_calls_that_wait_in_its_sessions() {
    let office = Office::new();
    let served = Served::of(office.server()).await;
    let session = served.session("none").await;
    let pay = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "pay"}});
    let answer = served.post(&pay).header("mcp-session-id", &session).send().await.unwrap();
    let text = message(answer).await["result"]["content"][0]["text"].clone();
    let waits: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
    let id = waits["details"]["call"].as_str().unwrap().parse().unwrap();
    served.end().await;
    assert_eq!(office.store.get(id).await.unwrap().unwrap().state, State::Cancelled);
}
