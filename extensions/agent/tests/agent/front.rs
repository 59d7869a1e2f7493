//! The agent as a newcomer uses it: a model, tools, a task, its result, its events, a conversation.

use std::future::IntoFuture as _;
use std::sync::Arc;

use futures::{FutureExt as _, StreamExt as _};
use toolwright::journal::{Filter, Journal, MemoryStore, Page, State, Store as _};
use toolwright::policy::{Mode, Policy};
use toolwright::{CancellationToken, OnNoApprover, tool};
use toolwright_agent::{
    Agent, AgentError, Cost, Limit, Message, ModelAnswer, RunEnd, RunError, RunEvent,
    ScriptedModel, Usage,
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
    let Some(Message::ToolResults(answers)) = result.history().get(2) else { panic!("{result:?}") };
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
    assert_eq!(result.end(), &RunEnd::Limit(Limit::Turns { turns: 2 }));
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
    assert_eq!(error.to_string().matches("cannot be built").count(), 1, "{error}");
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
    assert_eq!(error.result().unwrap().end(), &RunEnd::Cancelled);
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

struct Shop(&'static str);

#[tokio::test]
async fn instructions_are_a_function_of_a_service_of_the_executor_or_of_the_run() {
    let of = |shop: &Shop| format!("You run {}.", shop.0);
    let model = Arc::new(ScriptedModel::new().says("Hello."));
    let agent = Agent::builder(Arc::clone(&model)).service(Shop("a shop")).instructions(of);
    agent.build().unwrap().run("Hello!").await.unwrap();
    assert_eq!(model.requests()[0].instructions, "You run a shop.");

    let model = Arc::new(ScriptedModel::new().says("Hello.").says("Hello."));
    let agent = Agent::builder(Arc::clone(&model)).executor(|executor| executor.per_run::<Shop>());
    let agent = agent.instructions(of).build().unwrap();
    for shop in ["one", "two"] {
        agent.run("Hello!").with(Shop(shop)).await.unwrap();
    }
    let systems: Vec<String> = model.requests().into_iter().map(|it| it.instructions).collect();
    assert_eq!(systems, ["You run one.", "You run two."]);
}

#[tokio::test]
async fn instructions_whose_service_is_missing_are_an_error_of_build() {
    let agent = Agent::builder(ScriptedModel::new()).instructions(|shop: &Shop| shop.0.to_owned());
    let error = agent.build().unwrap_err().to_string();
    assert!(error.starts_with("the instructions need `&") && error.contains("::Shop`"), "{error}");
    assert!(error.contains("`.service(…)`"), "{error}");
}

/// A tool with a service.
struct Bundled;

impl toolwright::Bundle for Bundled {
    fn name(&self) -> String {
        "adding".to_owned()
    }

    fn install(self, executor: toolwright::ExecutorBuilder) -> toolwright::ExecutorBuilder {
        executor.tools([ADD]).service(Log::default())
    }
}

#[tokio::test]
async fn a_bundle_brings_its_tools_and_twice_is_an_error_with_both_places() {
    let model = ScriptedModel::new().calls([("add", r#"{"a":1,"b":2}"#)]).says("It is 3.");
    let agent = Agent::builder(model).with(Bundled).unrestricted().build().unwrap();
    assert_eq!(agent.run("1 + 2?").await.unwrap().turns(), 2);

    let error = Agent::builder(ScriptedModel::new()).with(Bundled).with(Bundled).build();
    let error = error.unwrap_err().to_string();
    assert!(error.contains("the bundle `adding` is given twice, at "), "{error}");
    assert_eq!(error.matches("front.rs").count(), 2, "{error}");
}

/// Cannot name its tools.
struct Away;

impl toolwright::Resolver for Away {
    fn resolve<'a>(
        &'a self,
        _: &'a str,
    ) -> futures::future::BoxFuture<
        'a,
        Result<Option<toolwright::Registration>, toolwright::ToolError>,
    > {
        async { Ok(None) }.boxed()
    }

    fn announced(
        &self,
    ) -> futures::future::BoxFuture<'_, Result<Vec<toolwright::Registration>, toolwright::ToolError>>
    {
        async { Err(toolwright::ToolError::new("unreachable", "the server is away")) }.boxed()
    }
}

#[tokio::test]
async fn a_run_whose_tools_cannot_be_listed_stops_before_the_model_is_asked() {
    let model = Arc::new(ScriptedModel::new());
    let agent = Agent::builder(Arc::clone(&model)).executor(|executor| executor.resolver(Away));
    let error = agent.build().unwrap().run("Hello!").await.unwrap_err();
    assert_eq!(error.to_string(), "the tools cannot be listed: the server is away");
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a_stream_that_is_not_read_asks_nothing() {
    let model = Arc::new(ScriptedModel::new());
    let agent = Agent::builder(Arc::clone(&model)).build().unwrap();
    let events = agent.run("Hello!").stream();
    tokio::task::yield_now().await;
    drop(events);
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn two_runs_of_one_id_at_once_are_refused_and_one_after_the_other_are_not() {
    let model = ScriptedModel::new().says("One.").says("Two.");
    let agent = Agent::builder(model).build().unwrap();
    let first = agent.run("First.").id("r1").stream();
    let error = agent.run("Second.").id("r1").await.unwrap_err().to_string();
    assert!(error.contains("the run `r1` of this agent goes on"), "{error}");
    drop(first);
    assert_eq!(agent.run("Again.").id("r1").await.unwrap().to_string(), "One.");

    let mut chat = agent.chat().id("c1");
    chat.send("Hello!").await.unwrap();
    let error = agent.chat().id("c1").send("Hello!").await.unwrap_err().to_string();
    assert!(error.contains("the run `c1` of this agent goes on"), "{error}");
}

#[tokio::test]
async fn a_chat_that_could_not_begin_has_its_options_when_it_is_tried_again() {
    let agent = Agent::builder(ScriptedModel::new().says("One.")).build().unwrap();
    let first = agent.run("First.").id("c1").stream();
    let token = CancellationToken::new();
    let mut chat = agent.chat().id("c1").cancelled_by(token.clone());
    let error = chat.send("Hello!").await.unwrap_err().to_string();
    assert!(error.contains("the run `c1` of this agent goes on"), "{error}");
    drop(first);
    assert_eq!(chat.send("Hello!").await.unwrap().id(), "c1");
    token.cancel();
    let error = chat.send("And now?").await.unwrap_err();
    assert_eq!(error.result().unwrap().end(), &RunEnd::Cancelled);
}

#[tokio::test]
async fn the_journal_says_that_a_run_was_dropped_in_the_middle() {
    let log = Log::default();
    let store = MemoryStore::new();
    let model = ScriptedModel::new().calls([("wait", "{}")]);
    let journal = Journal::new(store.clone()).record_reads().on_no_approver(OnNoApprover::Deny);
    let agent = Agent::builder(model).tools([WAIT]).service(log).unrestricted().journal(journal);
    let mut events = agent.build().unwrap().run("Wait.").id("dropped").stream();
    while let Some(event) = events.next().await {
        if matches!(event.unwrap(), RunEvent::Executing { .. }) {
            break;
        }
    }
    drop(events);
    let records = || async { store.list(&Filter::default(), Page::first(9)).await.unwrap().calls };
    while records().await[0].state == State::Running {
        tokio::task::yield_now().await;
    }
    let calls = records().await;
    assert_eq!((calls.len(), &*calls[0].place.run), (1, "dropped"));
    assert_eq!(calls[0].state, State::Cancelled, "{:?}", calls[0]);
}
