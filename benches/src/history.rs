//! A history of 10,000 messages in a window that is too small for it, against copying the history.
//!
//! The measure is the difference between a turn with a window and one without: the cost of the first compaction step,
//! which leaves out what can be fetched again and asks no model. The copy is of the list of messages, as a run that
//! is restored makes one.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tokio::runtime::{Builder, Runtime};
use toolwright::provider::ToolCall;
use toolwright::{Answer, Executor, Output, Registry, tool};
use toolwright_agent::{Agent, Limits, Message, ModelAnswer, RunEnd, State};

use crate::measure::{Contestant, Effort, print_ratio, print_table, take_turns};
use crate::timed::Timed;

const MESSAGES: usize = 10_000;

/// A window in tokens that holds a few of the messages.
const WINDOW: u64 = 200_000;

/// A window in tokens that holds everything four times.
const LARGE: u64 = 16_000_000;

/// Reads a file.
#[tool(group = "bench", effect = read)]
async fn read_file(
    /// Which.
    path: String,
) -> String {
    path
}

pub fn run(effort: Effort) -> Result<()> {
    let rounds = if effort == Effort::Full { 60 } else { 10 };
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let history = history();
    let [whole, small, large] =
        [None, Some(WINDOW), Some(LARGE)].map(|it| Windowed::of(&runtime, it));
    let (whole, small, large) = (whole?, small?, large?);
    let more = |windowed: &Windowed<'_>| {
        let without = whole.until_asked(&history)?;
        Ok(windowed.until_asked(&history)?.saturating_sub(without))
    };
    let rounds = take_turns(
        rounds,
        vec![
            Contestant::new("copy", || {
                let begun = Instant::now();
                let copied = black_box(history.to_vec());
                let took = begun.elapsed();
                drop(copied);
                Ok(took)
            }),
            Contestant::new("compact", || more(&small)),
            Contestant::new("below", || more(&large)),
        ],
    )?;
    let mut rows = vec![vec![format!("{MESSAGES} messages"), "ms".to_owned()]];
    let names = [
        ("copy", "copied"),
        ("compact", "a window of 200,000 tokens, more than without"),
        ("below", "a window in which all fits, more than without"),
    ];
    for (name, words) in names {
        rows.push(vec![words.to_owned(), format!("{:.3}", rounds.median(name)? * 1e3)]);
    }
    print_table(&rows);
    print_ratio("history", "compact", &rounds.ratio("compact", "copy")?, "copy");
    print_ratio("history", "below", &rounds.ratio("below", "copy")?, "copy");
    Ok(())
}

struct Windowed<'a> {
    runtime: &'a Runtime,
    agent: Agent,
    model: Arc<Timed>,
}

impl<'a> Windowed<'a> {
    fn of(runtime: &'a Runtime, window: Option<u64>) -> Result<Self> {
        let model = Timed::new(|_| ModelAnswer::text("Done."));
        let executor = Executor::builder(Registry::of([READ_FILE])?).unrestricted().build()?;
        let agent = Agent::on(executor, Arc::clone(&model));
        let agent = window.into_iter().fold(agent, |agent, tokens| agent.window(tokens));
        Ok(Self { runtime, agent: agent.build()?, model })
    }

    /// Returns the time from the user's message to the request.
    fn until_asked(&self, history: &[Message]) -> Result<Duration> {
        let state = State::new(Limits::default());
        let mut run = self.agent.new_run("bench").restored(state, history.to_vec()).start()?;
        let begun = Instant::now();
        match self.runtime.block_on(run.send("And the last one?"))? {
            RunEnd::Text { .. } => {}
            other => bail!("{other}"),
        }
        Ok(*self.model.take().first().context("the model was not asked")? - begun)
    }
}

/// Makes a history: a task, and turns that read files, each file several times.
fn history() -> Vec<Message> {
    let turn = |number: usize| {
        let call = ToolCall {
            id: Some(format!("call_{number}")),
            name: "read_file".into(),
            arguments: format!(r#"{{"path":"src/lib_{}.rs"}}"#, number % 1_500),
        };
        let text = format!("fn line_{number}() {{ \"quoted\" }}\n").repeat(30);
        let answer = Answer::from(Output::text(text));
        [Message::assistant("I read it.", [call.clone()]), Message::tool_results([(call, answer)])]
    };
    let task = std::iter::once(Message::user("Read all of them."));
    task.chain((0..MESSAGES / 2).flat_map(turn)).collect()
}
