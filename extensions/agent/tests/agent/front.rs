//! The agent as a newcomer uses it: a model, tools, a task, its result, its events, a conversation.

use std::future::IntoFuture as _;

use futures::{FutureExt as _, StreamExt as _};
use toolwright::policy::{Mode, Policy};
use toolwright::{CancellationToken, tool};
use toolwright_agent::{
    Agent, AgentError, Cost, Ended, Limit, Message, ModelAnswer, RunError, RunEvent, ScriptedModel,
    Usage,
};

use crate::support::{ADD, COMPLETE_TASK, Log, WAIT};

/// Writes a note.
#[tool(writes())]
async fn write_note(
    log: &Log,
    /// What.
    text: String,
) -> String {
    log.add(format!("write_note {text}"));
    "written".to_owned()
}

/// Logs in.
#[tool(effect = read)]
async fn log_in(
    /// The password.
    #[arg(secret)]
    password: String,
) -> usize {
    password.len()
}

/// Breathes: the first time for ever.
#[tool(effect = read)]
async fn breathe(log: &Log) {
    log.add("breathe");
    if log.lines().len() == 1 {
        std::future::pending::<()>().await;
    }
}

#[tokio::test]
async fn a_run_prints_as_its_text_and_knows_what_it_took() {
    let answer = ModelAnswer::text("It is 3.").usage(Usage::new(40, 5)).cost(Cost::cents(2));
    let model = ScriptedModel::new().calls([("add", r#"{"a":1,"b":2}"#)]).answers(answer);
    let agent =
        Agent::builder(model).tools([ADD]).service(Log::default()).unrestricted().build().unwrap();
    let result = agent.run("1 + 2?").id("sums-1").user("ada").await.unwrap();
    assert_eq!(format!("[{result}] [{result:>10}]"), "[It is 3.] [  It is 3.]");
    assert_eq!((result.turns(), result.id(), result.history().len()), (2, "sums-1", 4));
    assert_eq!(result.usage().to_string(), "40 tokens in, 5 out");
    assert_eq!(result.cost(), Some(Cost::cents(2)));
}

#[tokio::test]
async fn a_terminal_tool_ends_the_run_with_its_answer() {
    let model = ScriptedModel::new().calls([("complete_task", r#"{"summary":"all"}"#)]);
    let agent = Agent::builder(model).tool(COMPLETE_TASK).service(Log::default()).build().unwrap();
    assert_eq!(agent.run("Do it.").await.unwrap().to_string(), "Task completed: all");
}

#[tokio::test]
async fn without_policy_and_approver_reads_run_and_the_rest_is_refused_with_the_ways_on() {
    let log = Log::default();
    let model = ScriptedModel::new().calls([("write_note", r#"{"text":"a"}"#)]).says("I may not.");
    let agent = Agent::builder(model).tools([WRITE_NOTE]).service(log.clone()).build().unwrap();
    let result = agent.run("Write.").await.unwrap();
    assert!(log.lines().is_empty());
    let Some(Message::Answers(answers)) = result.history().get(2) else { panic!("{result:?}") };
    let error = answers[0].1.error().unwrap();
    assert_eq!(error.kind(), "approval_required");
    let ways = error.source().unwrap().to_string();
    for way in [".approver(", ".policy(", ".unrestricted()"] {
        assert!(ways.contains(way), "{ways}");
    }
}

#[tokio::test]
async fn a_policy_may_let_more_run() {
    let log = Log::default();
    let model = ScriptedModel::new().calls([("write_note", r#"{"text":"a"}"#)]).says("Done.");
    let agent = Agent::builder(model).tools([WRITE_NOTE]).service(log.clone());
    let agent = agent.policy(Policy::builder().mode(Mode::AutoSafe)).build().unwrap();
    agent.run("Write.").await.unwrap();
    assert_eq!(log.lines(), ["write_note a"]);
}

#[tokio::test]
async fn a_run_that_ends_without_an_answer_is_an_error_that_has_what_came_of_it() {
    let model = ScriptedModel::new()
        .calls([("add", r#"{"a":1,"b":2}"#)])
        .calls([("add", r#"{"a":1,"b":3}"#)]);
    let agent =
        Agent::builder(model).tools([ADD]).service(Log::default()).unrestricted().max_turns(2);
    let error = agent.build().unwrap().run("Add.").await.unwrap_err();
    assert_eq!(error.to_string(), "ended after 2 turns, the most that it may take");
    assert_eq!(format!("{error:?}"), error.to_string(), "`main` prints an error by `Debug`");
    let result = error.result().unwrap();
    assert_eq!(result.end(), &Ended::Limit(Limit::Turns { turns: 2 }));
    assert_eq!((result.turns(), result.history().len()), (2, 5));
}

#[tokio::test]
async fn an_empty_prompt_is_refused_before_the_model_is_asked() {
    let agent = Agent::builder(ScriptedModel::new()).build().unwrap();
    for prompt in ["", " \n"] {
        let error = agent.run(prompt).await.unwrap_err();
        assert!(matches!(error, RunError::Stopped(_)), "{error}");
        assert!(error.to_string().contains("give it a text that is not empty"), "{error}");
    }
}

#[tokio::test]
async fn what_an_agent_lacks_is_said_when_it_is_built() {
    let error = Agent::builder(ScriptedModel::new()).tools([ADD, ADD]).build().unwrap_err();
    assert!(
        matches!(error, AgentError::Registry(_)) && error.to_string().contains("`add`"),
        "{error}"
    );
    let error = Agent::builder(ScriptedModel::new()).tools([ADD]).build().unwrap_err();
    assert!(
        error.to_string().contains("::Log`, which is not provided; register it with `.service(…)`"),
        "{error}"
    );
    let error = Agent::builder("acme:some-model").tools([ADD]).build().unwrap_err();
    assert!(error.to_string().contains("`acme`"), "{error}");
}

#[tokio::test]
async fn a_stream_gives_texts_calls_and_results_and_then_the_result() {
    let model = ScriptedModel::new()
        .streaming()
        .says_and_calls(
            "I add.",
            [("add", r#"{"a":1,"b":2}"#), ("log_in", r#"{"password":"hunter2"}"#)],
        )
        .says("Done.");
    let agent = Agent::builder(model).tools([ADD, LOG_IN]).service(Log::default()).unrestricted();
    let mut events = agent.build().unwrap().run("Add.").stream();
    let (mut text, mut calls, mut all) = (String::new(), Vec::new(), String::new());
    while let Some(event) = events.next().await {
        let event = event.unwrap();
        all += &serde_json::to_string(&event).unwrap();
        match event {
            RunEvent::Text(piece) => text += &piece,
            RunEvent::ToolCall(call) => calls.push(format!("{} {}", call.name, call.arguments)),
            RunEvent::ToolResult(result) => {
                calls.push(format!("{} = {}", result.name, result.text))
            }
            _ => {}
        }
    }
    assert_eq!(text, "I add.Done.");
    assert_eq!(calls, [r#"add {"a":1,"b":2}"#, "log_in ", "add = 3", "log_in = 7"]);
    assert!(!all.contains("hunter2"), "{all}");
    assert_eq!(events.result().unwrap().to_string(), "Done.");
}

#[tokio::test]
async fn a_stream_of_a_run_that_fails_ends_with_the_error() {
    let agent = Agent::builder(ScriptedModel::new()).build().unwrap();
    let events: Vec<_> = agent.run("").stream().collect().await;
    assert!(matches!(events.last(), Some(Err(RunError::Stopped(_)))), "{events:?}");
}

#[tokio::test]
async fn a_run_that_is_dropped_in_the_middle_cancels_its_calls() {
    let log = Log::default();
    let model = ScriptedModel::new().calls([("wait", "{}")]);
    let agent =
        Agent::builder(model).tools([WAIT]).service(log.clone()).unrestricted().build().unwrap();
    let mut events = agent.run("Wait.").stream();
    while let Some(event) = events.next().await {
        if matches!(event.unwrap(), RunEvent::Executing { .. }) {
            break;
        }
    }
    drop(events);
    tokio::task::yield_now().await;
    assert!(!log.lines().iter().any(|line| line.contains("waited")), "{:?}", log.lines());
}

#[tokio::test]
async fn a_token_cancels_a_run() {
    let token = CancellationToken::new();
    token.cancel();
    let agent = Agent::builder(ScriptedModel::new()).build().unwrap();
    let error = agent.run("Hello!").cancelled_by(token).await.unwrap_err();
    assert_eq!(error.result().unwrap().end(), &Ended::Cancelled);
}

#[tokio::test]
async fn a_chat_continues_what_was_said_and_each_result_is_of_its_own_turn() {
    let model = ScriptedModel::new().says("One.").says("Two.");
    let agent = Agent::builder(model).build().unwrap();
    let mut chat = agent.chat().id("c1").user("ada");
    assert_eq!(chat.send("First.").await.unwrap().to_string(), "One.");
    let mut events = chat.send("Second.").stream();
    while let Some(event) = events.next().await {
        event.unwrap();
    }
    let result = events.result().unwrap().clone();
    drop(events);
    assert_eq!(
        (result.to_string().as_str(), result.history().len(), result.turns()),
        ("Two.", 2, 1)
    );
    assert_eq!((result.id(), chat.history().len()), ("c1", 4));
}

#[tokio::test]
async fn a_chat_whose_turn_was_dropped_says_how_to_go_on_and_is_resumed() {
    let model = ScriptedModel::new().calls([("breathe", "{}")]).says("Better.");
    let agent = Agent::builder(model).tools([BREATHE]).service(Log::default()).build().unwrap();
    let mut chat = agent.chat();
    let mut events = chat.send("Breathe.").stream();
    while let Some(event) = events.next().await {
        if matches!(event.unwrap(), RunEvent::Executing { .. }) {
            break;
        }
    }
    drop(events);
    let error = chat.send("And now?").await.unwrap_err();
    assert!(error.to_string().contains("has calls without an answer"), "{error}");
    assert_eq!(chat.resume().await.unwrap().to_string(), "Better.");
}

#[tokio::test]
async fn what_is_set_after_the_first_message_is_refused_and_not_dropped() {
    let agent = Agent::builder(ScriptedModel::new().says("One.")).build().unwrap();
    let mut chat = agent.chat();
    chat.send("First.").await.unwrap();
    let error = chat.user("ada").send("Second.").now_or_never_error();
    assert!(error.contains("the conversation has begun"), "{error}");
}

/// The error of a turn that is over at once.
trait NowOrNever {
    fn now_or_never_error(self) -> String;
}

impl NowOrNever for toolwright_agent::ChatTurn<'_> {
    fn now_or_never_error(self) -> String {
        self.into_future().now_or_never().unwrap().unwrap_err().to_string()
    }
}
