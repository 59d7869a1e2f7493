//! Records a run in the journal: each step in one commit, under a lease, before the step takes effect.
//!
//! ```text
//!   the model's answer ──▶ the answers of all its calls ──▶ the model's next answer …
//!                             │ some calls wait
//!                             └─────▶ the answers so far; the lease is released
//! ```

mod commit;
mod driven_run;
mod next_head;
mod waiting;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolwright::provider::ToolCall;
use toolwright::unstable::runs::SubmittedTurn;
use toolwright::{Answer, Call, CallFailure, CancellationToken, Outcome, Run, StoredAnswer};

pub(super) use self::driven_run::DrivenRun;
use super::RunError;
use super::acknowledge::UnacknowledgedTurn;
use super::head::{Cancelled, Head};
use super::keys::Part;
use super::plugins::PluginDocument;
use super::progress::Waiting;
use super::recorded::LeasedRun;
use super::turn::ModelAnswered;
use crate::agent::Agent;
use crate::events::{GuardReport, RunEnd};
use crate::history::{LeftOut, Message, Prompt, Summary};
use crate::limits::share::{self, SpentShare};
use crate::model::{ModelAnswer, ModelError};
use crate::plugin::PluginTurn;
use crate::run::{
    Action, AgentRun, Away, BackgroundCall, Interruption, Recorder, State, Stop, Turn, TurnOutcome,
    Work,
};

/// The record of a run that this process drives.
pub(super) struct RunRecord {
    pub recorded: LeasedRun,
    pub agent: Agent,
    /// The token by which the application cancels the run.
    pub token: Option<CancellationToken>,
    /// Who has cancelled the run; `None` as long as this driver does not know of a cancellation.
    pub cancelled: Option<Cancelled>,
    /// The model's last answer without its message, until the answer is recorded.
    pub asked: Option<ModelAnswered>,
    /// The messages since the model's last answer: those of the user, and those that the run sent in the user's name. A
    /// new run that begins with an imported history has the whole history here, until it is recorded.
    pub said: Vec<Message>,
    /// The decisions of guards that the next step records.
    pub guards: Vec<GuardReport>,
    /// The decisions of guards since the last answer of the model.
    pub guarded: Vec<GuardReport>,
    /// The calls that go on in the background while the run continues.
    pub background: Vec<BackgroundCall>,
    /// The recorded answers of the open turn, by the index of the call; `None` if a call has no answer yet.
    pub so_far: Vec<Option<StoredAnswer>>,
    /// Records the states of plugins that tools set.
    pub plugins: Arc<PluginDocument>,
    /// The turns whose calls are not acknowledged yet.
    pub left: Vec<UnacknowledgedTurn>,
    /// Limits how many runs of the worker run calls at the same time.
    pub places: Option<Arc<Semaphore>>,
}

impl RunRecord {
    pub(super) fn new(
        recorded: LeasedRun,
        agent: &Agent,
        run: &AgentRun,
        plugins: Arc<PluginDocument>,
    ) -> Self {
        agent.0.drivers.begin(recorded.driver());
        Self {
            recorded,
            agent: agent.clone(),
            token: run.cancelled().cloned(),
            cancelled: None,
            asked: None,
            said: Vec::new(),
            guards: Vec::new(),
            guarded: Vec::new(),
            background: run.state().background().to_vec(),
            so_far: Vec::new(),
            plugins,
            left: Vec::new(),
            places: None,
        }
    }
}

impl Recorder for RunRecord {
    type Error = RunError;
    type Open = Vec<Outcome>;
    type Waiting = Waiting;
    type Maker = ();

    const BEGINS_READS: bool = false;
    const KNOWS_CALLS: bool = true;

    async fn begin(&mut self) {
        self.acknowledge().await;
    }

    fn left(&self) -> Option<RunError> {
        self.agent.0.executor.is_draining().then(|| self.shutting_down())
    }

