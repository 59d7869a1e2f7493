//! Runs that are recorded in a journal, so that any process can resume them.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use toolwright::CancellationToken;
use toolwright::journal::State;
use toolwright_agent::durable::{Head, NewRun, Progress, RunError, Runner, Runs, Waiting};
use toolwright_agent::{Agent, AgentBuilder};

use crate::application::{self, Application, Parts};
use crate::arguments::{self, Arguments, Provider, TrustedKey};
use crate::counted::Counted;
use crate::end::{End, Problem};
use crate::journal::Journal;
use crate::model::Models;
use crate::offline::{self, Copied};
use crate::run::{SYSTEM, print};
use crate::said::Said;
use crate::signals::Signals;
use crate::sizes::Sizes;
use crate::state;
use crate::transcript::Transcript;

/// The agent's name in the records of the runs.
const AGENT: &str = "coder";

/// How long to wait before checking a run again that another process drives, or whose lease has not expired.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// How long running calls may take to end when the program is stopped.
const GRACE: Duration = Duration::from_secs(5);

/// The settings of a run that are stored with it in the journal.
#[derive(Debug, Serialize, Deserialize)]
pub struct Stored {
    folder: PathBuf,
    offline: bool,
    sandbox: bool,
    #[serde(default)]
    shell: bool,
    provider: String,
    base_url: Option<String>,
    #[serde(default)]
    key_command: Option<Vec<String>>,
    model: String,
    turns: u32,
    #[serde(default)]
    window: Option<u64>,
}

/// Records a new run and drives it.
pub async fn start(
    arguments: &Arguments,
    durable: &arguments::Durable,
    transcript: Transcript,
) -> Result<u8, Problem> {
    let journal = Journal::open(&durable.journal).await?;
    let known = Runs::of(Arc::clone(&journal.store)).head(&durable.run).await;
    if !matches!(known, Err(RunError::NoSuchRun { .. })) {
        let exists = || RunError::Exists { run: durable.run.clone() };
        return Err(refused(known.map_or_else(|error| error, |_| exists())));
    }
    let folder = match arguments.offline {
        true => {
            let copied = Copied::make()?;
            transcript.note("folder", &format!("{} ({})", copied.path().display(), copied.words()));
            copied.persisted()
        }
        false => {
            let folder = arguments.folder.clone();
            folder.canonicalize().map_err(|error| Problem::Folder { folder, error })?
        }
    };
    let stored = Stored {
        folder,
        offline: arguments.offline,
        sandbox: arguments.sandbox,
        shell: arguments.shell,
        provider: arguments.provider.name().to_owned(),
        base_url: arguments.base_url.clone(),
        key_command: arguments.key_command.clone(),
        model: arguments.model.clone(),
        turns: arguments.turns,
        window: arguments.window,
    };
    let data = serde_json::to_value(&stored);
    let data = data.map_err(|error| Problem::application("the run cannot be stored", error))?;
    let new = NewRun::new(&durable.run, AGENT, &arguments.task).data(data);
    transcript.note("run", &format!("{} in {}", durable.run, durable.journal.display()));
    let run = DrivenRun { run: &durable.run, trusted: &durable.trusted, transcript };
    driven(&stored, run, Some(new), Answered::default(), journal).await
}

/// Resumes a recorded run.
pub async fn resume(durable: &arguments::Durable, transcript: Transcript) -> Result<u8, Problem> {
    let journal = Journal::open_existing(&durable.journal).await?;
    let runs = Runs::of(Arc::clone(&journal.store));
    let head = runs.head(&durable.run).await.map_err(refused)?;
    if let Some(how) = &head.ended {
        return Err(Problem::Usage(format!(
            "run `{}` has ended ({how}); look at it with `toolwright runs show {0} {}`",
            durable.run,
            journal.option()
        )));
    }
    let stored = stored_of(&runs, &head)?;
    let run = DrivenRun { run: &durable.run, trusted: &durable.trusted, transcript };
    driven(&stored, run, None, Answered::of(&head), journal).await
}

