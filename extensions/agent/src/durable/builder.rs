//! Gathers the agents whose runs are durable, and the function that makes the services of a run.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Semaphore;
use toolwright::unstable::runs::JournalAccess;

use super::runner::{Inner, Runner};
use super::{RunError, RunInfo};
use crate::agent::Agent;
use crate::run::AgentRunBuilder;

type Failure = Box<dyn Error + Send + Sync>;
type Services =
    Box<dyn Fn(&RunInfo, AgentRunBuilder) -> Result<AgentRunBuilder, Failure> + Send + Sync>;
type OnFailure = Box<dyn Fn(&str, &RunError) + Send + Sync>;

/// The default limit on how many runs of a process run calls at the same time.
const RUNS_AT_ONCE: usize = 100;

/// A process drives this many times as many runs as may run calls at the same time, because most runs wait for their
/// models and run no calls.
const WITH_ASKING: usize = 10;

/// A builder for a [`Runner`].
#[derive(Default)]
pub struct RunnerBuilder {
    agents: BTreeMap<String, Agent>,
    twice: Option<String>,
    services: Option<Services>,
    on_failure: Option<OnFailure>,
    at_once: Option<NonZeroUsize>,
}

/// Why a runner cannot work on the runs of its agents.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    /// No agent was given.
    #[error("no agent was given; add at least one with `.agent(name, agent)`")]
    NoAgent,
    /// Two agents have one name.
    #[error("two agents are named `{name}`; give each a name of its own")]
    Twice {
        /// The name that both have.
        name: String,
    },
    /// The executor of an agent has no journal.
    #[error(
        "the executor of agent `{agent}` has no journal, in which its runs could be recorded; give one with `.journal(…)`"
    )]
    NoJournal {
        /// The name of the agent.
        agent: String,
    },
    /// Two executors have different journals.
    #[error(
        "agent `{agent}` has another journal than the agents before it; give all executors one store with `Journal::shared`"
    )]
    OtherJournal {
        /// The name of the agent.
        agent: String,
    },
    /// Two executors differ in a setting that all runs of a journal share.
    #[error(
        "agent `{agent}` has another {what} than the agents before it; give all executors the same"
    )]
    Differs {
        /// The name of the agent.
        agent: String,
        /// The setting that differs: `sealing key`, `lease` or `clock`.
        what: &'static str,
    },
    /// A tool takes a secret, and the journal has no key to encrypt the secret.
    #[error(
        "the tool `{tool}` of agent `{agent}` takes a secret, which its runs would record; give its journal one by `Journal::sealing_key`"
    )]
    NoSealingKey {
        /// The name of the agent.
        agent: String,
        /// The name of the tool.
        tool: String,
    },
    /// The runs of an agent need services, and the runner has no function that makes them.
    #[error(
        "the runs of agent `{agent}` need services that nothing makes when they are taken up; add `.services(…)`: {why}"
    )]
    NoServices {
        /// The name of the agent.
        agent: String,
        /// Which services are missing.
        why: String,
    },
}
toolwright::unstable::debug_as_sentence!(RunnerError);

impl RunnerBuilder {
    /// Adds an agent, whose runs are recorded in the journal of its executor. The journal stores them under this name:
    /// give the agent the same name in every process.
    #[must_use]
    pub fn agent(mut self, name: impl Into<String>, agent: Agent) -> Self {
        let name = name.into();
        if self.agents.insert(name.clone(), agent).is_some() {
            self.twice.get_or_insert(name);
        }
        self
    }

    /// Sets the function that makes the services of a run (`per_run` on the executor's builder) each time that a
    /// process takes the run. The function gets the data that was stored when the run was started. It must not block.
    #[must_use]
    pub fn services<F>(mut self, make: F) -> Self
    where
        F: Fn(&RunInfo, AgentRunBuilder) -> Result<AgentRunBuilder, Failure>
            + Send
            + Sync
            + 'static,
    {
        self.services = Some(Box::new(make));
        self
    }

    /// Limits how many runs of [`Runner::work`] run calls at once: 100 unless set. A run that waits for its model does
    /// not count: in all, the process drives up to ten times as many runs. Further runs stay in the journal until a
    /// driven run ends or waits, or another process takes them.
    #[must_use]
    pub fn runs_at_once(mut self, runs: NonZeroUsize) -> Self {
        self.at_once = Some(runs);
        self
    }

    /// Calls `notify` with the id of each run that [`Runner::work`] could not continue or has parked; the id is `-` if
    /// the worker could not read the list of runs. The worker retries a failed run after a pause, which grows from 5
    /// seconds to 5 minutes while the run fails. A parked run, and a run whose model is unavailable, have pauses of
    /// their own.
    #[must_use]
    pub fn on_failure(mut self, notify: impl Fn(&str, &RunError) + Send + Sync + 'static) -> Self {
        self.on_failure = Some(Box::new(notify));
        self
    }

