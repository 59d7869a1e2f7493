//! Works on the recorded runs of agents: starts them, takes them up, cancels them.

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
use super::taken_by::TakenBy;
use super::{NewRun, RunError};
use crate::agent::Agent;
use crate::history::{Message, Prompt};
use crate::run::AgentRunBuilder;

/// How long until a run that is driven elsewhere is looked at again.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Works on the runs of some agents that outlive their processes. A run is a set of documents in the journal of the executor; every process that
/// opens the journal and knows the run's agent can drive it, one at a time.
///
/// - [`start`](Self::start) records a run and drives it. A call that waits for a person makes it
///   [`Progress::Waiting`], and the process may end.
/// - [`work`](Self::work), spawned once in each process, takes up every run whose driver is gone and every run whose calls are
///   decided.
/// - [`resume`](Self::resume) and [`wait`](Self::wait) drive one run by its id.
///
/// What each commit holds, and what a crash before or after it leads to, is in `docs/runs.md`.
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
    /// How many runs go on at once, those among them that wait for their models.
    pub(super) at_once: usize,
    /// The places for those of a worker whose calls run.
    pub(super) places: Arc<Semaphore>,
    pub(super) remembered: RunMemory,
    pub(super) suspects: SuspectPlace,
}

impl Runner {
    /// Gathers agents.
    #[must_use]
    pub fn builder() -> RunnerBuilder {
        RunnerBuilder::default()
    }

    /// Records a new run and drives it until it ends or waits. Dropping the future leaves the run to the next driver, when
    /// the lease has ended.
    ///
    /// # Errors
    /// When there is such a run already, its agent is not known, its services cannot be made, or it stops without an end; see
    /// [`RunError`].
    pub async fn start(&self, run: NewRun) -> Result<Progress, RunError> {
        self.0.drive(&mut self.0.begin_run(run).await?).await
    }

    /// Records a new run for a process that [works](Self::work), which may be this one.
    ///
    /// # Errors
    /// As [`start`](Self::start), but nothing of it is driven.
    pub async fn submit(&self, run: NewRun) -> Result<(), RunError> {
        self.0.begin_run(run).await?.record.recorded.release().await
    }

    /// Takes a run up and drives it until it ends or waits; of one that has ended it gives the end. A run that is parked, or whose
    /// model is away, is taken up at once: who names it has seen to the cause.
    ///
    /// # Errors
    /// When another process drives it ([`RunError::Driven`]), there is no such run, its record is damaged or of a newer
    /// release, its model is away ([`RunError::ModelUnreachable`]), or it stops without an end.
    pub async fn resume(&self, run: &str) -> Result<Progress, RunError> {
        self.0.gone_on(run, TakenBy::Operator).await
    }

    /// Waits until a run has ended, and drives it whenever no other process does. Spawn the executor's
    /// [`Worker::work`](toolwright::Worker::work) or [`Runner::work`](Self::work) somewhere, so that decided calls run.
    ///
    /// # Errors
    /// As [`resume`](Self::resume), but it waits while another process drives the run or its model is away, and a run that is parked
    /// stays so ([`RunError::Parked`]).
    pub async fn wait(&self, run: &str) -> Result<crate::events::RunEnd, RunError> {
        loop {
            // Asked for before the look, so that no change is missed.
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

    /// Says more in a run. One that has ended is driven on. One that works, waits or is driven elsewhere gets it with its next
    /// request ([`Progress::Queued`]): recorded before this returns, once, in the order in which it was said. A run that is
    /// done goes on where something waits for it; one that a limit or an error has ended reads it with the next message.
    ///
    /// # Errors
    /// When the run was cancelled, and those of [`resume`](Self::resume).
    pub async fn send(&self, run: &str, text: &str) -> Result<Progress, RunError> {
        self.send_with(run, text, []).await
    }

    /// Says more in a run, as [`send`](Self::send) does, and does not wait for the end of a request to the model that is under way: that
    /// request is given up, what it took counts, and the model is asked again with what was said. No call is given up: where calls run,
    /// the model reads it with their answers.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn send_now(&self, run: &str, text: &str) -> Result<Progress, RunError> {
        self.say(run, text, Arc::default(), Urgency::Now).await
    }

    /// Says more with pictures or documents, as [`send`](Self::send) does; the text may be empty.
    ///
    /// # Errors
    /// As [`send`](Self::send).
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
            return self.0.queue_message(run, prompt, urgency).await;
        }
        self.0.drive(&mut self.0.say_to_ended(run, text, attachments, &mut None).await?).await
    }

    /// Cancels a run: its driver answers its open calls and records the end, with who cancelled it and why. Where no process
    /// drives it, that is done here. Of a run that has ended it changes nothing.
    ///
    /// # Errors
    /// When there is no such run, or the journal fails.
    pub async fn cancel(&self, run: &str, who: &str, why: &str) -> Result<(), RunError> {
        self.runs().cancel(run, who, why, self.0.access.now()).await?;
        match self.0.gone_on(run, TakenBy::Worker).await {
            Err(error) if !error.is_elsewhere() => Err(error),
            _ => Ok(()),
        }
    }

    /// Makes a new run from the record of another up to the end of a turn; see [`Runs::fork`]. The new one goes on when it is
    /// [resumed](Self::resume), or at once where a process [works](Self::work); one whose last turn has no calls has ended, and
    /// goes on by [`send`](Self::send).
    ///
    /// # Errors
    /// As [`Runs::fork`].
    pub async fn fork(&self, run: &str, turn: u64, new: &str) -> Result<Head, RunError> {
        self.runs().fork(run, turn, new, self.0.access.now()).await
    }

    /// Goes back to an earlier turn of a run, with its files; see [`Runs::rewind`].
    ///
    /// # Errors
    /// As [`Runs::rewind`].
    pub async fn rewind(
        &self,
        run: &str,
        turn: u64,
        new: Option<&str>,
        files: &dyn FileChanges,
    ) -> Result<Rewind, RunError> {
        self.runs().rewind(run, turn, new, files, self.0.access.now()).await
    }

    /// Takes a rewind back; see [`Runs::redo`].
    ///
    /// # Errors
    /// As [`Runs::redo`].
    pub async fn redo(&self, run: &str, files: &dyn FileChanges) -> Result<Redone, RunError> {
        self.runs().redo(run, files, self.0.access.now()).await
    }

    /// Removes the record of a run that has ended; see [`Runs::remove`].
    ///
    /// # Errors
    /// As [`Runs::remove`].
    pub async fn remove(&self, run: &str) -> Result<(), RunError> {
        self.runs().remove(run, self.0.access.now()).await
    }

    fn runs(&self) -> Runs {
        Runs::of(Arc::clone(&self.0.access.store)).sealed(self.0.access.sealing.clone())
    }

    /// Reads the state of a run, as it is recorded.
    ///
    /// # Errors
    /// When there is no such run, or its head cannot be read.
    pub async fn head(&self, run: &str) -> Result<Head, RunError> {
        Ok(self.0.head(run).await?.0)
    }

    /// Reads the history of a run, as it is recorded.
    ///
    /// # Errors
    /// When there is no such run, or its record is damaged.
    pub async fn history(&self, run: &str) -> Result<Vec<Message>, RunError> {
        loop {
            let (head, version) = self.0.head(run).await?;
            match self.0.turns(&head, version).await {
                // A driver has committed in between.
                Err(RunError::LeaseLost { .. }) => tokio::task::yield_now().await,
                turns => return Ok(turns?.1.history),
            }
        }
    }
}