/// Returns the settings that are stored with a run.
pub fn stored_of(runs: &Runs, head: &Head) -> Result<Stored, Problem> {
    let info = runs.info(head).map_err(refused)?;
    serde_json::from_value(info.data().clone()).map_err(|error| {
        Problem::failed(format!("run `{}` was not started by this program", head.run), error)
    })
}

/// How many answers of its recorded model a resumed run has used.
#[derive(Clone, Copy, Default)]
struct Answered {
    turns: u64,
    /// Whether the requests of the run differ from the recorded ones, so that they are not compared. A run that
    /// continues after a rewind has another id, and some answers contain the id.
    differs: bool,
}

impl Answered {
    fn of(head: &Head) -> Self {
        Self { turns: head.turn, differs: head.forked.is_some() }
    }
}

/// A run that this process drives.
struct DrivenRun<'a> {
    run: &'a str,
    trusted: &'a [TrustedKey],
    transcript: Transcript,
}

pub fn refused(error: RunError) -> Problem {
    match error {
        error @ (RunError::NoSuchRun { .. } | RunError::Exists { .. } | RunError::Id { .. }) => {
            Problem::Usage(error.to_string())
        }
        error => Problem::failed("the run cannot go on", error),
    }
}

async fn driven(
    stored: &Stored,
    driven: DrivenRun<'_>,
    new: Option<NewRun>,
    answered: Answered,
    journal: Journal,
) -> Result<u8, Problem> {
    let DrivenRun { run, trusted, transcript } = driven;
    let arguments = stored.arguments()?;
    let counted = Counted::default();
    let log = state::log_of(&stored.folder)?;
    let option = journal.option();
    let Application { executor, without_wall, .. } = application::executor(Parts {
        folder: &stored.folder,
        sandbox: stored.sandbox,
        servers: None,
        log: &log,
        journal: Some(journal),
        counted: &counted,
        shell: stored.shell,
        trusted,
    })?;
    if let Some(words) = without_wall {
        transcript.note("sandbox", &words);
    }
    let replays = match stored.offline {
        true => {
            let Answered { turns, differs } = answered;
            // Recorded requests contain the whole history. With a window, requests lack some of it.
            let is_compared = !differs && stored.window.is_none();
            let folder = &stored.folder;
            vec![offline::replay_after(arguments.provider, turns, folder, is_compared).await?]
        }
        false => Vec::new(),
    };
    let sizes = stored.window.map(|_| Sizes::default());
    let models = Models::of(&arguments, &replays, None, sizes.clone(), transcript)?;
    let said = Said::default();
    let heard = said.clone();
    let agent = Agent::on(executor.clone(), Arc::clone(&models.model))
        .instructions(SYSTEM)
        .max_turns(stored.turns);
    let agent = stored.window.into_iter().fold(agent, AgentBuilder::window);
    let agent = agent
        .listen(move |notice| {
            sizes.iter().for_each(|it| it.notice(notice, transcript));
            transcript.notice(notice, &heard);
        })
        .build()
        .map_err(|error| Problem::application("the provider does not take the tools", error))?;
    transcript.follow(&said, || agent.events(run));
    let agents = Runner::builder().agent(AGENT, agent).build();
    let agents =
        agents.map_err(|error| Problem::application("the run cannot be recorded", error))?;

    let signals = Signals::listen();
    let stopped = signals.token();
    let mut rests = pin!(until_it_rests(&agents, run, new, &stopped));
    let progress = tokio::select! {
        progress = &mut rests => progress.map_err(refused)?,
        // Draining releases the run, so that the next process need not wait for its lease.
        () = stopped.cancelled() => {
            let _ = tokio::join!(executor.drain(GRACE), rests);
            transcript.note("stopped", &format!("`coder resume {run}` goes on with it"));
            return Ok(signals.exit_code());
        }
    };
    let (provider, model) = (arguments.provider.name(), stored.model.as_str());
    let mut end = match progress {
        Progress::Ended(ended) => End::of(Ok(ended), provider, model),
        Progress::Waiting(waiting) => {
            let (tool, words) = wants(&waiting, run, &option);
            End::waiting(tool, words, provider, model)
        }
        _ => return Err(Problem::Usage(format!("run `{run}` was written by a newer release"))),
    };
    let head = agents.head(run).await.map_err(refused)?;
    end.turns = head.turn;
    end.spent(head.spent);
    (end.waited, end.at_once) = counted.total();
    // The copy of an offline run is not removed, since a rewind needs it.
    end.folder = Some(stored.folder.display().to_string());
    // If another process cancelled the run, there is no signal that determines the exit code.
    let code = end.exit_code().unwrap_or(1);
    if code == 0 {
        for replay in replays {
            replay
                .finish()
                .map_err(|error| Problem::failed("the recording was not followed", error))?;
        }
    }
    transcript.note("end", &end.words());
    print(&end)?;
    Ok(code)
}

