//! The body of a request for a run of 200 turns, for each provider: from the history to JSON text.
//!
//! The floor copies the same bytes. Each turn of the history has a text of the model, a call, and an answer of about
//! a thousand bytes. The listing of the ten tools is made once for all turns, and is part of the body.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use futures::future::BoxFuture;
use tokio::runtime::{Builder, Runtime};
use toolwright::__private0::{Handle, Spec};
use toolwright::dialect::Dialect;
use toolwright::provider::{Provider, ToolCall};
use toolwright::{Answer, Executor, Output, Registry};
use toolwright_agent::http::HttpModel;
use toolwright_agent::{
    Agent, Limits, Message, Model, ModelAnswer, ModelError, ModelRequest, RunEnd, State,
};

use crate::measure::{Contestant, Effort, print_ratio, print_table, take_turns};

const TURNS: usize = 200;
const TOOLS: usize = 10;

pub fn run(effort: Effort) -> Result<()> {
    let (rounds, times) = match effort {
        Effort::Full => (100, 20),
        Effort::Quick => (10, 5),
    };
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let history = history();
    let mut table = vec![["provider", "bytes", "µs", "µs, copied"].map(str::to_owned).to_vec()];
    let mut ratios = Vec::new();
    for provider in Provider::ALL {
        let model = Arc::new(Measured::of(provider, times)?);
        let agent = agent(&model)?;
        asked(&runtime, &agent, &history)?;
        let bytes = model.bytes.load(Ordering::Relaxed);
        ensure!(bytes > TURNS * 1_000, "{provider}: a body of {bytes} bytes has no history in it");
        let taken = |index: usize| {
            asked(&runtime, &agent, &history)?;
            Ok(model.took.lock().unwrap_or_else(PoisonError::into_inner)[index])
        };
        let contestants =
            vec![Contestant::new("toolwright", || taken(0)), Contestant::new("copy", || taken(1))];
        let rounds = take_turns(rounds, contestants)?;
        let micros = |name| rounds.median(name).map(|it| format!("{:.0}", it * 1e6 / times as f64));
        table.push(vec![
            provider.to_string(),
            bytes.to_string(),
            micros("toolwright")?,
            micros("copy")?,
        ]);
        ratios.push((provider, rounds.ratio("toolwright", "copy")?));
    }
    print_table(&table);
    for (provider, ratio) in ratios {
        print_ratio("request", provider.name(), &ratio, "copy");
    }
    Ok(())
}

/// A model that sends nothing, and measures how long it takes to make the body of its request, and to copy it.
struct Measured {
    model: HttpModel,
    times: usize,
    took: Mutex<[Duration; 2]>,
    bytes: AtomicUsize,
}

impl Measured {
    fn of(provider: Provider, times: usize) -> Result<Self> {
        let model = HttpModel::of(provider, "model-1")?.base_url("http://127.0.0.1:1").build()?;
        Ok(Self { model, times, took: Mutex::default(), bytes: AtomicUsize::new(0) })
    }

    fn measure(&self, request: &ModelRequest<'_>) -> Result<(), ModelError> {
        let body = self.model.body(request)?;
        let begun = Instant::now();
        for _ in 0..self.times {
            black_box(self.model.body(black_box(request))?);
        }
        let written = begun.elapsed();
        let begun = Instant::now();
        for _ in 0..self.times {
            black_box(black_box(&body).clone());
        }
        *self.took.lock().unwrap_or_else(PoisonError::into_inner) = [written, begun.elapsed()];
        self.bytes.store(body.len(), Ordering::Relaxed);
        Ok(())
    }
}

impl Model for Measured {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn dialect(&self) -> Dialect {
        self.model.dialect()
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async move { self.measure(&request).map(|()| ModelAnswer::text("Done.")) })
    }
}

fn agent(model: &Arc<Measured>) -> Result<Agent> {
    let tools = (0..TOOLS).map(|number| {
        let name = Box::leak(format!("tool_{number}").into_boxed_str());
        Handle::new(Box::leak(Box::new(Spec { name, ..Spec::EMPTY })))
    });
    let executor = Executor::builder(Registry::of(tools)?).unrestricted().build()?;
    Ok(Agent::on(executor, Arc::clone(model)).instructions("You are good at sums.").build()?)
}

fn asked(runtime: &Runtime, agent: &Agent, history: &[Message]) -> Result<()> {
    let state = State::new(Limits::default());
    let mut run = agent.new_run("bench").restored(state, history.to_vec()).start()?;
    match runtime.block_on(run.send("And the last one?"))? {
        RunEnd::Text { .. } => Ok(()),
        other => bail!("{other}"),
    }
}

fn history() -> Vec<Message> {
    let turn = |number: usize| {
        let call = ToolCall {
            id: Some(format!("call_{number}")),
            name: "tool_1".into(),
            arguments: format!(r#"{{"path":"src/lib_{number}.rs"}}"#),
        };
        let text = format!("fn line_{number}() {{ \"quoted\" }}\n").repeat(30);
        let answer = Answer::from(Output::text(text));
        [Message::assistant("I read it.", [call.clone()]), Message::tool_results([(call, answer)])]
    };
    let task = std::iter::once(Message::user("Read all of them."));
    task.chain((0..TURNS).flat_map(turn)).collect()
}
