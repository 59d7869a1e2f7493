//! One process that drives the runs of a folder, until it is killed, its time is up, or all runs have ended.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use toolwright::OnNoApprover;
use toolwright::journal::{Journal, Store};
use toolwright_agent::durable::{NewRun, RunError, Runner, Runs};
use toolwright_agent::{Agent, SubAgent};

use super::course::{self, Course};
use super::model::{HELPER, ScriptedModel, Summarizer};
use super::point::AgentPoint;
use super::store::{Fatal, FatalStore};
use super::turns::Turns;
use super::user::User;
use crate::Opens;
use crate::deadly::Deadly;
use crate::marks::Outside;
use crate::person;
use crate::point::Point;
use crate::tools::{World, tools};

/// The first argument of such a process.
pub const ARGUMENT: &str = "agent-life";

/// The name that the runs are stored with.
const AGENT: &str = "agent";

/// The name of the agent whose runs have a short time limit.
const LATE: &str = "late";

/// The context window of the agents: so small that turns are left out from the third or fourth on.
const WINDOW: u64 = 16_000;

/// How long a process pauses between two looks at waiting calls and runs.
const LOOK_AGAIN: Duration = Duration::from_millis(30);

/// The parameters of a process, as JSON on its command line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AgentLife {
    /// The folder with journal, marks and requests.
    pub folder: PathBuf,
    /// The number of the process in this folder.
    pub number: u32,
    /// The seed, which decides the answers of the model.
    pub seed: u64,
    /// How many runs there are.
    pub runs: u64,
    /// The point at which the process kills itself, and at which of its visits to that point, counted from 1.
    pub kill: Option<(String, u32)>,
    /// Whether the store reports the model's answer before it is durable.
    pub is_late: bool,
    /// The lease of the executor, in milliseconds.
    pub lease: u64,
    /// How long the process works, in milliseconds.
    pub works: u64,
}

impl AgentLife {
    /// Returns the command that starts the process.
    ///
    /// # Errors
    /// When the parameters cannot be written as JSON.
    pub fn command(&self, program: &Path) -> anyhow::Result<Command> {
        let mut command = Command::new(program);
        command.arg(ARGUMENT).arg(serde_json::to_string(self)?).stdin(Stdio::null());
        command.env("RUST_BACKTRACE", "0");
        Ok(command)
    }
}

/// Returns the id of a run.
pub fn id(run: u64) -> String {
    format!("run-{run}")
}

/// Returns the id of the run that continues from an earlier turn of this one.
pub fn id_again(run: u64) -> String {
    format!("run-{run}-again")
}

/// Drives the runs of the folder until the process is killed, its time is up, or all runs have ended.
///
/// # Errors
/// When journal or marks cannot be opened, or the agent cannot be built.
pub async fn live(life: AgentLife, store: &dyn Opens) -> anyhow::Result<()> {
    let point: Option<(AgentPoint, u32)> = match &life.kill {
        Some((point, nth)) => Some((point.parse().map_err(anyhow::Error::msg)?, *nth)),
        None => None,
    };
    let fatal = point.map_or_else(Fatal::default, |(point, nth)| Fatal::at(point, nth));
    let deadly = match point {
        Some((AgentPoint::Begun, nth)) => Deadly::at(Point::Begun, nth),
        Some((AgentPoint::Acted, nth)) => Deadly::at(Point::Acted, nth),
        _ => Deadly::default(),
    };
    let inner = store.open(&life.folder).await?;
    let store: Arc<dyn Store> = Arc::new(FatalStore::new(inner, fatal.clone(), life.is_late));
    let outside = Outside::open(&life.folder, life.number, true).context("the marks")?;
    let lease = Duration::from_millis(life.lease);
    let world = Arc::new(World { outside, deadly, slow: lease * 3 / 2 });
    let model = Arc::new(ScriptedModel::new(&life.folder, life.seed, life.number, fatal)?);
    let trusted = person::key()?.public();
    let agent = || {
        let journal = Journal::shared(Arc::clone(&store)).lease(lease);
        let journal = journal.trust("ada", trusted).on_no_approver(OnNoApprover::Park);
        let world = Arc::clone(&world);
        let helper = SubAgent::new(HELPER, "Does a task.").model(Arc::clone(&model));
        Agent::builder(Arc::clone(&model))
            .tools(tools())
            .executor(|executor| executor.service_arc(world))
            .with(Turns)
            .sub_agent(helper)
            .window(WINDOW)
            .summarizer(Summarizer)
            .unrestricted()
            .journal(journal)
            .max_repeated_failures(1_000)
    };
    let late = agent().max_duration(course::time(life.seed)).build()?;
    let agents = Runner::builder().agent(AGENT, agent().build()?).agent(LATE, late);
    let agents = agents.on_failure(|run, error| eprintln!("note: {run}: {error}")).build()?;
    for run in 0..life.runs {
        let is_late = matches!(Course::of(life.seed, run), Course::Late { .. });
        let name = if is_late { LATE } else { AGENT };
        match agents.submit(NewRun::new(id(run), name, run.to_string())).await {
            Ok(()) | Err(RunError::Exists { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let working = tokio::spawn({
        let agents = agents.clone();
        async move { agents.work().await }
    });
    let begun = Instant::now();
    let runs = Runs::of(Arc::clone(&store));
    let mut user = User::new(agents.clone(), &life)?;
    while begun.elapsed() < Duration::from_millis(life.works) {
        // This may fail on a full disk, for instance, so it is tried again.
        match looked(&store, &world, &runs, &mut user).await {
            Ok(true) => break,
            Ok(false) => {}
            Err(error) => eprintln!("error: the runs could not be looked after: {error:#}"),
        }
        anyhow::ensure!(!working.is_finished(), "the worker has ended: {:?}", working.await);
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    Ok(())
}

/// Plays the people once: decides on pending calls, sends the user's messages, and resumes parked runs. Returns whether
/// all runs have ended.
async fn looked(
    store: &Arc<dyn Store>,
    world: &World,
    runs: &Runs,
    user: &mut User,
) -> anyhow::Result<bool> {
    person::decide(store).await?;
    person::find_out(store, &world.outside, |_| true).await?;
    let has_said_all = user.looks_after().await?;
    let open = runs.list_open().await?;
    let is_over = has_said_all && open.is_empty();
    for head in open {
        let head = head?;
        if head.parked.is_some() {
            // Plays the operator, who has removed the reason for which the run was parked.
            let agents = user.agents.clone();
            tokio::spawn(async move { agents.resume(&head.run).await });
        }
    }
    Ok(is_over)
}
