//! Calls that wait for a decision, for clients that know tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use toolwright::approval::{ApprovalService, ApproverKey, Statement};
use toolwright::journal::{Journal, MemoryStore, State, Store as _};
use toolwright::{CallId, Executor, OnNoApprover, Registry, tool};
use toolwright_mcp::McpServer;

use crate::http::{ADAS, Served, Tokens, message};

const TASKS: &str = "io.modelcontextprotocol/tasks";

#[derive(Clone, Default)]
struct Paid(Arc<AtomicUsize>);

/// Pay.
#[tool(unlinked, effect = once, danger = dangerous, writes())]
async fn pay(paid: &Paid) -> &'static str {
    paid.0.fetch_add(1, Ordering::SeqCst);
    "paid"
}

struct Office {
    served: Served,
    store: MemoryStore,
    eve: ApproverKey,
    paid: Paid,
}

impl Office {
    async fn new() -> Self {
        let (store, paid) = (MemoryStore::new(), Paid::default());
        let eve = ApproverKey::generate("eve").unwrap();
        let executor = Executor::builder(Registry::of([PAY]).unwrap())
            .journal(
                Journal::new(store.clone())
                    .trust("eve", eve.public())
                    .on_no_approver(OnNoApprover::Park),
            )
            .service(paid.clone());
        let server = McpServer::new(executor.build().unwrap()).check_tokens(Tokens);
        Self { served: Served::of(server).await, store, eve, paid }
    }

    /// A request of a client that knows tasks, or does not.
    async fn ask(&self, token: &str, method: &str, mut params: Value, knows: bool) -> Value {
        let extensions = if knows { json!({TASKS: {}}) } else { json!({}) };
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"extensions": extensions},
        });
        let name = params["name"].as_str().or(params["taskId"].as_str()).unwrap().to_owned();
        let ask = json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": params});
        let post = self.served.post(&ask).header("mcp-protocol-version", "2026-07-28");
        let post = post.header("mcp-method", method).header("mcp-name", name).bearer_auth(token);
        message(post.send().await.unwrap()).await
    }

    async fn pay(&self, knows: bool) -> Value {
        self.ask(ADAS, "tools/call", json!({"name": "pay", "arguments": {}}), knows).await
    }

    /// The id of the task that a call becomes.
    async fn task(&self) -> String {
        let task = self.pay(true).await["result"].take();
        assert_eq!(task["resultType"], "task", "{task}");
        assert_eq!(task["status"], "working", "{task}");
        assert!(task["statusMessage"].as_str().unwrap().contains("approval"), "{task}");
        task["taskId"].as_str().unwrap().to_owned()
    }

    async fn of(&self, method: &str, task: &str) -> Value {
        self.ask(ADAS, method, json!({"taskId": task}), true).await
    }

    /// The task when it is done.
    async fn done(&self, task: &str) -> Value {
        let done = async {
            loop {
                let now = self.of("tasks/get", task).await["result"].take();
                if now["status"] != "working" {
                    return now;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), done).await.unwrap()
    }

    async fn say(
        &self,
        task: &str,
        statement: impl FnOnce(&toolwright::journal::CallRecord) -> Statement,
    ) {
        let call: CallId = task.parse().unwrap();
        let record = self.store.get(call).await.unwrap().unwrap();
        let signed = self.eve.sign(&statement(&record)).unwrap();
        let service = ApprovalService::new(Arc::new(self.store.clone()));
        service.submit(signed, record.created).await.unwrap();
    }
}

#[tokio::test]
async fn a_call_that_waits_is_a_task_that_ends_with_its_result() {
    let office = Office::new().await;
    let task = office.task().await;
    assert_eq!(office.task().await, task, "the same call is the same task");
    assert_eq!(office.of("tasks/get", &task).await["result"]["status"], "working");
    office.say(&task, |record| Statement::approve(record, "eve", record.created)).await;
    let done = office.done(&task).await;
    assert_eq!(done["status"], "completed", "{done}");
    assert_eq!(done["result"]["content"][0]["text"], "paid", "{done}");
    assert_eq!(office.paid.0.load(Ordering::SeqCst), 1);
}

/// To pay twice is two payments, each of which a person decides on.
#[tokio::test]
async fn an_equal_call_after_a_task_has_ended_is_another_task() {
    let office = Office::new().await;
    let first = office.task().await;
    office.say(&first, |record| Statement::approve(record, "eve", record.created)).await;
    assert_eq!(office.done(&first).await["status"], "completed");
    let second = office.task().await;
    assert_ne!(second, first);
    assert_eq!(office.of("tasks/get", &first).await["result"]["status"], "completed");
}

#[tokio::test]
async fn a_call_that_is_refused_is_a_task_that_ends_with_an_error_of_the_tool() {
    let office = Office::new().await;
    let task = office.task().await;
    let reason = Some("too much".to_owned());
    office.say(&task, |record| Statement::reject(record, reason, "eve", record.created)).await;
    let done = office.done(&task).await;
    assert_eq!(done["status"], "completed", "{done}");
    assert_eq!(done["result"]["isError"], true, "{done}");
    assert!(done.to_string().contains("too much"), "{done}");
    assert_eq!(office.paid.0.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_client_that_does_not_know_tasks_is_told_what_to_do() {
    let office = Office::new().await;
    let answer = office.pay(false).await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(answer.to_string().contains("approval_required"), "{answer}");
    let task = office.task().await;
    let refused = office.ask(ADAS, "tasks/get", json!({"taskId": task}), false).await;
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
}

#[tokio::test]
async fn a_task_that_is_cancelled_never_runs_its_call() {
    let office = Office::new().await;
    let task = office.task().await;
    for _ in 0..2 {
        let cancelled = office.of("tasks/cancel", &task).await;
        assert_eq!(cancelled["result"]["resultType"], "complete", "{cancelled}");
    }
    assert_eq!(office.done(&task).await["status"], "cancelled");
    let record = office.store.get(task.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(record.state, State::Cancelled);
}

#[tokio::test]
async fn a_task_is_known_to_the_user_who_made_its_call_alone() {
    let office = Office::new().await;
    let task = office.task().await;
    for method in ["tasks/get", "tasks/cancel"] {
        let refused = office.ask("bobs", method, json!({"taskId": task}), true).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    let answers = json!({"taskId": task, "inputResponses": {"any": {"action": "accept"}}});
    let refused = office.ask(ADAS, "tasks/update", answers, true).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(office.of("tasks/get", &task).await["result"]["status"], "working");
}
