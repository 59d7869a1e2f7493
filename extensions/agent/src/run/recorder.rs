//! Records the steps of a run before they take effect: in a journal, or not at all for a run in memory.

use std::convert::Infallible;
use std::future::ready;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use toolwright::journal::StoreError;
use toolwright::provider::ToolCall;
use toolwright::{Answer, Call, CallFailure, CancellationToken, Run, TurnAnswers};

use super::Stopped;
use super::early::BegunTurn;
use super::inbox::Inbox;
use super::resting::await_result;
use super::until::{cancellation, until};
use crate::agent::Agent;
use crate::events::GuardReport;
use crate::history::{LeftOut, Message, Prompt, Summary};
use crate::limits::share::{self, SpentShare};
use crate::model::{ModelAnswer, ModelError};
use crate::plugin::PluginTurn;
use crate::run::{Action, State, StepInput, Turn};

/// Why a run ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Cancelled,
    TimeIsUp,
}

impl Stop {
    pub(crate) fn event(self) -> StepInput {
        match self {
            Self::Cancelled => StepInput::Cancelled,
            Self::TimeIsUp => StepInput::TimeIsUp,
        }
    }
}

/// An event that interrupts the work of a driver.
pub(crate) enum Interruption<E> {
    /// The run was cancelled, or its time is up.
    Stop(Stop),
    /// The driver has to release the run in its recorded state, so that another process continues it.
    Leave(E),
    /// The driver cannot renew its lease, for example because another driver has taken the run.
    Lost(E),
    /// The user has sent a message that interrupts the request. Occurs only with [`Work::Asking`].
    Said,
}

/// The work of a driver that can be interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// A request to the model. It may take minutes, and another process can repeat it.
    Asking,
    /// Calls of tools, which end by themselves.
    Calling,
    /// Calls of tools that have not begun, because too many runs of the worker run calls.
    Placing,
}

/// The recorder's decision about a run whose model is unavailable.
pub(crate) enum Away<E> {
    /// The driver leaves the run as it is, and some driver asks the model again later.
    Left(E),
    /// The outage has lasted too long, and ends the run.
    TooLong(ModelError),
}

/// The outcome of the calls of a turn.
pub(crate) enum TurnOutcome<O> {
    Answered(TurnAnswers),
    /// Some of the calls wait, and no process has to drive the run meanwhile.
    Open(O),
}

/// Records each step of a run, and reports requests from outside to end the run. Most default methods do nothing.
pub(crate) trait Recorder: Send {
    /// Why this process cannot continue a run.
    type Error: From<Stopped> + ToString + Send;
    /// The state of a turn's calls if some of them wait.
    type Open: Send;
    /// The calls for which a run waits while no process drives it.
    type Waiting: Send;
    /// The value that makes the calls of a turn; `()` if the run itself makes them.
    type Maker: Send + Sync;

    /// Whether calls of tools with `effect = read` may begin before the answer that makes them is recorded.
    const BEGINS_READS: bool;

    /// Whether the recorder can tell by itself which calls of an open turn have run.
    const KNOWS_CALLS: bool = false;

    /// Prepares the recorder when a driver begins to drive the run.
    fn begin(&mut self) -> impl Future<Output = ()> + Send {
        ready(())
    }

    /// Returns an error if the driver has to leave the run to another process, for instance because the executor shuts
    /// down.
    fn left(&self) -> Option<Self::Error> {
        None
    }

    /// Returns why the run has to end now; `None` if it may continue.
    fn stop(&mut self) -> impl Future<Output = Result<Option<Stop>, Self::Error>> + Send;

    /// Returns whether the application has cancelled the run, and therefore its calls.
    fn is_cancelled(&mut self) -> bool;

    /// Returns whether something besides the run's token may cancel the calls, so that the calls need a token of their
    /// own.
    fn may_stop(&self) -> bool;

    /// Returns how much time the run has left.
    fn time_left(&self) -> Option<Duration>;