    /// Makes the runner.
    ///
    /// # Errors
    /// When no agent was added; two agents have one name; an executor has no journal, or another journal, sealing key,
    /// lease or clock than the others; a tool takes a secret and no key could encrypt it; or runs need services and
    /// [`services`](Self::services) was not called.
    pub fn build(self) -> Result<Runner, RunnerError> {
        if let Some(name) = self.twice {
            return Err(RunnerError::Twice { name });
        }
        let mut access: Option<JournalAccess> = None;
        for (name, agent) in &self.agents {
            let agent_name = || name.clone();
            let Some(own) = agent.0.executor.journal_access() else {
                return Err(RunnerError::NoJournal { agent: agent_name() });
            };
            if access.as_ref().is_some_and(|it| !Arc::ptr_eq(&it.store, &own.store)) {
                return Err(RunnerError::OtherJournal { agent: agent_name() });
            }
            if let Some(what) = access.as_ref().and_then(|it| different(it, &own)) {
                return Err(RunnerError::Differs { agent: agent_name(), what });
            }
            if let Some(tool) = unsealed(agent, &own) {
                return Err(RunnerError::NoSealingKey { agent: agent_name(), tool });
            }
            if self.services.is_none()
                && let Err(missing) = agent.new_run(String::new()).has_services()
            {
                let why = missing.to_string();
                return Err(RunnerError::NoServices { agent: agent_name(), why });
            }
            access.get_or_insert(own);
        }
        let access = access.ok_or(RunnerError::NoAgent)?;
        let Self { agents, services, on_failure, at_once, .. } = self;
        let working = at_once.map_or(RUNS_AT_ONCE, NonZeroUsize::get).min(Semaphore::MAX_PERMITS);
        let (at_once, places) =
            (working.saturating_mul(WITH_ASKING), Arc::new(Semaphore::new(working)));
        let (remembered, suspects, submitted) = Default::default();
        let inner = Inner {
            agents,
            access,
            services,
            on_failure,
            at_once,
            places,
            remembered,
            suspects,
            submitted,
        };
        Ok(Runner(Arc::new(inner)))
    }
}

/// Returns the setting in which two executors differ although they have to agree.
fn different(one: &JournalAccess, other: &JournalAccess) -> Option<&'static str> {
    let is_same = match (&one.sealing, &other.sealing) {
        (None, None) => true,
        (Some(one), Some(other)) => {
            let sealed = one.seal("", b"the same key");
            sealed.is_ok_and(|sealed| other.open(&sealed, b"the same key").is_ok())
        }
        _ => false,
    };
    let (before, there, after) = (one.now(), other.now(), one.now());
    match (is_same, one.lease == other.lease, is_one_time(before, there, after)) {
        (false, _, _) => Some("sealing key"),
        (_, false, _) => Some("lease"),
        (_, _, false) => Some("clock"),
        _ => None,
    }
}

/// Returns whether the times of two clocks agree to within a second. `there` was read from the second clock, between
/// `before` and `after`.
fn is_one_time(before: Timestamp, there: Timestamp, after: Timestamp) -> bool {
    let near = SignedDuration::from_secs(1);
    there.duration_since(before) >= -near && there.duration_since(after) <= near
}

/// Returns the first tool that takes a secret, if no key could encrypt the secret.
pub(super) fn unsealed(agent: &Agent, access: &JournalAccess) -> Option<String> {
    if access.sealing.is_some() {
        return None;
    }
    let catalog = agent.0.executor.catalog();
    let found = catalog.definitions().find(|it| it.secrets().next().is_some());
    found.map(|definition| definition.name.to_string())
}

impl Inner {
    /// Adds the services of a run to its builder.
    pub(super) fn with_services(
        &self,
        info: &RunInfo,
        builder: AgentRunBuilder,
    ) -> Result<AgentRunBuilder, RunError> {
        let Some(make) = &self.services else { return Ok(builder) };
        make(info, builder).map_err(|error| {
            let (run, mut why) = (info.id.clone(), error.to_string());
            let mut cause = error.source();
            while let Some(source) = cause {
                why = format!("{why}: {source}");
                cause = source.source();
            }
            RunError::Services { run, why }
        })
    }
}

impl fmt::Debug for RunnerBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RunnerBuilder")
            .field("agents", &self.agents.keys())
            .finish_non_exhaustive()
    }
}

pub(super) type StoredServices = Option<Services>;
pub(super) type StoredOnFailure = Option<OnFailure>;
