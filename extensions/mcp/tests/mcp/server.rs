//! An application as a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::ServiceError;
use rmcp::model::{ErrorCode, PaginatedRequestParams};
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolwright::approval::{ApprovalService, ApproverKey, Statement};
use toolwright::journal::{Filter, Journal, MemoryStore, Page, State, Store as _};
use toolwright::{
    DynamicTool, Executor, Handle, OnNoApprover, Registry, ToolContext, ToolError, tool,
};
use toolwright_mcp::McpServer;

use crate::support::{call, error, request, session, text};

/// A sum.
#[toolwright::data]
struct Sum {
    /// What the numbers add up to.
    sum: i64,
}

/// Add numbers.
#[tool(unlinked, title = "Adding machine", effect = read, reads())]
async fn add(
    /// What is added.
    numbers: Vec<i64>,
) -> Sum {
    Sum { sum: numbers.iter().sum() }
}

/// Fail.
#[tool(unlinked, effect = read, reads())]
async fn fail() -> Result<(), ToolError> {
    Err(ToolError::new("broken", "it is broken").hint("repair it"))
}

/// Delete everything.
#[tool(unlinked, effect = idempotent, danger = critical, writes())]
async fn delete_all() {}

/// For programs.
#[tool(unlinked, hidden, effect = read, reads())]
async fn internal() {}

/// For searches.
#[tool(unlinked, deferred, effect = read, reads())]
async fn rare() {}

/// Count to three.
#[tool(unlinked, effect = read, reads())]
async fn count(context: &ToolContext) -> &'static str {
    for (step, part) in [("one", 0.25), ("two", 0.5), ("three", 0.75)] {
        context.progress(step, Some(part));
    }
    "counted"
}

struct Sleeper {
    began: Notify,
    ended: Notify,
}

struct Ending<'a>(&'a Sleeper);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.ended.notify_one();
    }
}

/// Sleep for long.
#[tool(unlinked, effect = read, reads(), timeout = none)]
async fn sleep(sleeper: &Sleeper) {
    let _ending = Ending(sleeper);
    sleeper.began.notify_one();
    std::future::pending::<()>().await;
}

struct Paid(AtomicUsize);

/// Pay.
#[tool(unlinked, effect = once, danger = dangerous, writes())]
async fn pay(
    paid: &Paid,
    /// How much, in cents.
    cents: u32,
) -> String {
    paid.0.fetch_add(1, Ordering::SeqCst);
    format!("paid {cents} cents")
}