    /// Completes when something interrupts this work. The caller may drop the future at any time.
    fn wait_for_interruption(
        &mut self,
        work: Work,
    ) -> impl Future<Output = Interruption<Self::Error>> + Send;

    /// Waits until the work is done, even if something interrupts the driver meanwhile. Returns the result of the work,
    /// and an error if the driver has lost the run or has to leave it.
    fn hold<T: Send>(
        &mut self,
        work: impl Future<Output = T> + Send,
    ) -> impl Future<Output = (T, Option<Self::Error>)> + Send {
        async { (work.await, None) }
    }

    /// Returns the recorded result of the next request, if the run is being replayed.
    fn replay_next(&mut self) -> Option<StepInput> {
        None
    }

    /// Takes the user's messages since the last request. `is_ending` says that the driver is about to end the run
    /// instead of asking the model.
    fn take_said(
        &mut self,
        _is_ending: bool,
    ) -> impl Future<Output = Result<Vec<Prompt>, Self::Error>> + Send {
        ready(Ok(Vec::new()))
    }

    /// Starts the limits again, because a message of the user continues a run that was done.
    fn count_anew(&mut self) {}

    /// Handles a run whose model is done while calls continue in the background. Either waits until a result may have
    /// come, and returns `None`. Or releases the run, if no process has to stay with it, and returns what the run waits
    /// for.
    fn rest(
        &mut self,
        _: &Run,
        _: &State,
    ) -> impl Future<Output = Result<Option<Self::Waiting>, Self::Error>> + Send {
        ready(Ok(None))
    }

    /// Notes that the calls of a turn are about to run and may start sub-agents.
    fn delegates(&mut self, _: &State) {}

    /// Returns the spending of the sub-agents that calls of the open turn have started.
    fn sum_delegated(
        &mut self,
        _: &State,
    ) -> impl Future<Output = Result<SpentShare, Self::Error>> + Send {
        ready(Ok(SpentShare::default()))
    }

