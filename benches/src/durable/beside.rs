//! Measures a new run beside many runs that wait for a person, and beside ten: from `submit` to its end, with a
//! worker that has already looked at all waiting runs. Its model answers twice, each time as quickly as a small model
//! does.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use futures::FutureExt as _;
use futures::future::{BoxFuture, try_join_all};
use toolwright::dialect::Dialect;
use toolwright::journal::{Journal, SqliteStore};
use toolwright::provider::ToolCall;
use toolwright::{Executor, OnNoApprover, Registry, tool};
use toolwright_agent::durable::{NewRun, Phase, Runner};
use toolwright_agent::{Agent, Message, Model, ModelAnswer, ModelError, ModelRequest};

use super::{Files, RECORD_NOTE};
use crate::measure::Effort;

const FEW: usize = 10;

/// How long the model takes to answer.
const ANSWER: Duration = Duration::from_millis(100);

/// How many runs are started at once.
const AT_ONCE: usize = 64;

/// How long the worker is left alone after it has looked at each waiting run.
const SETTLE: Duration = Duration::from_secs(3);

/// Pays, when a person agrees.
#[tool(approval = "it pays", writes())]
async fn pay(
    /// How much, in cents.
    cents: u32,
) -> u32 {
    cents
}

/// A model that calls `pay` where the prompt asks for it, takes a note otherwise, and then ends.
struct Clerk;

impl Model for Clerk {
    fn name(&self) -> &'static str {
        "clerk"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        let is_first = request.history.len() == 1;
        let first = request.history.first();
        let pays = matches!(first, Some(Message::User { text, .. }) if text == PAY_PROMPT);
        let (name, arguments) = match pays {
            true => ("pay", r#"{"cents":300}"#),
            false => ("record_note", r#"{"text":"the quick brown fox"}"#),
        };
        async move {
            if !pays {
                tokio::time::sleep(ANSWER).await;
            }
            let (id, name) = (Some("call-1".to_owned()), name.to_owned());
            Ok(match is_first {
                true => ModelAnswer::new(
                    "",
                    vec![ToolCall { id, name, arguments: arguments.to_owned() }],
                ),
                false => ModelAnswer::text("Done."),
            })
        }
        .boxed()
    }
}

const PAY_PROMPT: &str = "pay the bill";

/// The median time of a new run, beside many waiting runs and beside ten.
pub struct Beside {
    pub waiting: usize,
    pub many: Duration,
    pub few: Duration,
}

pub fn beside(files: &Files, effort: Effort) -> Result<Beside> {
    let (waiting, times) = match effort {
        Effort::Full => (3_000, 31),
        Effort::Quick => (300, 5),
    };
    // The measures run one after the other, each with its own runtime, so that the worker of one does not disturb the
    // other.
    let few = median_beside(&files.next(), FEW, times)?;
    let many = median_beside(&files.next(), waiting, times)?;
    Ok(Beside { waiting, many, few })
}

fn median_beside(file: &Path, waiting: usize, times: usize) -> Result<Duration> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    runtime.block_on(async {
        let runner = runner(file).await?;
        for first in (0..waiting).step_by(AT_ONCE) {
            let some = first..waiting.min(first + AT_ONCE);
            try_join_all(
                some.map(|run| runner.start(NewRun::new(format!("w{run}"), "clerk", PAY_PROMPT))),
            )
            .await?;
        }
        let working = tokio::spawn({
            let runner = runner.clone();
            async move { runner.work().await }
        });
        // After a new run has ended, the worker has looked at each waiting one.
        new_run(&runner, "first").await?;
        tokio::time::sleep(SETTLE).await;
        let mut took = Vec::with_capacity(times);
        for time in 0..times {
            took.push(new_run(&runner, &format!("n{time}")).await?);
        }
        for run in [0, waiting / 2, waiting - 1] {
            let head = runner.head(&format!("w{run}")).await?;
            ensure!(head.phase == Phase::Waiting, "run w{run} does not wait: {:?}", head.phase);
        }
        working.abort();
        took.sort();
        Ok(took[times / 2])
    })
}

async fn new_run(runner: &Runner, run: &str) -> Result<Duration> {
    let start = Instant::now();
    runner.submit(NewRun::new(run, "clerk", "take a note")).await?;
    while runner.head(run).await?.phase != Phase::Ended {
        ensure!(
            start.elapsed() < Duration::from_secs(60),
            "run {run} has not ended within a minute"
        );
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Ok(start.elapsed())
}

async fn runner(file: &Path) -> Result<Runner> {
    let journal = Journal::new(SqliteStore::open(file).await?).on_no_approver(OnNoApprover::Park);
    let executor =
        Executor::builder(Registry::of([RECORD_NOTE, PAY])?).unrestricted().journal(journal);
    let agent = Agent::on(executor.build()?, Clerk).build()?;
    Ok(Runner::builder().agent("clerk", agent).build()?)
}