struct Tenant(&'static str);

/// Name the tenant.
#[tool(unlinked, effect = read, reads())]
async fn name_tenant(tenant: &Tenant, context: &ToolContext) -> String {
    format!("{} in {}", tenant.0, context.run_id().is_some_and(|it| it.starts_with("mcp-")))
}

const PLAIN: [Handle; 6] = [ADD, FAIL, DELETE_ALL, INTERNAL, RARE, COUNT];

fn plain() -> McpServer {
    McpServer::new(Executor::builder(Registry::of(PLAIN).unwrap()).build().unwrap())
}

fn protocol_error(error: ServiceError) -> (ErrorCode, String) {
    match error {
        ServiceError::McpError(error) => (error.code, error.message.into_owned()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_client_lists_the_tools_in_pages_with_their_schemas_and_annotations() {
    let (client, _serving) = session(plain().name("things").page_size(2)).await;
    let info = client.peer_info().unwrap();
    assert_eq!(info.server_info.as_ref().unwrap().name, "things");
    let first = client.list_tools(None).await.unwrap();
    assert_eq!(first.tools.len(), 2);
    assert!(first.next_cursor.is_some());
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["add", "fail", "delete_all", "rare", "count"]);

    let shown = serde_json::to_value(&tools[0]).unwrap();
    assert_eq!(shown["title"], "Adding machine");
    assert_eq!(shown["description"], "Add numbers.");
    assert_eq!(shown["inputSchema"]["properties"]["numbers"]["items"]["type"], "integer");
    assert_eq!(shown["outputSchema"]["properties"]["sum"]["type"], "integer");
    assert_eq!(shown["annotations"], json!({"title": "Adding machine", "readOnlyHint": true}));
    let shown = serde_json::to_value(&tools[2]).unwrap();
    let hints = json!({"readOnlyHint": false, "idempotentHint": true, "destructiveHint": true, "openWorldHint": true});
    assert_eq!(shown["annotations"], hints);
}

#[tokio::test]
async fn a_cursor_that_this_list_has_not_given_is_refused() {
    let server = plain().page_size(2);
    let (client, _serving) = session(server.clone()).await;
    for cursor in ["", "nonsense", "0.99", "7.2", "-1.-1"] {
        let mut page = PaginatedRequestParams::default();
        page.cursor = Some(cursor.to_owned());
        let (code, words) = protocol_error(client.list_tools(Some(page)).await.unwrap_err());
        assert_eq!(code, ErrorCode::INVALID_PARAMS, "{cursor}");
        assert!(words.contains("list again without a cursor"), "{words}");
    }
}

#[tokio::test]
async fn a_call_is_answered_with_text_and_the_structured_value_of_its_schema() {
    let (client, _serving) = session(plain()).await;
    let result = call(&client, "add", json!({"numbers": [1, 2, 9_007_199_254_740_993_i64]})).await;
    let result = result.unwrap();
    assert_eq!(result.is_error, None);
    assert_eq!(result.structured_content, Some(json!({"sum": 9_007_199_254_740_996_i64})));
    assert_eq!(text(&result), r#"{"sum":9007199254740996}"#);
}

#[tokio::test]
async fn what_a_tool_or_its_input_lacks_is_a_result_and_an_unknown_tool_an_error_of_the_protocol() {
    let (client, _serving) = session(plain()).await;
    let failed = error(&call(&client, "fail", json!({})).await.unwrap());
    assert_eq!(
        (&failed["error_type"], &failed["next_action_hint"]),
        (&json!("broken"), &json!("repair it"))
    );
    let wrong = error(&call(&client, "add", json!({"numbers": "x"})).await.unwrap());
    assert_eq!(wrong["error_type"], "invalid_input");
    for name in ["no_such_tool", "internal"] {
        let (code, words) = protocol_error(call(&client, name, json!({})).await.unwrap_err());
        assert_eq!(code, ErrorCode::INVALID_PARAMS);
        assert_eq!(words, format!("no tool is called `{name}`"));
    }
}

#[tokio::test]
async fn a_call_that_policy_asks_about_is_refused_where_nobody_can_be_asked() {
    let (client, _serving) = session(plain()).await;
    let refused = error(&call(&client, "delete_all", json!({})).await.unwrap());
    assert_eq!(refused["error_type"], "approval_required");
}

#[tokio::test]
async fn progress_comes_before_the_answer_and_grows() {
    let (client, _serving) = session(plain()).await;
    let result = call(&client, "count", json!({})).await.unwrap();
    assert_eq!(text(&result), "counted");
    let heard = client.service().0.progress.lock().unwrap().clone();
    let steps: Vec<_> =
        heard.iter().map(|it| (it.progress, it.total, it.message.as_deref().unwrap())).collect();
    assert_eq!(
        steps,
        [(0.25, Some(1.0), "one"), (0.5, Some(1.0), "two"), (0.75, Some(1.0), "three")]
    );
}

fn sleeping() -> (Arc<Sleeper>, McpServer) {
    let sleeper = Arc::new(Sleeper { began: Notify::new(), ended: Notify::new() });
    let registry = Registry::of([SLEEP]).unwrap();
    let executor = Executor::builder(registry).service_arc(Arc::clone(&sleeper)).build().unwrap();
    (sleeper, McpServer::new(executor))
}

async fn soon(what: impl Future<Output = ()>) {
    tokio::time::timeout(Duration::from_secs(20), what).await.expect("it happens soon");
}

#[tokio::test]
async fn a_client_that_cancels_a_request_ends_its_call() {
    let (sleeper, server) = sleeping();
    let (client, _serving) = session(server).await;
    let mut calling = Box::pin(client.peer().call_tool_once(request("sleep", json!({}))));
    tokio::select! {
        _ = &mut calling => panic!("it sleeps"),
        () = soon(sleeper.began.notified()) => {}
    }
    // The client's library cancels a request that is dropped.
    drop(calling);
    soon(sleeper.ended.notified()).await;
}

#[tokio::test]
async fn a_client_that_is_gone_ends_its_calls_and_its_session() {
    let (sleeper, server) = sleeping();
    let (client, serving) = session(server).await;
    let peer = client.peer().clone();
    let calling =
        tokio::spawn(async move { peer.call_tool_once(request("sleep", json!({}))).await });
    soon(sleeper.began.notified()).await;
    calling.abort();
    client.cancel().await.unwrap();
    soon(sleeper.ended.notified()).await;
    soon(async { serving.await.unwrap() }).await;
}

#[tokio::test]
async fn a_change_of_the_registry_is_notified_and_calls_stay_with_the_tools_that_were_listed() {
    let registry = Registry::of([ADD]).unwrap();
    let executor = Executor::builder(registry.clone()).build().unwrap();
    let (client, _serving) = session(McpServer::new(executor)).await;
    client.list_all_tools().await.unwrap();
    let schema = json!({"type": "object"});
    registry.unregister("add").unwrap();
    let late = DynamicTool::new("late", "Came later.", schema, |_, _| async { Ok("late") });
    registry.register(late.effect(toolwright::Effect::Read)).unwrap();
    soon(client.service().0.list_changed.notified()).await;

    assert!(call(&client, "add", json!({"numbers": []})).await.is_ok());
    assert!(call(&client, "late", json!({})).await.is_err());
    let names = client.list_all_tools().await.unwrap();
    assert_eq!(names.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["late"]);
    assert!(call(&client, "add", json!({"numbers": []})).await.is_err());
}

#[tokio::test]
async fn each_session_is_a_run_with_services_of_its_own() {
    let builder = Executor::builder(Registry::of([NAME_TENANT]).unwrap());
    let executor = builder.per_run::<Tenant>().build().unwrap();
    for tenant in ["acme", "umbrella"] {
        let server = McpServer::new(executor.clone());
        let (client, _serving) =
            session(server.each_session(move |run| run.with(Tenant(tenant)))).await;
        let result = call(&client, "name_tenant", json!({})).await.unwrap();
        assert_eq!(text(&result), format!("{tenant} in true"));
    }
    let (ours, theirs) = tokio::io::duplex(64);
    drop(ours);
    let (read, write) = tokio::io::split(theirs);
    let error = McpServer::new(executor).serve(read, write).await.unwrap_err();
    assert!(error.to_string().contains("Tenant"), "{error}");
}

const NOW: &str = "2026-01-02T03:04:05Z";

struct Office {
    store: MemoryStore,
    ada: ApproverKey,
    paid: Arc<Paid>,
}

impl Office {
    fn new() -> Self {
        let ada = ApproverKey::generate("ada").unwrap();
        Self { store: MemoryStore::new(), ada, paid: Arc::new(Paid(AtomicUsize::new(0))) }
    }

    fn server(&self) -> McpServer {
        let builder = Executor::builder(Registry::of([PAY]).unwrap())
            .service_arc(Arc::clone(&self.paid))
            .journal(
                Journal::new(self.store.clone())
                    .clock(|| NOW.parse().unwrap())
                    .trust("ada", self.ada.public())
                    .on_no_approver(OnNoApprover::Park),
            );
        McpServer::new(builder.build().unwrap()).each_session(|run| run.user("bob"))
    }

    async fn approve(&self, call: &Value) {
        let record =
            self.store.get(call.as_str().unwrap().parse().unwrap()).await.unwrap().unwrap();
        let now = NOW.parse().unwrap();
        let signed = self.ada.sign(&Statement::approve(&record, "ada", now)).unwrap();
        ApprovalService::new(Arc::new(self.store.clone())).submit(signed, now).await.unwrap();
    }

    fn times_paid(&self) -> usize {
        self.paid.0.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn a_call_that_waits_for_a_person_names_itself_and_goes_on_when_it_is_made_again() {
    let office = Office::new();
    let (client, _serving) = session(office.server()).await;
    let waits = error(&call(&client, "pay", json!({"cents": 5})).await.unwrap());
    assert_eq!(waits["error_type"], "approval_required");
    assert_eq!(waits["details"]["state"], "pending");
    let id = &waits["details"]["call"];
    assert!(waits["next_action_hint"].as_str().unwrap().contains(id.as_str().unwrap()));

    // Before the decision, it is the same call that waits.
    let still = error(&call(&client, "pay", json!({"cents": 5})).await.unwrap());
    assert_eq!(&still["details"]["call"], id);
    office.approve(id).await;
    // Other arguments are another call.
    let other = error(&call(&client, "pay", json!({"cents": 6})).await.unwrap());
    assert_ne!(&other["details"]["call"], id);
    assert_eq!(office.times_paid(), 0);
    let paid = call(&client, "pay", json!({"cents": 5})).await.unwrap();
    assert_eq!((text(&paid).as_str(), office.times_paid()), ("paid 5 cents", 1));
    // The call has its answer: to pay once more is another call.
    let again = error(&call(&client, "pay", json!({"cents": 5})).await.unwrap());
    assert_ne!(&again["details"]["call"], id);

    let records = office.store.list(&Filter::default(), Page::first(10)).await.unwrap().calls;
    assert_eq!(records.len(), 3);
    assert!(records.iter().all(|it| it.requester.user.as_deref() == Some("bob")));
}

#[tokio::test]
async fn a_call_that_waits_ends_with_its_session() {
    let office = Office::new();
    let (client, serving) = session(office.server()).await;
    let waits = error(&call(&client, "pay", json!({"cents": 5})).await.unwrap());
    client.cancel().await.unwrap();
    soon(async { serving.await.unwrap() }).await;
    let id = waits["details"]["call"].as_str().unwrap().parse().unwrap();
    assert_eq!(office.store.get(id).await.unwrap().unwrap().state, State::Cancelled);
}