    async fn stop(&mut self) -> Result<Option<Stop>, RunError> {
        if self.is_cancelled() {
            return Ok(Some(Stop::Cancelled));
        }
        let is_late = self.time_left().is_some_and(|left| left.is_zero());
        match self.recorded.find_cancellation().await {
            Ok(Some(cancelled)) => {
                self.cancelled = Some(cancelled);
                Ok(Some(Stop::Cancelled))
            }
            // The time limit applies even if the journal cannot be read.
            Err(error) if !is_late => Err(error),
            _ => Ok(is_late.then_some(Stop::TimeIsUp)),
        }
    }

    fn is_cancelled(&mut self) -> bool {
        let is_cancelled = self.token.as_ref().is_some_and(CancellationToken::is_cancelled);
        if is_cancelled && self.cancelled.is_none() {
            let (who, why) = ("application".to_owned(), "its token was cancelled".to_owned());
            self.cancelled = Some(Cancelled { who, why, at: self.recorded.access().now() });
        }
        is_cancelled
    }

    fn may_stop(&self) -> bool {
        true
    }

    fn time_left(&self) -> Option<Duration> {
        let left = self.recorded.access().now().duration_until(self.recorded.head.deadline?);
        Some(Duration::try_from(left).unwrap_or_default())
    }

    async fn wait_for_interruption(&mut self, work: Work) -> Interruption<RunError> {
        let executor = self.agent.0.executor.clone();
        tokio::select! {
            biased;
            () = executor.draining(), if work != Work::Calling => {
                Interruption::Leave(self.shutting_down())
            }
            interrupted = self.come_between(Some(work)) => interrupted,
        }
    }

    async fn place(&mut self) -> Result<Option<OwnedSemaphorePermit>, Interruption<RunError>> {
        let Some(places) = self.places.clone() else { return Ok(None) };
        tokio::select! {
            biased;
            // The semaphore is never closed.
            place = places.acquire_owned() => Ok(place.ok()),
            interrupted = self.wait_for_interruption(Work::Placing) => Err(interrupted),
        }
    }

    async fn hold<T: Send>(
        &mut self,
        work: impl Future<Output = T> + Send,
    ) -> (T, Option<RunError>) {
        let mut work = pin!(work);
        let interrupted = tokio::select! {
            biased;
            done = &mut work => return (done, None),
            interrupted = self.come_between(None) => interrupted,
        };
        let done = work.await;
        match interrupted {
            Interruption::Stop(_) | Interruption::Said => (done, None),
            Interruption::Leave(error) | Interruption::Lost(error) => (done, Some(error)),
        }
    }

    fn note(&mut self, answer: &ModelAnswer, left_out: &LeftOut, _: bool) {
        let ModelAnswer { model, usage, cost, prices, .. } = answer;
        let (model, usage, cost, prices) = (model.clone(), *usage, *cost, prices.clone());
        let left_out = left_out.clone();
        let asked =
            ModelAnswered { model, usage, cost, prices, left_out, ..ModelAnswered::default() };
        self.asked = Some(asked);
    }

    fn record_guards(&mut self, reports: Vec<GuardReport>) {
        self.guards.extend(reports);
    }

    async fn commit(
        &mut self,
        before: &State,
        next: &State,
        actions: &[Action],
        stop: Option<Stop>,
        plugins: Option<&PluginTurn>,
    ) -> Result<(), RunError> {
        self.commit_step(before, next, actions, stop, plugins).await
    }

    async fn record_summary(&mut self, state: &State, summary: &Summary) -> Result<(), RunError> {
        let key = Part::Summary.key(&self.recorded.head.run, state.turn() + 1);
        let write = self.recorded.write(key, summary)?;
        self.recorded.commit(self.head_of(state)?, vec![write]).await
    }

    async fn away(&mut self, state: &State, error: ModelError) -> Result<Away<RunError>, RunError> {
        self.rest(state, error).await
    }

    fn known(&self) -> Vec<Option<Answer>> {
        self.so_far.iter().map(|stored| stored.clone().map(StoredAnswer::into_answer)).collect()
    }

