//! Records the run of a sub-agent: the answers of its model, and its spending. The executor records the calls.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use toolwright::journal::{CommitError, StoreError};
use toolwright::provider::ToolCall;
use toolwright::{Answer, Call, CallFailure, CallId, Run, TurnAnswers};

use super::maker::Maker;
use super::start::Inherited;
use crate::agent::Agent;
use crate::durable::{RecordedAnswers, retry_in_outage};
use crate::events::GuardReport;
use crate::history::LeftOut;
use crate::limits::share::{self, ChildSpending, SpentShare};
use crate::model::{ModelAnswer, ModelError};
use crate::plugin::PluginTurn;
use crate::run::{
    Action, Away, Interruption, Recorder, State, StepInput, Stop, Stopped, Turn, TurnOutcome, Work,
};

/// The call that started a sub-agent, with its run and turn.
pub(super) struct Place {
    pub run: String,
    /// The number of the turn in the run.
    pub turn: u64,
    pub call: CallId,
    /// The name of the sub-agent.
    pub agent: String,
}

/// Records the run of a sub-agent that this process drives.
pub(super) struct ChildRecorder {
    /// The agent whose run started the sub-agent.
    parent: Agent,
    place: Place,
    spending: ChildSpending,
    /// The version of the document that records the sub-agent's spending.
    version: Option<u64>,
    recorded: Option<RecordedAnswers>,
    /// The recorded answers of the sub-agent's model that are still to be replayed.
    replayed: VecDeque<StepInput>,
    /// How many answers the sub-agent's model has given.
    answers: usize,
    /// The model's answer that the next step records.
    new: Option<ModelAnswer>,
    /// The decisions of guards about the answer in `new`.
    guards: Vec<GuardReport>,
    /// The spending of the sub-agents that this sub-agent started.
    delegated: SpentShare,
    maker: Maker,
    inherited: Arc<Inherited>,
    deadline: Option<Instant>,
}

/// Why this process cannot continue a sub-agent.
pub(super) enum ChildError {
    Stopped(Stopped),
    /// Another process continues the sub-agent, or the journal has failed.
    NotRecorded(String),
}

impl ChildRecorder {
    pub(super) fn new(
        parent: &Agent,
        place: Place,
        (spending, version): (ChildSpending, Option<u64>),
        (recorded, replayed): (Option<RecordedAnswers>, Vec<StepInput>),
        maker: Maker,
        inherited: Arc<Inherited>,
        deadline: Option<Instant>,
    ) -> Self {
        Self {
            parent: parent.clone(),
            place,
            spending,
            version,
            recorded,
            replayed: replayed.into(),
            answers: 0,
            new: None,
            guards: Vec::new(),
            delegated: SpentShare::default(),
            maker,
            inherited,
            deadline,
        }
    }

    /// Returns what the sub-agent itself has spent in this state, without the spending of the sub-agents that it
    /// started.
    fn own(&self, state: &State) -> SpentShare {
        let spent = state.standing().spent;
        SpentShare {
            usage: spent.usage.since(self.delegated.usage),
            turns: spent.turns.saturating_sub(self.delegated.turns),
        }
    }
}

impl Recorder for ChildRecorder {
    type Error = ChildError;
    type Open = Infallible;
    type Waiting = Infallible;
    type Maker = Maker;

    const BEGINS_READS: bool = false;

    async fn stop(&mut self) -> Result<Option<Stop>, ChildError> {
        let is_late = self.deadline.is_some_and(|deadline| deadline <= Instant::now());
        Ok(is_late.then_some(Stop::TimeIsUp))
    }

    /// Returns `false`: if the call of a sub-agent is cancelled, the sub-agent is dropped together with this recorder,
    /// so no cancellation is left to report.
    fn is_cancelled(&mut self) -> bool {
        false
    }

    fn may_stop(&self) -> bool {
        self.deadline.is_some()
    }

    fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|it| it.saturating_duration_since(Instant::now()))
    }

    async fn wait_for_interruption(&mut self, _: Work) -> Interruption<ChildError> {
        match self.deadline {
            Some(deadline) => sleep_until(deadline).await,
            None => std::future::pending().await,
        }
        Interruption::Stop(Stop::TimeIsUp)
    }

    fn replay_next(&mut self) -> Option<StepInput> {
        let input = self.replayed.pop_front()?;
        self.answers += 1;
        Some(input)
    }

    fn note(&mut self, answer: &ModelAnswer, _: &LeftOut, is_replayed: bool) {
        if !is_replayed {
            self.new = Some(answer.clone());
        }
    }

    fn record_guards(&mut self, reports: Vec<GuardReport>) {
        self.guards = reports;
    }

    async fn away(&mut self, _: &State, error: ModelError) -> Result<Away<ChildError>, ChildError> {
        // There is no retry: the model that started the sub-agent reads the error, and decides what to do.
        Ok(Away::TooLong(error))
    }

    async fn commit(
        &mut self,
        _: &State,
        next: &State,
        _: &[Action],
        _: Option<Stop>,
        _: Option<&PluginTurn>,
    ) -> Result<(), ChildError> {
        let (new, guards) = (self.new.take(), std::mem::take(&mut self.guards));
        let own = self.own(next);
        let has_ended = next.ended().is_some();
        if new.is_none() && !has_ended {
            return Ok(());
        }
        let mut documents = Vec::new();
        if let (Some(recorded), Some(answer)) = (&self.recorded, &new) {
            documents.push(recorded.write(self.answers, answer, guards)?);
        }
        self.answers += usize::from(new.is_some());
        self.spending = ChildSpending { own, has_ended, ..self.spending };
        let inner = &self.parent.0;
        let (place, spending, version) = (self.place.as_ledger(), self.spending, self.version);
        let at = (&*self.place.run, &inner.executor);
        let write = || inner.ledger.write(&place, spending, version, documents.clone());
        retry_in_outage(at, of_commit, write).await?;
        self.version = self.version.map(|it| it + 1);
        Ok(())
    }

    fn delegates(&mut self, state: &State) {
        self.inherited.note_standing(state.standing());
    }

    async fn sum_delegated(&mut self, state: &State) -> Result<SpentShare, ChildError> {
        let (inner, run) = (&self.parent.0, &self.place.run);
        let read = || inner.ledger.children(run, self.place.turn);
        let children = retry_in_outage((run, &inner.executor), of_store, read).await;
        let children = children.map_err(|error| ChildError::NotRecorded(error.to_string()))?;
        let spent = share::spent(&children, Some(self.place.call), state.turn());
        self.delegated = self.delegated.plus(spent);
        Ok(spent)
    }

    fn maker(&self) -> Maker {
        self.maker.clone()
    }

    async fn submit(
        maker: &Maker,
        run: &Run,
        _: u64,
        calls: &[Call<'_>],
        known: Vec<Option<Answer>>,
    ) -> Result<TurnOutcome<Infallible>, CallFailure> {
        Ok(TurnOutcome::Answered(maker.answer_calls(run, calls, known).await))
    }

    async fn give_up(
        maker: &Maker,
        run: &Run,
        _: u64,
        calls: &[Call<'_>],
        known: Vec<Option<Answer>>,
    ) -> Result<TurnAnswers, CallFailure> {
        Ok(maker.answer_calls(run, calls, known).await)
    }

    fn answers_of(open: Infallible) -> Vec<Option<Answer>> {
        match open {}
    }

    async fn wait(
        &mut self,
        _: &Turn,
        open: Infallible,
    ) -> Result<(Infallible, Vec<ToolCall>), ChildError> {
        match open {}
    }

    fn kind(_: &ChildError) -> &'static str {
        "sub_agent_stopped"
    }
}

/// Returns the error of the store, if a commit failed because of the store.
pub(super) fn of_commit(error: &CommitError) -> Option<&StoreError> {
    match error {
        CommitError::Store(error) => Some(error),
        _ => None,
    }
}

/// Returns the store's error itself.
pub(super) fn of_store(error: &StoreError) -> Option<&StoreError> {
    Some(error)
}

impl From<Stopped> for ChildError {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

impl From<CommitError> for ChildError {
    fn from(error: CommitError) -> Self {
        Self::NotRecorded(error.to_string())
    }
}

impl From<crate::durable::RunError> for ChildError {
    fn from(error: crate::durable::RunError) -> Self {
        Self::NotRecorded(error.to_string())
    }
}

impl fmt::Display for ChildError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped(stopped) => stopped.fmt(formatter),
            Self::NotRecorded(why) => formatter.write_str(why),
        }
    }
}
