//! An application with a few tools, and what of a history is compared.

use std::sync::{Arc, Mutex};

use toolwright::provider::ToolCall;
use toolwright::{Answer, Executor, ExecutorBuilder, Registry, ToolContext, ToolError, tool};
use toolwright_agent::{Agent, AgentBuilder, AgentRun, Message, ScriptedModel, check};

/// What ran, in order.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Looks a word up.
#[tool(effect = read)]
pub async fn look_up(
    log: &Log,
    /// Which.
    word: String,
) -> String {
    log.add(format!("look_up {word}"));
    format!("the meaning of {word}")
}

/// Adds two numbers.
#[tool(effect = read)]
pub async fn add(
    log: &Log,
    /// The first.
    a: i64,
    /// The second.
    b: i64,
) -> i64 {
    log.add(format!("add {a} {b}"));
    a.saturating_add(b)
}

/// Fails.
#[tool(effect = read)]
pub async fn fail(
    log: &Log,
    /// How.
    how: String,
) -> Result<String, ToolError> {
    log.add(format!("fail {how}"));
    match how.as_str() {
        "never" => Ok("fine".to_owned()),
        "panic" => panic!("on purpose"),
        _ => Err(ToolError::new("on_purpose", format!("it failed: {how}"))),
    }
}

/// Waits until it is cancelled or its time is up.
#[tool(effect = read, timeout = "60s")]
pub async fn wait(log: &Log) {
    log.add("wait");
    std::future::pending::<()>().await;
}

/// Cancels the run, as a user does who presses a key while it runs.
#[tool(effect = read)]
pub async fn cancel(log: &Log, token: &toolwright::CancellationToken) -> &'static str {
    log.add("cancel");
    token.cancel();
    std::future::pending::<()>().await;
    "not reached"
}

/// Deletes a file, when a person agrees.
#[tool(effect = once, danger = dangerous, approval = "it deletes a file", writes(file = path))]
pub async fn delete(
    log: &Log,
    /// Which.
    path: String,
) -> String {
    log.add(format!("delete {path}"));
    format!("deleted {path}")
}

/// Marks the task as complete.
#[tool(effect = read, terminal)]
pub async fn complete_task(
    log: &Log,
    context: &ToolContext,
    /// What was done.
    summary: String,
) -> Result<String, ToolError> {
    let _ = context;
    log.add(format!("complete_task {summary}"));
    match summary.as_str() {
        "" => Err(ToolError::invalid("the summary is empty")),
        _ => Ok(format!("Task completed: {summary}")),
    }
}

/// An executor of all of them but `cancel`, which asks nobody but about `delete`.
pub fn builder(log: &Log) -> ExecutorBuilder {
    let tools = [LOOK_UP, ADD, FAIL, WAIT, DELETE, COMPLETE_TASK];
    Executor::builder(Registry::of(tools).unwrap()).service(log.clone())
}

pub fn agent(log: &Log, model: ScriptedModel) -> AgentBuilder<Executor> {
    Agent::on(builder(log).unrestricted().build().unwrap(), model)
}

pub fn run(agent: AgentBuilder<Executor>) -> AgentRun {
    agent.build().unwrap().new_run("r").start().unwrap()
}

/// The kinds of the answers of each turn, `ok` for a result. The history has to be sound.
pub fn kinds(history: &[Message]) -> Vec<Vec<String>> {
    assert_eq!(check(history), Ok(&[] as &[ToolCall]));
    let turns = history.iter().filter_map(|message| match message {
        Message::ToolResults(answered) => Some(answered),
        _ => None,
    });
    let kind = |answer: &Answer| answer.error().map_or("ok", |it| it.kind()).to_owned();
    turns.map(|answered| answered.iter().map(|(_, answer)| kind(answer)).collect()).collect()
}

/// Each message by one word, and how much is in it.
pub fn outline(history: &[Message]) -> Vec<String> {
    let word = |message: &Message| match message {
        Message::User { text, .. } => format!("user: {text}"),
        Message::Assistant { text, calls, .. } => format!("model: {text} +{}", calls.len()),
        Message::ToolResults(answered) => format!("answers: {}", answered.len()),
        _ => panic!("an unknown message"),
    };
    history.iter().map(word).collect()
}

pub fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: Some(id.into()), name: name.into(), arguments: arguments.into() }
}