    async fn take_said(&mut self, is_ending: bool) -> Result<Vec<Prompt>, RunError> {
        if !is_ending {
            return self.recorded.take_messages().await;
        }
        // The model's answer that ends the run was paid for, so a failing store is retried before the driver gives up.
        let mut patience = self.patience();
        for times in 1.. {
            let taken = match self.recorded.note_listing().await {
                Ok(()) => self.recorded.take_messages().await,
                Err(error) => Err(error),
            };
            match taken {
                Err(RunError::Store(error)) => {
                    patience.after(&self.recorded.head.run, error, times).await?;
                }
                taken => return taken,
            }
        }
        Ok(Vec::new())
    }

    async fn sum_delegated(&mut self, state: &State) -> Result<SpentShare, RunError> {
        if self.agent.0.sub_agents.is_none() {
            return Ok(SpentShare::default());
        }
        let children = self.agent.0.ledger.children(&self.recorded.head.run, state.turn()).await?;
        Ok(share::spent(&children, None, state.turn()))
    }

    fn maker(&self) {}

    async fn submit(
        (): &(),
        run: &Run,
        number: u64,
        calls: &[Call<'_>],
        known: Vec<Option<Answer>>,
    ) -> Result<TurnOutcome<Vec<Outcome>>, CallFailure> {
        Ok(match run.submit_turn_again(number, calls, known).await? {
            SubmittedTurn::Answered(answers) => TurnOutcome::Answered(answers),
            SubmittedTurn::Waiting(outcomes) => TurnOutcome::Open(outcomes),
        })
    }

    fn answers_of(open: Vec<Outcome>) -> Vec<Option<Answer>> {
        open.into_iter().map(Outcome::answer).collect()
    }

    async fn wait(
        &mut self,
        turn: &Turn,
        open: Vec<Outcome>,
    ) -> Result<(Waiting, Vec<ToolCall>), RunError> {
        self.wait_for_calls(turn, open).await
    }

    async fn rest(&mut self, _: &Run, state: &State) -> Result<Option<Waiting>, RunError> {
        let head = Head { lease: None, crashes: None, ..self.head_of(state)? };
        self.recorded.commit(head, Vec::new()).await?;
        self.recorded.suspicion = None;
        let head = &self.recorded.head;
        let (run, turn, calls) = (head.run.clone(), head.turn, head.waiting.clone());
        Ok(Some(Waiting { run, turn, calls, requests: Vec::new() }))
    }

    async fn note_answers(&mut self, history: &[Message], state: &State) {
        self.left.extend(UnacknowledgedTurn::last_of(history, state.turn()));
        self.acknowledge().await;
        self.recall_given_up(state).await;
        // Calls in the background are cancelled before the run is listed as ended.
        if state.due().is_none() && self.background.is_empty() {
            // If the listing fails, a worker on the journal lists the run as ended.
            let is_answer = state.ended().is_some_and(RunEnd::is_answer);
            let background = &self.background;
            let _ = self.recorded.list_as_ended(&self.left, background, is_answer).await;
        }
    }

    async fn release(&mut self, error: &RunError) {
        if !error.is_elsewhere() {
            // If the release fails, the lease expires by itself.
            let _ = self.recorded.release().await;
        }
    }

    fn kind(error: &RunError) -> &'static str {
        if error.is_elsewhere() { "driven_elsewhere" } else { "run_stopped" }
    }
}

/// Notes that the driver is gone. If the driver was dropped before it released the run, another driver in this process
/// need not wait for the end of the lease. After a panic, the lease stays, so that the panic counts as a crash of the
/// run.
impl Drop for RunRecord {
    fn drop(&mut self) {
        let gives_back = self.recorded.is_leased() && !std::thread::panicking();
        self.agent.0.drivers.end(self.recorded.driver(), gives_back);
    }
}

impl RunRecord {
    fn shutting_down(&self) -> RunError {
        RunError::ShuttingDown { run: self.recorded.head.run.clone() }
    }
}