impl Inner {
    /// What works on the runs of one agent, whose services each run brings.
    pub(super) fn of_one(
        agent: &Agent,
        access: JournalAccess,
        services: impl Fn(AgentRunBuilder) -> AgentRunBuilder + Send + Sync + 'static,
    ) -> Self {
        let agents = BTreeMap::from([(agent.0.name.clone(), agent.clone())]);
        let services: StoredServices = Some(Box::new(move |_, builder| Ok(services(builder))));
        let (remembered, suspects) = Default::default();
        let (at_once, places) = (1, Arc::new(Semaphore::new(1)));
        Self { agents, access, services, on_failure: None, at_once, places, remembered, suspects }
    }

    /// The head of a run and the version of its document.
    pub(super) async fn head(&self, run: &str) -> Result<(Head, u64), RunError> {
        head_of(&*self.access.store, run).await
    }

    /// Takes a run up, if that may be, and drives it.
    pub(super) async fn gone_on(&self, run: &str, by: TakenBy) -> Result<Progress, RunError> {
        match Box::pin(self.take_run(run, by)).await? {
            Ok(mut driven) => self.drive(&mut driven).await,
            Err(progress) => Ok(progress),
        }
    }

    /// Takes a run up for a worker, of which a limited number runs calls at once.
    pub(super) async fn worked_on(&self, run: &str) -> Result<(), RunError> {
        if let Ok(mut driven) = Box::pin(self.take_run(run, TakenBy::Worker)).await? {
            driven.record.places = Some(Arc::clone(&self.places));
            self.drive(&mut driven).await?;
        }
        Ok(())
    }

    pub(super) fn agent(&self, name: &str) -> Result<&Agent, RunError> {
        self.agents.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.agents.keys().map(String::as_str).collect();
            RunError::NoAgent { agent: name.to_owned(), known: known.join(", ") }
        })
    }

    /// Leaves a message to the driver of a run. Where the run has ended meanwhile, and its driver has not seen the message, it is
    /// said here.
    pub(super) async fn queue_message(
        &self,
        run: &str,
        prompt: Prompt,
        urgency: Urgency,
    ) -> Result<Progress, RunError> {
        let key = inbox::put(&self.access, run, prompt, urgency).await?;
        let (head, _) = self.head(run).await?;
        if rests_in_background(&head) {
            // Boxed, so that its type is none of the callers' types.
            return match self.gone_on(run, TakenBy::Worker).boxed().await {
                Err(error) if error.is_elsewhere() => Ok(Progress::Queued),
                gone_on => gone_on,
            };
        }
        let has_ended = head.phase == Phase::Ended;
        if !has_ended || self.access.store.document(&key).await?.is_none() {
            return Ok(Progress::Queued);
        }
        match self.spoken_of_inbox(run).await {
            Ok(Some(mut driven)) => self.drive(&mut driven).await,
            Ok(None) => Ok(Progress::Queued),
            // Another process has seen it too, and was faster.
            Err(error) if error.is_elsewhere() => Ok(Progress::Queued),
            Err(error) => Err(error),
        }
    }

    /// Whether the end of a run was requested.
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
