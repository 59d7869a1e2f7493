//! Runs that wait for who carries a call out: in memory, and recorded over restarts.

use std::time::Duration;

use serde_json::json;
use toolwright::approval::ApproverKey;
use toolwright::journal::{Filter, HandedOver, Journal, MemoryStore, Page, State, Store as _};
use toolwright::{CancellationToken, DynamicTool, Effect, Executor, OnNoApprover, Registry};
use toolwright_agent::durable::Runs;
use toolwright_agent::{Agent, RunEnd, ScriptedModel};

fn pick(within: Duration) -> DynamicTool {
    let schema = json!({"type": "object", "properties": {"prompt": {"type": "string"}}});
    DynamicTool::external("pick_colour", "Lets the visitor pick a colour.", schema)
        .effect(Effect::Read)
        .timeout(Some(within))
        .output_schema(json!({"enum": ["red", "blue"]}))
}

fn in_memory(within: Duration) -> Executor {
    Executor::builder(Registry::of([pick(within)]).unwrap()).build().unwrap()
}

/// An executor as each process makes it.
fn recorded(store: &MemoryStore) -> Executor {
    let key = ApproverKey::from_seed("executor", [9; 32]).unwrap();
    let journal = Journal::new(store.clone()).hand_over_key(key);
    let journal = journal.on_no_approver(OnNoApprover::Park);
    let registry = Registry::of([pick(Duration::from_secs(3600))]).unwrap();
    Executor::builder(registry).journal(journal).build().unwrap()
}

fn asks() -> ScriptedModel {
    ScriptedModel::new().calls([("pick_colour", r#"{"prompt":"the door?"}"#)])
}

fn model() -> ScriptedModel {
    asks().says("Blue it is.")
}

/// The call that waits, as soon as there is one.
async fn handed_over(executor: &Executor) -> HandedOver {
    loop {
        match executor.handed_over().await.unwrap().pop() {
            Some(handed_over) => return handed_over,
            None => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

async fn supplied(executor: &Executor) {
    let call = handed_over(executor).await;
    executor.supply(call.call, &call.token.to_string(), Ok(r#""blue""#)).await.unwrap();
}

#[tokio::test]
async fn a_run_in_memory_waits_for_the_result() {
    let executor = in_memory(Duration::from_secs(60));
    let agent = Agent::on(executor.clone(), model()).build().unwrap();
    let run = agent.run("Paint the door.");
    let (result, ()) = futures::future::join(run.into_future(), supplied(&executor)).await;
    let result = result.unwrap();
    assert_eq!(result.to_string(), "Blue it is.");
    assert!(serde_json::to_string(result.history()).unwrap().contains("blue"));
}

#[tokio::test]
async fn a_run_in_memory_goes_on_when_the_time_is_over() {
    let executor = in_memory(Duration::from_millis(50));
    let agent = Agent::on(executor, model()).build().unwrap();
    let result = agent.run("Paint the door.").await.unwrap();
    assert!(serde_json::to_string(result.history()).unwrap().contains("expired"));
}

#[tokio::test]
async fn cancelling_a_run_in_memory_ends_the_call() {
    let executor = in_memory(Duration::from_secs(60));
    let agent = Agent::on(executor.clone(), asks()).build().unwrap();
    let token = CancellationToken::new();
    let mut run = agent.new_run("r").cancelled_by(token.clone()).start().unwrap();
    let cancelled = async {
        handed_over(&executor).await;
        token.cancel();
    };
    let (ended, ()) = futures::future::join(run.send("Paint the door."), cancelled).await;
    assert_eq!(ended.unwrap(), RunEnd::Cancelled);
    assert!(executor.handed_over().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_recorded_run_waits_over_a_restart_and_asks_its_model_nothing_twice() {
    let store = MemoryStore::new();
    let first = Agent::on(recorded(&store), ScriptedModel::new().calls([("pick_colour", "{}")]));
    let first = first.name("painter").build().unwrap();
    let begun = tokio::time::timeout(
        Duration::from_millis(300),
        first.run("Paint the door.").id("visit-7").into_future(),
    );
    assert!(begun.await.is_err(), "it waits");
    drop(first);

    let executor = recorded(&store);
    let again = Agent::on(executor.clone(), ScriptedModel::new().says("Blue it is."));
    let again = again.name("painter").build().unwrap();
    let run = again.run("Paint the door.").id("visit-7");
    let (result, ()) = futures::future::join(run.into_future(), supplied(&executor)).await;
    assert_eq!(result.unwrap().to_string(), "Blue it is.");
    let calls = store.list(&Filter::default(), Page::first(9)).await.unwrap().calls;
    assert_eq!(calls.iter().map(|it| it.state).collect::<Vec<_>>(), [State::Succeeded]);
}

#[tokio::test]
async fn a_recorded_run_that_is_cancelled_ends_the_call_that_was_handed_over() {
    let store = MemoryStore::new();
    let executor = recorded(&store);
    let agent = Agent::on(executor.clone(), asks()).build().unwrap();
    let run = agent.run("Paint the door.").id("visit-8");
    let cancelled = async {
        handed_over(&executor).await;
        let runs = Runs::of(std::sync::Arc::new(store.clone()));
        let now = jiff::Timestamp::now();
        runs.cancel("visit-8", "ada", "not wanted any more", now).await.unwrap();
    };
    let (_, ()) = futures::future::join(run.into_future(), cancelled).await;
    assert!(executor.handed_over().await.unwrap().is_empty());
    let calls = store.list(&Filter::default(), Page::first(9)).await.unwrap().calls;
    assert_eq!(calls[0].state, State::Cancelled);
}