    /// Records a summary before a request uses it. `state` already counts the usage of the request for the summary.
    fn record_summary(
        &mut self,
        _: &State,
        _: &Summary,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send {
        ready(Ok(()))
    }

    /// Notes the parts of an answer other than its message, for the next commit.
    fn note(&mut self, _: &ModelAnswer, _: &LeftOut, _is_replayed: bool) {}

    /// Takes the decisions of guards, which the next commit records.
    fn record_guards(&mut self, _: Vec<GuardReport>) {}

    /// Handles a request that failed because the model is unavailable. Either records this state and returns why the
    /// run is left until the next attempt, or returns the error that ends the run because the outage has lasted too
    /// long.
    fn away(
        &mut self,
        state: &State,
        error: ModelError,
    ) -> impl Future<Output = Result<Away<Self::Error>, Self::Error>> + Send;

    /// Records a step with its changes to the plugins' states. The driver takes the step only after it is recorded.
    fn commit(
        &mut self,
        _before: &State,
        _next: &State,
        _actions: &[Action],
        _stop: Option<Stop>,
        _plugins: Option<&PluginTurn>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send {
        ready(Ok(()))
    }

    /// Waits until this run may run calls, if the number of runs that do so at once is limited. The run may run calls
    /// until the permit is dropped. If an interruption happens first, returns the interruption.
    fn place(
        &mut self,
    ) -> impl Future<Output = Result<Option<OwnedSemaphorePermit>, Interruption<Self::Error>>> + Send
    {
        ready(Ok(None))
    }

    /// Returns the recorded answers of the open turn, by the index of the call.
    fn known(&self) -> Vec<Option<Answer>> {
        Vec::new()
    }

    /// Returns the value that makes the calls of a turn.
    fn maker(&self) -> Self::Maker;

    /// Answers the calls of a turn that the driver abandons. Calls that have not begun are not run.
    fn give_up(
        _: &Self::Maker,
        run: &Run,
        number: u64,
        calls: &[Call<'_>],
        known: Vec<Option<Answer>>,
    ) -> impl Future<Output = Result<TurnAnswers, CallFailure>> + Send {
        run.turn_again(number, calls, known)
    }

    /// Makes the calls of a turn. Calls whose answers are known do not run again.
    fn submit(
        maker: &Self::Maker,
        run: &Run,
        number: u64,
        calls: &[Call<'_>],
        known: Vec<Option<Answer>>,
    ) -> impl Future<Output = Result<TurnOutcome<Self::Open>, CallFailure>> + Send;

    /// Returns the available answers of a turn in which some calls wait.
    fn answers_of(open: Self::Open) -> Vec<Option<Answer>>;

    /// Records the available answers, and releases the run until the missing answers arrive.
    fn wait(
        &mut self,
        turn: &Turn,
        open: Self::Open,
    ) -> impl Future<Output = Result<(Self::Waiting, Vec<ToolCall>), Self::Error>> + Send;

    /// Notes that the answers of a turn are recorded.
    fn note_answers(&mut self, _: &[Message], _: &State) -> impl Future<Output = ()> + Send {
        ready(())
    }

    /// Releases the lease of a run that this process cannot continue.
    fn release(&mut self, _: &Self::Error) -> impl Future<Output = ()> + Send {
        ready(())
    }

    /// Returns the kind of an error, for spans.
    fn kind(error: &Self::Error) -> &'static str;
}

/// Records nothing: for a run in memory, whose driver stays with the run while people decide.
pub(super) struct Nothing {
    /// How long the run may work after each message of the user.
    pub time: Option<Duration>,
    pub deadline: Option<Instant>,
    pub cancelled: Option<CancellationToken>,
    pub inbox: Inbox,
    /// The agent and the id of the run, if it may have sub-agents.
    pub sub_agents: Option<(Agent, String)>,
}

impl Recorder for Nothing {
    type Error = Stopped;
    type Open = Infallible;
    type Waiting = Infallible;
    type Maker = ();

    const BEGINS_READS: bool = true;

    async fn stop(&mut self) -> Result<Option<Stop>, Stopped> {
        if self.is_cancelled() {
            return Ok(Some(Stop::Cancelled));
        }
        let is_late = self.deadline.is_some_and(|deadline| deadline <= Instant::now());
        Ok(is_late.then_some(Stop::TimeIsUp))
    }

    fn is_cancelled(&mut self) -> bool {
        self.cancelled.as_ref().is_some_and(CancellationToken::is_cancelled)
    }

    fn may_stop(&self) -> bool {
        // The run's token cancels all calls anyway; only a deadline needs separate tokens.
        self.deadline.is_some()
    }

    fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|it| it.saturating_duration_since(Instant::now()))
    }

    async fn wait_for_interruption(&mut self, work: Work) -> Interruption<Stopped> {
        tokio::select! {
            biased;
            () = cancellation(self.cancelled.as_ref()) => Interruption::Stop(Stop::Cancelled),
            () = until(self.deadline) => Interruption::Stop(Stop::TimeIsUp),
            () = self.inbox.urgent(), if work == Work::Asking => Interruption::Said,
        }
    }

    async fn away(&mut self, _: &State, error: ModelError) -> Result<Away<Stopped>, Stopped> {
        Ok(Away::Left(Stopped::away(&error)))
    }

    async fn begin(&mut self) {
        self.inbox.open();
    }

    async fn take_said(&mut self, is_ending: bool) -> Result<Vec<Prompt>, Stopped> {
        if !is_ending {
            return Ok(self.inbox.take());
        }
        Ok(self.inbox.take_or_close())
    }

    async fn commit(
        &mut self,
        _: &State,
        _: &State,
        _: &[Action],
        _: Option<Stop>,
        _: Option<&PluginTurn>,
    ) -> Result<(), Stopped> {
        self.inbox.note_read();
        Ok(())
    }

    fn count_anew(&mut self) {
        self.deadline = self.time.map(|time| Instant::now() + time);
    }

    async fn rest(&mut self, run: &Run, state: &State) -> Result<Option<Infallible>, Stopped> {
        tokio::select! {
            biased;
            () = cancellation(self.cancelled.as_ref()) => Ok(None),
            () = until(self.deadline) => Ok(None),
            () = self.inbox.until_said() => Ok(None),
            came = await_result(run, state.background()) => came.map(|()| None),
        }
    }

    fn delegates(&mut self, state: &State) {
        if let Some((agent, run)) = &self.sub_agents {
            agent.0.ledger.note_standing(run, state.standing());
        }
    }

    async fn sum_delegated(&mut self, state: &State) -> Result<SpentShare, Stopped> {
        let Some((agent, run)) = &self.sub_agents else { return Ok(SpentShare::default()) };
        let children = agent.0.ledger.children(run, state.turn()).await;
        let children = children.map_err(|error| Stopped::from(not_recorded(error)))?;
        agent.0.ledger.forget(run);
        let cleared = agent.0.ledger.clear(run).await;
        cleared.map_err(|error| Stopped::from(not_recorded(error)))?;
        Ok(share::spent(&children, None, state.turn()))
    }

    fn maker(&self) {}

    async fn submit(
        (): &(),
        run: &Run,
        number: u64,
        calls: &[Call<'_>],
        known: Vec<Option<Answer>>,
    ) -> Result<TurnOutcome<Infallible>, CallFailure> {
        let answers = match known.iter().any(Option::is_some) {
            true => Box::pin(run.turn_in_background(number, calls, known)).await,
            false => run.turn_in_background(number, calls, Vec::new()).await,
        };
        answers.map(TurnOutcome::Answered)
    }

    fn answers_of(open: Infallible) -> Vec<Option<Answer>> {
        match open {}
    }

    async fn wait(
        &mut self,
        _: &Turn,
        open: Infallible,
    ) -> Result<(Infallible, Vec<ToolCall>), Stopped> {
        match open {}
    }

    fn kind(error: &Stopped) -> &'static str {
        match error {
            Stopped::Call(_) => "call_stopped",
            Stopped::ModelUnreachable { .. } => "model_unreachable",
            Stopped::Listing(_) | Stopped::Tools { .. } => "tools_refused",
            Stopped::Plugin(_) => "plugin_failed",
            Stopped::NothingSaid
            | Stopped::OpenTurn { .. }
            | Stopped::Instructions { .. }
            | Stopped::HandedOff { .. }
            | Stopped::OtherOutput { .. }
            | Stopped::ChangedOutput { .. } => "not_asked",
        }
    }
}

/// Closes the inbox, and forgets the budget of sub-agents, also if the driver is dropped in the middle of a turn.
impl Drop for Nothing {
    fn drop(&mut self) {
        self.inbox.close();
        if let Some((agent, run)) = &self.sub_agents {
            agent.0.ledger.forget(run);
        }
    }
}

/// Reports that the journal failed in the middle of a call that starts sub-agents.
pub(crate) fn not_recorded(error: StoreError) -> CallFailure {
    CallFailure::NotRecorded { tool: "a sub-agent".to_owned(), error }
}

/// Makes the calls of a turn, or continues the calls that began early.
pub(super) async fn submit_calls<R: Recorder>(
    maker: &R::Maker,
    run: &Run,
    number: u64,
    calls: &[Call<'_>],
    begun: Option<BegunTurn>,
    known: Vec<Option<Answer>>,
) -> Result<TurnOutcome<R::Open>, CallFailure> {
    match begun {
        // Boxed, because the future is large.
        Some(begun) => Box::pin(begun.turn.finish_as(calls)).await.map(TurnOutcome::Answered),
        None => R::submit(maker, run, number, calls, known).await,
    }
}
