//! Where the steps of a run are recorded before they count: nowhere, or in a journal.

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
use super::until::{cancellation, until};
use crate::agent::Agent;
use crate::events::GuardReport;
use crate::history::{LeftOut, Message, Prompt, Summary};
use crate::limits::share::{self, SpentShare};
use crate::model::{ModelAnswer, ModelError};
use crate::plugin::PluginTurn;
use crate::run::{Action, State, StepInput, Turn};

/// Why a run ends before it is done.
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

/// What comes between a driver and its work.
pub(crate) enum Interruption<E> {
    /// The run has to end.
    Stop(Stop),
    /// Another process goes on with the run, which is as it is recorded and has to be given back.
    Leave(E),
    /// The run is another driver's.
    Lost(E),
    /// The user has said something that does not wait for the end of the request: of [`Work::Asking`] alone.
    Said,
}

/// What is interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// An answer of the model may take minutes: another process asks again.
    Asking,
    /// Calls end by themselves.
    Calling,
    /// Nothing of the calls has begun that wait for a place.
    Placing,
}

/// What comes of a model that is away.
pub(crate) enum Away<E> {
    /// The run is left as it is, and the model asked again later.
    Left(E),
    /// It has been away for too long.
    TooLong(ModelError),
}

/// What became of the calls of a turn.
pub(crate) enum TurnOutcome<O> {
    Answered(TurnAnswers),
    /// Some of them wait, and no process has to.
    Open(O),
}

/// Records each step of a run, and knows what ends the run from outside. What it leaves out is that of a run in memory.
pub(crate) trait Recorder: Send {
    /// Why a run does not go on.
    type Error: From<Stopped> + ToString + Send;
    /// The outcomes of calls of which some wait.
    type Open: Send;
    /// What a run waits for that no process drives meanwhile.
    type Waiting: Send;
    /// Makes the calls of a turn, where that is not the run itself.
    type Maker: Send + Sync;

    /// Whether reads may begin before the answer that makes them is recorded.
    const BEGINS_READS: bool;

    /// Whether it knows by itself which calls of an open turn have run.
    const KNOWS_CALLS: bool = false;

    /// Begins to drive the run.
    fn begin(&mut self) -> impl Future<Output = ()> + Send {
        ready(())
    }

    /// Why the run is left to another process, if it is.
    fn left(&self) -> Option<Self::Error> {
        None
    }

    /// Why the run has to end now, if it has to.
    fn stop(&mut self) -> impl Future<Output = Result<Option<Stop>, Self::Error>> + Send;

    /// Whether the application has cancelled the run meanwhile, and its calls with it.
    fn is_cancelled(&mut self) -> bool;

    /// Whether something may end single calls.
    fn may_stop(&self) -> bool;

    /// How long the run may still take.
    fn time_left(&self) -> Option<Duration>;

    /// Completes when the work has to end. May be dropped at any time.
    fn wait_for_interruption(
        &mut self,
        work: Work,
    ) -> impl Future<Output = Interruption<Self::Error>> + Send;

    /// Completes when the work is done, whatever comes between, and says whether the run was lost meanwhile.
    fn hold<T: Send>(
        &mut self,
        work: impl Future<Output = T> + Send,
    ) -> impl Future<Output = (T, Option<Self::Error>)> + Send {
        async { (work.await, None) }
    }

    /// What comes of the next request, where that is recorded and the run is gone through again.
    fn replay_next(&mut self) -> Option<StepInput> {
        None
    }

    /// Takes what the user has said since the run works, where it is about to ask or, by this flag, to end.
    fn take_said(
        &mut self,
        _is_ending: bool,
    ) -> impl Future<Output = Result<Vec<Prompt>, Self::Error>> + Send {
        ready(Ok(Vec::new()))
    }

    /// The calls of a turn are about to run.
    fn delegates(&mut self, _: &State) {}

    /// What the sub-agents have spent that calls of the open turn have started.
    fn sum_delegated(
        &mut self,
        _: &State,
    ) -> impl Future<Output = Result<SpentShare, Self::Error>> + Send {
        ready(Ok(SpentShare::default()))
    }

