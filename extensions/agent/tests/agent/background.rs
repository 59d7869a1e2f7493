//! Calls that go on in the background: the model goes on at once, and reads each result as a message, once.

mod recorded;

use std::future::IntoFuture as _;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, join};
use serde_json::json;
use toolwright::approval::{
    ApprovalRequest, Approver, ApproverError, ApproverKey, Reply, Response,
};
use toolwright::journal::{HandedOver, SupplyError};
use toolwright::{Call, CancellationToken, DynamicTool, Effect, Executor, Registry};
use toolwright_agent::{Agent, Limit, Message, RunEnd, ScriptedModel, check};

use crate::support::outline;

pub fn paint(within: Duration) -> DynamicTool {
    let schema = json!({"type": "object", "properties": {"what": {"type": "string"}}});
    DynamicTool::external("paint", "Paints a thing.", schema)
        .background()
        .effect(Effect::Read)
        .timeout(Some(within))
        .output_schema(json!({"enum": ["red", "blue"]}))
}

fn in_memory(within: Duration) -> Executor {
    Executor::builder(Registry::of([paint(within)]).unwrap()).build().unwrap()
}

const DOOR: (&str, &str) = ("paint", r#"{"what":"the door"}"#);
const WALL: (&str, &str) = ("paint", r#"{"what":"the wall"}"#);

/// The calls that wait, as soon as there are so many.
pub async fn handed_over(executor: &Executor, calls: usize) -> Vec<HandedOver> {
    loop {
        let found = executor.handed_over().await.unwrap();
        if found.len() == calls {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub async fn supply(
    executor: &Executor,
    call: &HandedOver,
    result: &str,
) -> Result<(), SupplyError> {
    executor.supply(call.call, &call.token.to_string(), Ok(result)).await
}

/// Completes when the model was asked so often.
async fn asked(model: &ScriptedModel, times: usize) {
    while model.requests().len() < times {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The messages that bring results.
pub fn results(history: &[Message]) -> Vec<String> {
    assert!(check(history).unwrap().is_empty());
    let result = |message: &Message| match message {
        Message::User { text, .. } if text.starts_with("[The result of call ") => {
            Some(text.clone())
        }
        _ => None,
    };
    history.iter().filter_map(result).collect()
}

#[tokio::test]
async fn the_model_goes_on_at_once_and_reads_the_result_as_a_message_once() {
    let model = ScriptedModel::new().calls([DOOR]).says("It is being painted.").says("It is blue.");
    let model = Arc::new(model);
    let executor = in_memory(Duration::from_secs(60));
    let agent = Agent::on(executor.clone(), Arc::clone(&model)).build().unwrap();
    let run = agent.run("Paint the door.").into_future();
    let supplied = async {
        asked(&model, 2).await;
        let call = handed_over(&executor, 1).await.remove(0);
        let under_way = serde_json::to_string(&model.requests()[1].history).unwrap();
        assert!(under_way.contains(&format!("is under way as call {}.", call.call)), "{under_way}");
        supply(&executor, &call, r#""blue""#).await.unwrap();
        let late = supply(&executor, &call, r#""red""#).await.unwrap_err();
        assert!(matches!(late, SupplyError::Ended { .. }), "{late}");
        call
    };
    let (result, call) = join(run, supplied).await;
    let result = result.unwrap();
    assert_eq!(result.to_string(), "It is blue.");
    let [read] = &results(result.history())[..] else { panic!("{:?}", outline(result.history())) };
    let words =
        format!("[The result of call {} of `paint`, which went on in the background:]", call.call);
    assert!(read.starts_with(&words) && read.contains("\"blue\""), "{read}");
    assert_eq!(result.history().len(), 6);
}

#[tokio::test]
async fn a_result_that_comes_while_the_run_works_is_in_the_next_request() {
    let executor = Arc::new(std::sync::OnceLock::<Executor>::new());
    let its_own = Arc::clone(&executor);
    let brings = move |_, _| {
        let executor = its_own.get().unwrap().clone();
        async move {
            let call = handed_over(&executor, 1).await.remove(0);
            supply(&executor, &call, r#""red""#).await.unwrap();
            Ok("brought")
        }
    };
    let bring = DynamicTool::new("bring", "Brings it.", json!({"type": "object"}), brings);
    let registry = Registry::of([paint(Duration::from_secs(60)), bring.effect(Effect::Read)]);
    let built = Executor::builder(registry.unwrap()).unrestricted().build().unwrap();
    assert!(executor.set(built.clone()).is_ok());
    let model = ScriptedModel::new().calls([DOOR]).calls([("bring", "{}")]).says("It is red.");
    let model = Arc::new(model);
    let agent = Agent::on(built, Arc::clone(&model)).build().unwrap();
    let result = agent.run("Paint the door.").await.unwrap();
    assert_eq!(result.to_string(), "It is red.");
    let last = outline(&model.requests()[2].history).pop().unwrap();
    assert!(last.starts_with("user: [The result of call ") && last.contains("red"), "{last}");
    assert_eq!(results(result.history()).len(), 1);
}

#[tokio::test]
async fn two_calls_in_the_background_give_a_message_each_in_the_order_of_their_results() {
    let model = ScriptedModel::new().calls([DOOR, WALL]).says("Both are on their way.");
    let model = Arc::new(model.says("The wall is done.").says("Both are done."));
    let executor = in_memory(Duration::from_secs(60));
    let agent = Agent::on(executor.clone(), Arc::clone(&model)).build().unwrap();
    let run = agent.run("Paint them.").into_future();
    let supplied = async {
        asked(&model, 2).await;
        let calls = handed_over(&executor, 2).await;
        let is_of_door = |it: &&HandedOver| it.arguments.contains("door");
        let door = calls.iter().find(is_of_door).unwrap();
        let wall = calls.iter().find(|it| !is_of_door(it)).unwrap();
        supply(&executor, wall, r#""red""#).await.unwrap();
        asked(&model, 3).await;
        supply(&executor, door, r#""blue""#).await.unwrap();
    };
    let (result, ()) = join(run, supplied).await;
    let result = result.unwrap();
    assert_eq!(result.to_string(), "Both are done.");
    let read = results(result.history());
    assert!(read.len() == 2 && read[0].contains("red") && read[1].contains("blue"), "{read:?}");
}

#[tokio::test]
async fn a_call_in_the_background_that_expires_says_so_in_a_message() {
    let model =
        ScriptedModel::new().calls([DOOR]).says("It is on its way.").says("It did not come.");
    let agent = Agent::on(in_memory(Duration::from_secs(2)), model).build().unwrap();
    let result = agent.run("Paint the door.").await.unwrap();
    assert_eq!(result.to_string(), "It did not come.");
    let [read] = &results(result.history())[..] else { panic!("{:?}", outline(result.history())) };
    assert!(read.contains("which has failed") && read.contains("expired"), "{read}");
}

#[tokio::test]
async fn cancelling_a_run_that_rests_cancels_its_call_in_the_background() {
    let model = Arc::new(ScriptedModel::new().calls([DOOR]).says("It is on its way."));
    let executor = in_memory(Duration::from_secs(60));
    let agent = Agent::on(executor.clone(), Arc::clone(&model)).build().unwrap();
    let token = CancellationToken::new();
    let mut run = agent.new_run("r").cancelled_by(token.clone()).start().unwrap();
    let cancelled = async {
        asked(&model, 2).await;
        handed_over(&executor, 1).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        token.cancel();
    };
    let (ended, ()) = join(run.send("Paint the door."), cancelled).await;
    assert_eq!(ended.unwrap(), RunEnd::Cancelled);
    assert!(executor.handed_over().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_run_that_ends_by_a_limit_cancels_its_call_and_the_model_reads_so_when_it_goes_on() {
    let model = Arc::new(ScriptedModel::new().calls([DOOR]).says("It was cancelled."));
    let executor = in_memory(Duration::from_secs(60));
    let agent = Agent::on(executor.clone(), Arc::clone(&model)).max_turns(1).build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    let ended = run.send("Paint the door.").await.unwrap();
    assert_eq!(ended, RunEnd::Limit(Limit::Turns { turns: 1 }));
    assert!(executor.handed_over().await.unwrap().is_empty());
    let ended = run.send("Well?").await.unwrap();
    assert!(matches!(ended, RunEnd::Text { .. }), "{ended}");
    let [read] = &results(run.history())[..] else { panic!("{:?}", outline(run.history())) };
    assert!(read.contains("cancelled"), "{read}");
}

#[tokio::test]
async fn the_time_of_a_run_that_rests_goes_on_and_ends_it() {
    let model = ScriptedModel::new().calls([DOOR]).says("It is on its way.");
    let executor = in_memory(Duration::from_secs(60));
    let agent = Agent::on(executor.clone(), model).max_duration(Duration::from_secs(2));
    let mut run = agent.build().unwrap().new_run("r").start().unwrap();
    let ended = run.send("Paint the door.").await.unwrap();
    assert!(matches!(ended, RunEnd::Limit(Limit::Time { .. })), "{ended}");
    assert!(executor.handed_over().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_run_whose_terminal_tool_has_succeeded_waits_for_the_result_as_well() {
    let finish =
        DynamicTool::new("finish", "Ends.", json!({"type": "object"}), async |_, _| Ok("finished"));
    let tools = [paint(Duration::from_secs(60)), finish.effect(Effect::Read).terminal()];
    let executor = Executor::builder(Registry::of(tools).unwrap()).unrestricted().build().unwrap();
    let model = ScriptedModel::new().calls([DOOR, ("finish", "{}")]).says("It is blue.");
    let model = Arc::new(model);
    let agent = Agent::on(executor.clone(), Arc::clone(&model)).build().unwrap();
    let run = agent.run("Paint the door.").into_future();
    let supplied = async {
        let call = handed_over(&executor, 1).await.remove(0);
        tokio::time::sleep(Duration::from_millis(50)).await;
        supply(&executor, &call, r#""blue""#).await.unwrap();
    };
    let (result, ()) = join(run, supplied).await;
    let result = result.unwrap();
    assert_eq!((result.to_string(), results(result.history()).len()), ("It is blue.".into(), 1));
}

#[tokio::test]
async fn a_result_that_breaks_its_schema_is_refused_and_the_run_waits_on() {
    let model = ScriptedModel::new().calls([DOOR]).says("It is on its way.").says("It is blue.");
    let executor = in_memory(Duration::from_secs(60));
    let agent = Agent::on(executor.clone(), model).build().unwrap();
    let supplied = async {
        let call = handed_over(&executor, 1).await.remove(0);
        let error = supply(&executor, &call, r#""green""#).await.unwrap_err();
        assert!(matches!(error, SupplyError::Output { .. }), "{error}");
        supply(&executor, &call, r#""blue""#).await.unwrap();
    };
    let run = agent.run("Paint the door.").into_future();
    let (result, ()) = join(run, supplied).await;
    let result = result.unwrap();
    assert_eq!(result.to_string(), "It is blue.");
    assert_eq!(results(result.history()).len(), 1);
}

#[tokio::test]
async fn what_the_user_says_while_a_run_rests_is_answered_at_once() {
    let model = ScriptedModel::new().calls([DOOR]).says("It is on its way.");
    let model = Arc::new(model.says("Not yet.").says("It is blue."));
    let executor = in_memory(Duration::from_secs(60));
    let agent = Agent::on(executor.clone(), Arc::clone(&model)).build().unwrap();
    let run = agent.run("Paint the door.").start().unwrap();
    asked(&model, 2).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    run.send("Is it done?").await.unwrap();
    asked(&model, 3).await;
    let call = handed_over(&executor, 1).await.remove(0);
    supply(&executor, &call, r#""blue""#).await.unwrap();
    assert_eq!(run.await.unwrap().to_string(), "It is blue.");
}

/// Approves everything.
struct Approves;

impl Approver for Approves {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Result<Reply, ApproverError>> {
        Box::pin(async { Ok(Reply::Decided(Response::Approve)) })
    }
}

#[tokio::test]
async fn a_call_is_approved_before_it_goes_on_in_the_background() {
    let model = ScriptedModel::new().calls([DOOR]).says("It is on its way.").says("It is blue.");
    let model = Arc::new(model);
    let asks = paint(Duration::from_secs(60)).approval("it is loud");
    let key = ApproverKey::generate("ada").unwrap();
    let executor = Executor::builder(Registry::of([asks]).unwrap()).approver(key, Approves);
    let executor = executor.build().unwrap();
    let agent = Agent::on(executor.clone(), Arc::clone(&model)).build().unwrap();
    let run = agent.run("Paint the door.").into_future();
    let supplied = async {
        asked(&model, 2).await;
        let call = handed_over(&executor, 1).await.remove(0);
        supply(&executor, &call, r#""blue""#).await.unwrap();
    };
    let (result, ()) = join(run, supplied).await;
    assert_eq!(result.unwrap().to_string(), "It is blue.");
}

#[tokio::test]
async fn a_host_without_an_agent_waits_for_the_result() {
    let executor = in_memory(Duration::from_secs(60));
    let run = executor.run("r").start().unwrap();
    let calls = [Call::new(DOOR.0, DOOR.1)];
    let supplied = async {
        let call = handed_over(&executor, 1).await.remove(0);
        supply(&executor, &call, r#""red""#).await.unwrap();
    };
    let (turn, ()) = join(run.turn(1, &calls), supplied).await;
    assert_eq!(turn.unwrap().answers()[0].text(), r#""red""#);
}
