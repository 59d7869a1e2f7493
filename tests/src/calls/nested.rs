//! Tools that call tools, with a journal: each child is made once, whatever becomes of its parent, and a parent waits for the
//! decisions on its children through restarts.

mod again;
mod waiting;

use std::sync::Arc;

use futures::future::join_all;
use toolwright::journal::{CallRecord, State};
use toolwright::{Call, Calls, Executor, ExecutorBuilder, Registry, ToolError, tool};

use super::support::{FAIL, HANG, HANG_AGAIN, LOOK, NOTE, Office, REFUND, Ran, answered, office};

/// Refunds an order and notes that, with a look in between.
#[tool(name = "nested_settle", effect = idempotent)]
pub async fn settle(
    calls: &Calls,
    ran: &Ran,
    /// Which.
    order: String,
) -> Result<String, ToolError> {
    ran.add("settle");
    let noted: String = calls.to(NOTE).with("text", &order).await_as().await?;
    let seen: u32 = calls.to(LOOK).await_as().await?;
    let refunded: String = calls.to(REFUND).with("order", &order).await_as().await?;
    Ok(format!("{noted}, {seen}, {refunded}"))
}

/// Calls several tools at once.
#[tool(name = "nested_all", effect = idempotent)]
pub async fn all(
    calls: &Calls,
    /// The refunds, by order.
    orders: Vec<String>,
) -> Result<String, ToolError> {
    let refund = |order| calls.to(REFUND).with("order", order).await_as::<String>();
    let refunded: Result<Vec<String>, ToolError> =
        join_all(orders.iter().map(refund)).await.into_iter().collect();
    Ok(refunded?.join(", "))
}

/// Calls one tool, and must not run twice.
#[tool(name = "nested_once", effect = once)]
pub async fn call_once(
    calls: &Calls,
    ran: &Ran,
    /// Which tool.
    tool: String,
    /// With which arguments.
    arguments: String,
) -> Result<String, ToolError> {
    ran.add("once");
    let answer = calls.call(&Call::new(tool, arguments)).await;
    answer.error().map_or_else(|| Ok(answer.text().into_owned()), |it| Err(it.with_more(None)))
}

/// Calls one tool.
#[tool(name = "nested_relay", effect = idempotent)]
pub async fn relay(
    calls: &Calls,
    ran: &Ran,
    /// Which tool.
    tool: String,
    /// With which arguments.
    arguments: String,
) -> Result<String, ToolError> {
    ran.add("relay");
    let answer = calls.call(&Call::new(tool, arguments)).await;
    answer.error().map_or_else(|| Ok(answer.text().into_owned()), |it| Err(it.with_more(None)))
}

/// Calls one tool, and changes nothing itself.
#[tool(name = "nested_read", effect = read)]
pub async fn read_by(calls: &Calls, ran: &Ran) -> Result<u32, ToolError> {
    ran.add("read by");
    calls.to(LOOK).await_as().await
}

/// An executor on the journal of an office, in which calls wait for Ada; each is another process.
pub fn builder(office: &Office) -> ExecutorBuilder {
    bare(office).journal(office.parking())
}

pub fn bare(office: &Office) -> ExecutorBuilder {
    ruled(office).unrestricted()
}

/// The same without a word on what may run.
pub fn ruled(office: &Office) -> ExecutorBuilder {
    let tools =
        [SETTLE, ALL, CALL_ONCE, RELAY, READ_BY, DIVE, NOTE, LOOK, REFUND, FAIL, HANG, HANG_AGAIN];
    Executor::builder(Registry::of(tools).unwrap()).service_arc(Arc::clone(&office.ran))
}

pub fn executor(office: &Office) -> Executor {
    builder(office).build().unwrap()
}

pub fn relayed(parent: &'static str, tool: &str, arguments: &str) -> Call<'static> {
    Call::new(parent, serde_json::json!({"tool": tool, "arguments": arguments}).to_string())
}

/// The calls that a call has made, by index.
pub async fn children(office: &Office, parent: &CallRecord) -> Vec<CallRecord> {
    let mut children = office.records().await;
    children.retain(|it| it.parent.is_some_and(|it| it.call == parent.id));
    children.sort_by_key(|it| it.parent.map(|it| it.index));
    children
}

/// The one call that no other makes.
pub async fn parent(office: &Office) -> CallRecord {
    office.records().await.into_iter().find(|it| it.parent.is_none()).unwrap()
}

#[tokio::test]
async fn the_record_of_a_child_names_its_parent_and_which_of_its_calls_it_is() {
    let office = office();
    let run = executor(&office).run("ticket-7").user("bob").session("shop").start().unwrap();
    let call = relayed("nested_relay", "kept_note", r#"{"text":"a"}"#);
    let outcomes = run.submit_turn(3, &[call]).await;
    assert_eq!(answered(outcomes.into_iter().next().unwrap()).text(), "a");
    let parent = parent(&office).await;
    let [child] = &*children(&office, &parent).await else { panic!("one child") };
    assert_eq!(child.parent.unwrap().index, 0);
    assert_eq!((child.place.run.as_str(), child.place.turn), ("ticket-7", None));
    assert_eq!(child.requester, parent.requester);
    assert_eq!((child.state, parent.state), (State::Succeeded, State::Succeeded));
}

/// Calls itself so often.
#[tool(name = "nested_dive", effect = idempotent)]
pub async fn dive(
    calls: &Calls,
    /// How often.
    depth: u32,
) -> Result<u32, ToolError> {
    match depth.checked_sub(1) {
        None => Ok(0),
        Some(rest) => Ok(1 + calls.to(DIVE).with("depth", &rest).await_as::<u32>().await?),
    }
}

#[test]
fn as_many_recorded_calls_as_may_lie_in_each_other_fit_into_the_stack_of_a_worker() {
    // A worker of tokio has 2 MiB, and what calls the executor needs some of it.
    const STACK: usize = 3 << 19;
    let deepest = || async {
        let office = office();
        let text = format!(r#"{{"depth":{}}}"#, Calls::DEPTH - 1);
        let outcome = executor(&office).submit(&Call::new("nested_dive", text)).await;
        assert_eq!(answered(outcome).text(), "7");
        assert_eq!(office.records().await.len(), Calls::DEPTH as usize);
    };
    let on_thread = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(deepest());
    };
    std::thread::Builder::new().stack_size(STACK).spawn(on_thread).unwrap().join().unwrap();
}

#[tokio::test]
async fn a_call_that_makes_calls_is_recorded_although_it_only_reads() {
    let office = office();
    assert_eq!(
        answered(executor(&office).submit(&Call::new("nested_read", "{}")).await).text(),
        "7"
    );
    let records = office.records().await;
    assert_eq!(records.len(), 1, "its child changes nothing, and is not recorded");
    assert_eq!(records[0].tool, "nested_read");
}

#[tokio::test]
async fn a_record_of_before_there_were_children_is_read_and_written_as_it_was() {
    let office = office();
    executor(&office).call(&Call::new("kept_note", r#"{"text":"a"}"#)).await;
    let record = &office.records().await[0];
    let text = serde_json::to_value(record).unwrap();
    for key in ["parent", "awaits", "may_call"] {
        assert!(text.get(key).is_none(), "{key} is written of a call without children");
    }
    assert_eq!(&serde_json::from_value::<CallRecord>(text).unwrap(), record);
}