    /// Records a summary before the model is asked with it, and what it took with this state.
    fn record_summary(
        &mut self,
        _: &State,
        _: &Summary,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send {
        ready(Ok(()))
    }

    /// Notes what an answer of the model has beside its message, for the step that it leads to.
    fn note(&mut self, _: &ModelAnswer, _: &LeftOut, _is_replayed: bool) {}

    /// Takes what guards have decided, for the step that follows from it.
    fn record_guards(&mut self, _: Vec<GuardReport>) {}

    /// What comes of a request that failed because the model is away: why the run is left until it is asked again, with this state
    /// recorded, or, where that has lasted for too long, the error that ends it.
    fn away(
        &mut self,
        state: &State,
        error: ModelError,
    ) -> impl Future<Output = Result<Away<Self::Error>, Self::Error>> + Send;

    /// Records a step, and what it changes of the plugins: only then it counts.
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

    /// Waits for a place among the runs whose calls run, where these are limited; what comes between, else. The run has the place until it
    /// is dropped.
    fn place(
        &mut self,
    ) -> impl Future<Output = Result<Option<OwnedSemaphorePermit>, Interruption<Self::Error>>> + Send
    {
        ready(Ok(None))
    }

    /// The answers of the open turn that are recorded, at the indices of their calls.
    fn known(&self) -> Vec<Option<Answer>> {
        Vec::new()
    }

    /// What makes the calls of a turn.
    fn maker(&self) -> Self::Maker;

    /// Answers the calls of a turn that are given up: what has not begun never does.
    fn give_up(
        _: &Self::Maker,
        run: &Run,
        number: u64,
        calls: &[Call<'_>],
        known: Vec<Option<Answer>>,
    ) -> impl Future<Output = Result<TurnAnswers, CallFailure>> + Send {
        run.turn_again(number, calls, known)
    }

    /// Makes the calls of a turn. Those whose answers are known do not run again.
    fn submit(
        maker: &Self::Maker,
        run: &Run,
        number: u64,
        calls: &[Call<'_>],
        known: Vec<Option<Answer>>,
    ) -> impl Future<Output = Result<TurnOutcome<Self::Open>, CallFailure>> + Send;

    /// The answers that there are of calls of which some wait.
    fn answers_of(open: Self::Open) -> Vec<Option<Answer>>;

    /// Records the answers that there are, and gives the run up until the others are.
    fn wait(
        &mut self,
        turn: &Turn,
        open: Self::Open,
    ) -> impl Future<Output = Result<(Self::Waiting, Vec<ToolCall>), Self::Error>> + Send;

    /// The answers of a turn are recorded.
    fn note_answers(&mut self, _: &[Message], _: &State) -> impl Future<Output = ()> + Send {
        ready(())
    }

    /// Gives the run back that does not go on here.
    fn release(&mut self, _: &Self::Error) -> impl Future<Output = ()> + Send {
        ready(())
    }

    /// The kind of an error, for spans.
    fn kind(error: &Self::Error) -> &'static str;
}

/// Records nothing: the run is in memory, and waits for people where it is driven.
pub(super) struct Nothing {
    /// How long it may take.
    pub time: Option<Duration>,
    pub deadline: Option<Instant>,
    pub cancelled: Option<CancellationToken>,
    pub inbox: Inbox,
    /// The run and the budgets of its sub-agents, where it may have some.
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
        // The run's own cancellation reaches all of its calls.
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
        let messages = self.inbox.take_or_close();
        if !messages.is_empty() {
            // Its limits count anew.
            self.deadline = self.time.map(|time| Instant::now() + time);
        }
        Ok(messages)
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
            true => Box::pin(run.turn_again(number, calls, known)).await,
            false => run.turn(number, calls).await,
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

/// A run that is dropped in the middle of a turn reads no more messages, and has no sub-agents any more.
impl Drop for Nothing {
    fn drop(&mut self) {
        self.inbox.close();
        if let Some((agent, run)) = &self.sub_agents {
            agent.0.ledger.forget(run);
        }
    }
}

/// The journal failed in the middle of a call that starts sub-agents.
pub(crate) fn not_recorded(error: StoreError) -> CallFailure {
    CallFailure::NotRecorded { tool: "a sub-agent".to_owned(), error }
}

/// Makes the calls of a turn, or goes on with those that have begun.
pub(super) async fn submit_calls<R: Recorder>(
    maker: &R::Maker,
    run: &Run,
    number: u64,
    calls: &[Call<'_>],
    begun: Option<BegunTurn>,
    known: Vec<Option<Answer>>,
) -> Result<TurnOutcome<R::Open>, CallFailure> {
    match begun {
        // Boxed, as its future is large.
        Some(begun) => Box::pin(begun.turn.finish_as(calls)).await.map(TurnOutcome::Answered),
        None => R::submit(maker, run, number, calls, known).await,
    }
}
