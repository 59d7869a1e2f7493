//! Toolwright: the agent's loop over a run of the executor, with the whole pipeline of each call.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use toolwright::__private0::{Handle, Spec};
use toolwright::provider::ToolCall;
use toolwright::{Answer, Executor, Output, Registry, tool};
use toolwright_agent::{
    AfterDecision, Agent, BeforeDecision, Guard, Limits, Message, RunEnd, ScriptedModel, State,
};

use super::{CALLS, HISTORY, LAST_WORD, QUESTION, SYSTEM, TOOLS};

/// Adds two numbers.
#[tool(group = "bench", effect = read)]
async fn add(
    /// The first.
    a: i64,
    /// The second.
    b: i64,
) -> i64 {
    a + b
}

pub struct Ours {
    agent: Agent,
    model: Arc<ScriptedModel>,
    history: Vec<Message>,
}

impl Ours {
    /// Makes an agent whose script lasts for the given number of turns. With `is_guarded` it has four guards, which let
    /// everything through.
    pub fn new(turns: u32, is_guarded: bool) -> Result<Self> {
        let others = (1..TOOLS).map(|number| {
            let name = Box::leak(format!("tool_{number}").into_boxed_str());
            Handle::new(Box::leak(Box::new(Spec { name, ..Spec::EMPTY })))
        });
        let registry = Registry::of(std::iter::once(ADD).chain(others))?;
        let executor = Executor::builder(registry).unrestricted().build()?;
        let texts = CALLS.map(|(a, b, _)| format!(r#"{{"a":{a},"b":{b}}}"#));
        let mut model = ScriptedModel::new();
        for _ in 0..turns {
            model = model.calls(texts.iter().map(|text| ("add", text.as_str()))).says(LAST_WORD);
        }
        let model = Arc::new(model);
        let mut agent = Agent::on(executor, Arc::clone(&model)).instructions(SYSTEM);
        if is_guarded {
            agent = agent
                .guard(Guard::before_run("prompt", async |_| BeforeDecision::Continue))
                .guard(Guard::before_model("request", async |_| BeforeDecision::Continue))
                .guard(Guard::after_model("answer", async |_| AfterDecision::Continue))
                .guard(Guard::after_run("end", async |_| AfterDecision::Continue));
        }
        let agent = agent.build()?;
        Ok(Self { agent, model, history: history() })
    }
}

impl super::Agent for Ours {
    async fn turn(&self) -> Result<String> {
        let history = self.history.clone();
        let state = State::new(Limits::default());
        let mut run = self.agent.new_run("bench").restored(state, history).start()?;
        match run.send(QUESTION).await? {
            RunEnd::Text { text, .. } => Ok(text),
            other => bail!("{other}"),
        }
    }

    fn read(&self) -> Result<String> {
        let requests = self.model.requests();
        let last = requests.last().and_then(|it| it.history.last());
        let Some(Message::ToolResults(answered)) = last else { bail!("no answers") };
        let texts: Vec<String> = answered.iter().map(|(_, it)| it.text().into_owned()).collect();
        Some(texts.join(" ")).context("no request")
    }
}

/// Makes five rounds of a question, a call, its answer and a text.
fn history() -> Vec<Message> {
    let round = |number: usize| {
        let id = format!("earlier_{number}");
        let call = ToolCall {
            id: Some(id),
            name: "add".into(),
            arguments: format!(r#"{{"a":{number},"b":1}}"#),
        };
        let answer = Answer::from(Output::text((number + 1).to_string()));
        [
            Message::user(format!("What is the sum of order {number}?")),
            Message::assistant("I add it up.", [call.clone()]),
            Message::tool_results([(call, answer)]),
            Message::assistant(format!("It is {}.", number + 1), []),
        ]
    };
    (0..HISTORY / 4).flat_map(round).collect()
}
