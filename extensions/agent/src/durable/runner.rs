//! Works on the recorded runs of agents: starts, resumes and cancels them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use toolwright::Content;
use toolwright::unstable::changes::FileChanges;
use toolwright::unstable::runs::JournalAccess;

use super::background::rests_in_background;
use super::builder::{RunnerBuilder, StoredOnFailure, StoredServices};
use super::crashes::SuspectPlace;
use super::head::{Cancelled, Head, Phase, read};
use super::inbox::{self, Urgency};
use super::keys;
use super::progress::Progress;
use super::remembered::RunMemory;
use super::rewind::{Redone, Rewind};
use super::runs::{Runs, head_of};
use super::submitted::Submitted;
use super::taken_by::TakenBy;
use super::{NewRun, RunError};
use crate::agent::Agent;
use crate::history::{Message, Prompt};
use crate::run::AgentRunBuilder;

/// The pause before a run that another process drives is read again.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Works on runs that outlive their processes. A run is a set of documents in the journal of the executor. Every
/// process that opens the journal and has the run's agent can drive the run, one process at a time.
///
/// - [`start`](Self::start) records a run and drives it. If a call waits for a person, the run is
///   [`Progress::Waiting`], and the process may end.
/// - [`work`](Self::work), spawned once in each process, drives every run whose driver is gone and every run whose
///   calls are decided.
/// - [`resume`](Self::resume) and [`wait`](Self::wait) drive one run by its id.
///
/// `docs/runs.md` describes the commits, and the effects of a crash before or after each.
///
/// ```
/// use toolwright::journal::{Journal, MemoryStore};
/// use toolwright::{Executor, OnNoApprover, Registry, tool};
/// use toolwright_agent::durable::{Runner, NewRun};
/// use toolwright_agent::{Agent, ScriptedModel};
///
/// /// The ticket that a run is about.
/// struct Ticket(String);
///
/// /// Closes the ticket.
/// #[tool(effect = once)]
/// async fn close_ticket(ticket: &Ticket) -> String {
///     format!("{} is closed", ticket.0)
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// // A SQLite file in an application: `SqliteStore::open("calls.db").await?`.
/// let executor = Executor::builder(Registry::of([CLOSE_TICKET])?)
///     .unrestricted()
///     .per_run::<Ticket>()
///     .journal(Journal::new(MemoryStore::new()).on_no_approver(OnNoApprover::Park))
///     .build()?;
/// let model = ScriptedModel::new().calls([("close_ticket", "{}")]).says("It is closed.");
/// let runner = Runner::builder()
///     .agent("support", Agent::on(executor, model).build()?)
///     .services(|run, builder| Ok(builder.with(Ticket(run.data()["ticket"].to_string()))))
///     .build()?;
///
/// let run = NewRun::new("desk-3", "support", "close my ticket").data(serde_json::json!({ "ticket": 7 }));
/// let progress = runner.start(run).await?;
/// assert_eq!(progress.to_string(), "ended with a text");
///
/// // In this process or another: the run is in the journal.
/// assert_eq!(runner.history("desk-3").await?.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Runner(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) agents: BTreeMap<String, Agent>,
    pub(super) access: JournalAccess,
    pub(super) services: StoredServices,
    pub(super) on_failure: StoredOnFailure,
    /// How many runs this process drives at once, including those that wait for their models.
    pub(super) at_once: usize,
    /// Limits how many runs of the worker run calls at the same time.
    pub(super) places: Arc<Semaphore>,
    pub(super) remembered: RunMemory,
    pub(super) suspects: SuspectPlace,
    pub(super) submitted: Submitted,
}

impl Runner {
    /// Returns a builder, which gathers agents.
    #[must_use]
    pub fn builder() -> RunnerBuilder {
        RunnerBuilder::default()
    }

    /// Records a new run and drives it until it ends or waits. If the future is dropped, the run stays in the journal.
    /// Another process can take it when the lease has ended, and this process at once.
    ///
    /// # Errors
    /// When the journal has or had a run of this id, the run's agent is not known, its services cannot be made, or the
    /// run stops without an end; see [`RunError`].
    pub async fn start(&self, run: NewRun) -> Result<Progress, RunError> {
        self.0.drive(&mut self.0.begin_run(run).await?).await
    }