/// Drives the run until it ends, or a call waits for a person.
async fn until_it_rests(
    agents: &Runner,
    run: &str,
    new: Option<NewRun>,
    stopped: &CancellationToken,
) -> Result<Progress, RunError> {
    let mut progress = match new {
        Some(new) => agents.start(new).await,
        None => agents.resume(run).await,
    };
    loop {
        match &progress {
            // Try again later: the lease of a dead process expires, and an unreachable model becomes reachable.
            Err(error) if error.goes_on_later() => {}
            Ok(Progress::Waiting(waiting)) if waits_for_no_person(waiting) => {}
            _ => return progress,
        }
        tokio::select! {
            () = stopped.cancelled() => return progress,
            () = tokio::time::sleep(LOOK_AGAIN) => {}
        }
        progress = match &progress {
            Err(RunError::ModelUnreachable { until, .. }) if Timestamp::now() < *until => progress,
            _ => agents.resume(run).await,
        };
    }
}

fn waits_for_no_person(waiting: &Waiting) -> bool {
    let asks =
        |state: &State| matches!(state, State::Pending | State::Indeterminate | State::Planned);
    !waiting.calls.iter().any(|call| asks(&call.state))
}

/// Returns the tool of the first waiting call, and the commands by which a person can decide about all waiting calls.
fn wants(waiting: &Waiting, run: &str, option: &str) -> (String, String) {
    let calls = waiting.calls.iter().map(|it| format!("`{}` ({}, {})", it.tool, it.call, it.state));
    let calls: Vec<String> = calls.collect();
    let is_indeterminate = waiting.calls.iter().any(|it| it.state == State::Indeterminate);
    let command = if is_indeterminate { "indeterminate list" } else { "approvals list" };
    let words = format!(
        "waits for {}; look with `toolwright {command} {option}`, decide, then `coder resume {run}`",
        calls.join(", ")
    );
    (waiting.calls.first().map_or_else(String::new, |it| it.tool.clone()), words)
}

impl Stored {
    /// Returns the folder in which the run works.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the arguments with which the run was started, as far as a resumed run needs them.
    fn arguments(&self) -> Result<Arguments, Problem> {
        let provider = Provider::by_name(&self.provider).ok_or_else(|| {
            Problem::Usage(format!(
                "the run was started with the provider `{}`, which this release does not know",
                self.provider
            ))
        })?;
        Ok(Arguments {
            agents: false,
            task: String::new(),
            folder: self.folder.clone(),
            provider,
            fallback: None,
            base_url: self.base_url.clone(),
            key_command: self.key_command.clone(),
            model: self.model.clone(),
            turns: self.turns,
            window: self.window,
            offline: self.offline,
            keep: true,
            sandbox: self.sandbox,
            shell: self.shell,
            record: None,
            mcp: None,
            json: false,
            report: false,
            durable: None,
        })
    }
}