    /// Records a new run and leaves the run to a process that [works](Self::work), which may be this process.
    ///
    /// # Errors
    /// The errors of [`start`](Self::start), except those of driving the run.
    pub async fn submit(&self, run: NewRun) -> Result<(), RunError> {
        let id = run.info.id.clone();
        self.0.begin_run(run).await?.record.recorded.release().await?;
        self.0.submitted.note(&id);
        Ok(())
    }

    /// Resumes a run and drives it until it ends or waits; returns the end of a run that has ended already. A run that
    /// is parked, or whose model was unavailable, is driven at once as well, because the caller has dealt with the
    /// cause.
    ///
    /// # Errors
    /// When another process drives the run ([`RunError::Driven`]), there is no such run, its record is damaged or of a
    /// newer release, its model is unavailable ([`RunError::ModelUnreachable`]), or the run stops without an end; see
    /// [`RunError`].
    pub async fn resume(&self, run: &str) -> Result<Progress, RunError> {
        self.0.gone_on(run, TakenBy::Operator).await
    }

    /// Waits until a run has ended, and drives it whenever no other process does. Spawn the executor's
    /// [`Worker::work`](toolwright::Worker::work) or [`Runner::work`](Self::work) in some process, so that decided
    /// calls run.
    ///
    /// # Errors
    /// The errors of [`resume`](Self::resume), with two exceptions. While another process drives the run or its model
    /// is unavailable, this method waits. A parked run stays parked ([`RunError::Parked`]).
    pub async fn wait(&self, run: &str) -> Result<crate::events::RunEnd, RunError> {
        loop {
            // Subscribe before reading, so that no change is missed.
            let changed = self.0.access.store.changed();
            match self.0.gone_on(run, TakenBy::Worker).await {
                Ok(Progress::Ended(ended)) => return Ok(ended),
                Ok(Progress::Waiting(_) | Progress::Queued) => {}
                Err(error) if error.goes_on_later() => {}
                Err(error) => return Err(error),
            }
            let _ = timeout(LOOK_AGAIN, changed).await;
        }
    }

    /// Sends another message to a run. A run that has ended continues with the message. A run that is at work or waits
    /// for a person gets the message with its next request ([`Progress::Queued`]). The message is recorded before this
    /// method returns. If the run ends with an answer before it has read the message, the run continues with the
    /// message. If a limit or an error ends the run, the message waits until another message is sent.
    ///
    /// The run reads the messages of one process in the order in which they were sent. It reads messages of several
    /// processes, sent before the same request, in the order of the clocks of these processes.
    ///
    /// # Errors
    /// When the message is empty, or the run was cancelled or went back to an earlier turn; also the errors of
    /// [`resume`](Self::resume).
    pub async fn send(&self, run: &str, text: &str) -> Result<Progress, RunError> {
        self.send_with(run, text, []).await
    }

    /// Sends another message to a run, as [`send`](Self::send) does, and interrupts a request to the model that is in
    /// progress: the driver aborts the request, counts its usage, and asks the model again with the message. Calls are
    /// not interrupted: the model reads the message together with their answers.
    ///
    /// # Errors
    /// The errors of [`send`](Self::send).
    pub async fn send_now(&self, run: &str, text: &str) -> Result<Progress, RunError> {
        self.say(run, text, Arc::default(), Urgency::Now).await
    }

    /// Sends another message to a run, as [`send`](Self::send) does, but only once for each key. If a message was sent
    /// to the run under this key before, this method sends nothing; it only continues the run if no process drives it.
    /// So a caller that does not know whether its message arrived, for instance because its connection broke, can call
    /// this method again.
    ///
    /// # Errors
    /// When the key is empty, longer than 200 bytes, or has a slash or a control character, or as for
    /// [`send`](Self::send).
    pub async fn send_once(&self, run: &str, key: &str, text: &str) -> Result<Progress, RunError> {
        if let Some(why) = keys::problem(key) {
            return Err(RunError::MessageKey { key: key.to_owned(), why });
        }
        if text.trim().is_empty() {
            return Err(crate::run::Stopped::NothingSaid.into());
        }
        let prompt = Prompt { text: text.to_owned(), attachments: Vec::new() };
        self.0.queue_message(run, prompt, Urgency::Next, Some(key)).await
    }

    /// Sends another message with pictures or documents, as [`send`](Self::send) does; the text may be empty.
    ///
    /// # Errors
    /// The errors of [`send`](Self::send).
    pub async fn send_with(
        &self,
        run: &str,
        text: &str,
        attachments: impl Into<Arc<[Content<'static>]>>,
    ) -> Result<Progress, RunError> {
        self.say(run, text, attachments.into(), Urgency::Next).await
    }

    async fn say(
        &self,
        run: &str,
        text: &str,
        attachments: Arc<[Content<'static>]>,
        urgency: Urgency,
    ) -> Result<Progress, RunError> {
        if text.trim().is_empty() && attachments.is_empty() {
            return Err(crate::run::Stopped::NothingSaid.into());
        }
        if self.0.head(run).await?.0.phase != Phase::Ended {
            let prompt = Prompt { text: text.to_owned(), attachments: attachments.to_vec() };
            return self.0.queue_message(run, prompt, urgency, None).await;
        }
        self.0.drive(&mut self.0.say_to_ended(run, text, attachments, &mut None).await?).await
    }

    /// Cancels a run: its driver answers its open calls, and records the end with who cancelled the run and why. If no
    /// process drives the run, this process does both. A run that has ended stays as it is.
    ///
    /// # Errors
    /// When there is no such run, the journal fails, or no process drives the run and this process cannot end it.
    pub async fn cancel(&self, run: &str, who: &str, why: &str) -> Result<(), RunError> {
        self.runs().cancel(run, who, why, self.0.access.now()).await?;
        match self.0.gone_on(run, TakenBy::Worker).await {
            Err(error) if !error.is_elsewhere() => Err(error),
            _ => Ok(()),
        }
    }

    /// Makes a new run from the record of another run up to the end of a turn; see [`Runs::fork`]. The new run
    /// continues when it is [resumed](Self::resume), or at once if a process [works](Self::work). If the model was done
    /// with the last copied turn, the new run has ended, and [`send`](Self::send) continues it.
    ///
    /// # Errors
    /// The errors of [`Runs::fork`].
    pub async fn fork(&self, run: &str, turn: u64, new: &str) -> Result<Head, RunError> {
        self.runs().fork(run, turn, new, self.0.access.now()).await
    }

    /// Goes back to an earlier turn of a run, and restores the files of that turn; see [`Runs::rewind`].
    ///
    /// # Errors
    /// The errors of [`Runs::rewind`].
    pub async fn rewind(
        &self,
        run: &str,
        turn: u64,
        new: Option<&str>,
        files: &dyn FileChanges,
    ) -> Result<Rewind, RunError> {
        self.runs().rewind(run, turn, new, files, self.0.access.now()).await
    }

    /// Undoes a rewind; see [`Runs::redo`].
    ///
    /// # Errors
    /// The errors of [`Runs::redo`].
    pub async fn redo(&self, run: &str, files: &dyn FileChanges) -> Result<Redone, RunError> {
        self.runs().redo(run, files, self.0.access.now()).await
    }

    /// Removes the record of a run that has ended; see [`Runs::remove`].
    ///
    /// # Errors
    /// The errors of [`Runs::remove`].
    pub async fn remove(&self, run: &str) -> Result<(), RunError> {
        self.runs().remove(run, self.0.access.now()).await
    }

    fn runs(&self) -> Runs {
        Runs::of(Arc::clone(&self.0.access.store)).sealed(self.0.access.sealing.clone())
    }

    /// Reads the recorded state of a run.
    ///
    /// # Errors
    /// When there is no such run, or its head cannot be read.
    pub async fn head(&self, run: &str) -> Result<Head, RunError> {
        Ok(self.0.head(run).await?.0)
    }

    /// Reads the recorded history of a run.
    ///
    /// # Errors
    /// When there is no such run, or its record is damaged.
    pub async fn history(&self, run: &str) -> Result<Vec<Message>, RunError> {
        loop {
            let (head, version) = self.0.head(run).await?;
            match self.0.turns(&head, version).await {
                // A driver has committed between the two reads.
                Err(RunError::LeaseLost { .. }) => tokio::task::yield_now().await,
                turns => return Ok(turns?.1.history),
            }
        }
    }
}

impl Inner {
    /// Makes a runner for the runs of one agent. `services` adds the services of each run.
    pub(super) fn of_one(
        agent: &Agent,
        access: JournalAccess,
        services: impl Fn(AgentRunBuilder) -> AgentRunBuilder + Send + Sync + 'static,
    ) -> Self {
        let agents = BTreeMap::from([(agent.0.name.clone(), agent.clone())]);
        let services: StoredServices = Some(Box::new(move |_, builder| Ok(services(builder))));
        let (remembered, suspects, submitted) = Default::default();
        let (on_failure, at_once, places) = (None, 1, Arc::new(Semaphore::new(1)));
        Self {
            agents,
            access,
            services,
            on_failure,
            at_once,
            places,
            remembered,
            suspects,
            submitted,
        }
    }

    /// Reads the head of a run and the version of its document.
    pub(super) async fn head(&self, run: &str) -> Result<(Head, u64), RunError> {
        head_of(&*self.access.store, run).await
    }

    pub(super) fn agent(&self, name: &str) -> Result<&Agent, RunError> {
        self.agents.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.agents.keys().map(String::as_str).collect();
            RunError::NoAgent { agent: name.to_owned(), known: known.join(", ") }
        })
    }

    /// Leaves a message for the driver of a run. If the run has ended and its driver has not seen the message, this
    /// process continues the run with the message. If a message was sent under the key `once` before, its sender may
    /// have died, so this process continues the run unless another process drives it.
    pub(super) async fn queue_message(
        &self,
        run: &str,
        prompt: Prompt,
        urgency: Urgency,
        once: Option<&str>,
    ) -> Result<Progress, RunError> {
        let put = inbox::put(&self.access, run, prompt, urgency, once).await?;
        let (head, _) = self.head(run).await?;
        let has_ended = head.phase == Phase::Ended;
        if rests_in_background(&head) || (put.is_none() && !has_ended) {
            // Boxed, so that the type of this future is no part of the types of the callers' futures.
            return match self.gone_on(run, TakenBy::Worker).boxed().await {
                Err(error) if error.is_elsewhere() => Ok(Progress::Queued),
                gone_on => gone_on,
            };
        }
        let is_left = match &put {
            Some(key) => self.access.store.document(key).await?.is_some(),
            None => true,
        };
        if !has_ended || !is_left {
            return Ok(Progress::Queued);
        }
        match self.spoken_of_inbox(run).await {
            Ok(Some(mut driven)) => self.drive(&mut driven).await,
            Ok(None) if put.is_none() => self.gone_on(run, TakenBy::Worker).boxed().await,
            Ok(None) => Ok(Progress::Queued),
            // Another process has read the message too, and has taken the run first.
            Err(error) if error.is_elsewhere() => Ok(Progress::Queued),
            Err(error) => Err(error),
        }
    }

    /// Returns whether the journal has a cancellation of the run.
    pub(super) async fn is_cancelled(&self, run: &str) -> Result<bool, RunError> {
        let key = keys::cancel(run);
        let Some(found) = self.access.store.document(&key).await? else { return Ok(false) };
        let read: Result<Cancelled, _> = read("cancellation of a run", &found.text);
        read.map(|_| true).map_err(|error| RunError::damaged(&key, error))
    }
}

impl fmt::Debug for Runner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Runner").field("agents", &self.0.agents).finish_non_exhaustive()
    }
}
