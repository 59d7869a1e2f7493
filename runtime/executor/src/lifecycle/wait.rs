//! Continues a call, and waits for its answer. A caller that waits for a call also does the work that is due for the
//! call.

use std::pin::pin;
use std::time::Duration;

use futures::future::{Either, select};
use jiff::Timestamp;
use tokio::time::Instant;

use super::ask::LOOK_AGAIN;
use super::driver::{Lifecycle, Look, not_recorded, too_busy};
use super::heap::on_heap;
use super::outcome::indeterminate;
use super::step::{End, Input, Then};
use crate::attempt::PATIENCE;
use crate::call::{Asking, CallFailure, Outcome, Watch};
use crate::stage;
use crate::stage::{given_up, given_up_by};
use toolwright_core::call::Call;
use toolwright_core::context::CallId;
use toolwright_core::output::Answer;
use toolwright_journal::journal::{CallRecord, CallSlot, State, StoreErrorKind};

/// The maximum number of steps by which a call may advance without a pause.
const MOVES: u32 = 16;

/// How long a caller continues to wait while the journal is unavailable.
const AWAY: Duration = Duration::from_mins(2);

/// Until when a caller waits for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitUntil {
    /// Until the call has its answer.
    Answered,
    /// Until the call has its answer, or was handed over to the process that carries it out.
    HandedOver,
}

/// How far a call has come while its caller waited.
pub(super) enum CallProgress {
    On(Outcome),
    /// The call is pending, and no approver has been notified of it yet.
    ToPeople(Box<CallRecord>),
}

impl<'a> Lifecycle<'a> {
    /// Continues a call until it cannot advance in this process.
    pub(super) async fn continue_call(
        self,
        record: CallRecord,
        call: Option<&Call<'_>>,
        watch: Option<&Watch<'_>>,
    ) -> Outcome {
        match on_heap(|| self.until_asked(record, call, watch)).await {
            CallProgress::On(outcome) => outcome,
            CallProgress::ToPeople(record) => on_heap(|| self.notify(*record, call, watch)).await,
        }
    }

    /// Continues a call until people have to be asked.
    pub(super) async fn until_asked(
        self,
        record: CallRecord,
        call: Option<&Call<'_>>,
        watch: Option<&Watch<'_>>,
    ) -> CallProgress {
        let mut look = self.look(record, call, watch);
        for _ in 0..MOVES {
            let mut input = Input::Resumed;
            match on_heap(|| self.advance(&mut look, &mut input)).await {
                Err(failure) => return CallProgress::On(failure.into()),
                Ok(Then::Continue) => {}
                Ok(Then::Perform) => {
                    return CallProgress::On(on_heap(|| self.carry_out(look)).await);
                }
                Ok(Then::Notify) => {
                    self.announce(look.record(), watch);
                    return CallProgress::ToPeople(Box::new(look.into_record()));
                }
                Ok(Then::LeaveAlone(time)) => {
                    self.journal.busy.pause(look.record().id, time);
                    return CallProgress::On(self.outcome_of(look.record()));
                }
                Ok(_) => return CallProgress::On(self.report_outcome(&mut look)),
            }
        }
        let record = look.record();
        CallProgress::On(not_recorded(&record.tool, too_busy(record.id)).into())
    }

    /// Runs a call that was claimed. If the call already has its answer, as a planned call does, only operators and
    /// listeners see the new result.
    async fn carry_out(self, mut look: Look<'a, '_>) -> Outcome {
        let before = look.record().answer.is_some().then(|| look.record().clone());
        let outcome = match look.watch {
            Some(_) => on_heap(|| self.perform(&mut look)).await,
            None => on_heap(|| self.perform_watched(look)).await,
        };
        match (outcome, before) {
            (Outcome::Answered(_), Some(before)) => self.outcome_of(&before),
            (outcome, _) => outcome,
        }
    }

    /// Applies the transitions of one call that are due because time has passed, such as the expiry of its approval.
    pub(super) async fn expire_due(self, record: CallRecord) -> Result<CallRecord, CallFailure> {
        let mut look = self.look(record, None, None);
        self.advance(&mut look, &mut Input::Due).await?;
        Ok(look.into_record())
    }

    pub(crate) async fn resume(self, id: CallId) -> Outcome {
        let outcome = on_heap(|| self.resume_call(id)).await;
        self.noted_as_read_of(outcome, id).await
    }

    /// Continues a call, and returns its answer with the time at which its record last changed; `None` while the call
    /// waits.
    pub(crate) async fn answered_at(
        self,
        id: CallId,
    ) -> Result<Option<(Answer, Timestamp)>, CallFailure> {
        match self.resume(id).await {
            Outcome::Answered(answer) => Ok(Some((answer, self.load(id).await?.updated))),
            Outcome::Suspended(_) => Ok(None),
            Outcome::Failed(failure) => Err(failure),
        }
    }

    async fn resume_call(self, id: CallId) -> Outcome {
        let current = match self.load(id).await {
            Ok(record) => on_heap(|| self.expire_due(record)).await,
            Err(failure) => return failure.into(),
        };
        match current {
            Ok(record) => {
                self.notify_found(&record).await;
                on_heap(|| self.continue_call(record, None, None)).await
            }
            Err(failure) => failure.into(),
        }
    }

    /// Waits until a call is answered, until only a person or its tool can find out whether it happened, or until the
    /// executor shuts down. Meanwhile, does the work that is due for the call.
    ///
    /// If the journal becomes unavailable, continues to wait for at most [`AWAY`].
    pub(crate) async fn wait(self, id: CallId, call: Option<&Call<'_>>) -> Outcome {
        self.wait_until(WaitUntil::Answered, id, call).await
    }

    async fn wait_until(self, until: WaitUntil, id: CallId, call: Option<&Call<'_>>) -> Outcome {
        let mut away_since = None;
        loop {
            let outcome =
                on_heap(|| self.wait_while_available(until, id, call, &mut away_since)).await;
            if !self.outlasts(&outcome, call, &mut away_since).await {
                return self.noted_as_read_of(outcome, id).await;
            }
        }
    }

    /// Returns whether a caller continues to wait after this outcome: while the journal is unavailable, but for at most
    /// [`AWAY`].
    async fn outlasts(
        self,
        outcome: &Outcome,
        call: Option<&Call<'_>>,
        away_since: &mut Option<Instant>,
    ) -> bool {
        let failure = outcome.failure().and_then(CallFailure::store_error);
        let is_away = failure.is_some_and(|it| it.kind() == StoreErrorKind::Unavailable);
        if !is_away
            || self.is_closed()
            || away_since.get_or_insert_with(Instant::now).elapsed() >= AWAY
        {
            return false;
        }
        let pause = pin!(tokio::time::sleep(LOOK_AGAIN));
        let given_up = pin!(given_up_by(self.run, call));
        matches!(select(pause, given_up).await, Either::Left(_))
    }

    async fn wait_while_available(
        self,
        until: WaitUntil,
        id: CallId,
        call: Option<&Call<'_>>,
        away_since: &mut Option<Instant>,
    ) -> Outcome {
        loop {
            // The subscription begins before the call is read, so that no change is missed.
            let changed = self.changed();
            let record = match self.load(id).await {
                Ok(record) => record,
                Err(failure) => return failure.into(),
            };
            if record.answer.is_some() {
                self.notify_found(&record).await;
                return self.outcome_of(&record);
            }
            let outcome = match on_heap(|| self.expire_due(record.clone())).await {
                Ok(current) if current.version != record.version => continue,
                Ok(current) if self.needs_notification(&current) => {
                    on_heap(|| self.notify(current, call, None)).await
                }
                Ok(current) if current.state == State::Waiting => {
                    self.ask_for_children(current, call).await
                }
                Ok(current) => on_heap(|| self.continue_call(current, call, None)).await,
                Err(failure) => return failure.into(),
            };
            match &outcome {
                Outcome::Suspended(it)
                    if it.state != State::Indeterminate
                        && !until.is_over(it.state)
                        && !self.is_closed() => {}
                _ => return outcome,
            }
            *away_since = None;
            let pause = pin!(tokio::time::timeout(self.until_due(&record), changed));
            if let Either::Right(_) = select(pause, pin!(given_up_by(self.run, call))).await {
                return outcome;
            }
        }
    }

    /// Returns how long to wait before the call is read again: until something is due for the call, but at most a
    /// second.
    fn until_due(self, record: &CallRecord) -> Duration {
        let due = record.due().map(|due| self.journal.now().duration_until(due));
        due.and_then(|due| Duration::try_from(due).ok())
            .map_or(LOOK_AGAIN, |due| due.min(LOOK_AGAIN))
    }

    /// Waits for a call that was submitted with this outcome, and returns its answer. If the caller only waits until
    /// the call is handed over, returns the suspended call then.
    ///
    /// # Errors
    /// When the host application has to act before there is an answer.
    pub(crate) async fn await_answer(
        self,
        until: WaitUntil,
        mut outcome: Outcome,
        call: &Call<'_>,
    ) -> Result<Outcome, CallFailure> {
        loop {
            let waits = match outcome {
                Outcome::Answered(_) => return Ok(outcome),
                Outcome::Failed(failure) => return Err(failure),
                Outcome::Suspended(waits) => waits,
            };
            if waits.state == State::Indeterminate {
                return Ok(Outcome::Answered(indeterminate(call.name(), waits.call).into()));
            }
            if stage::is_given_up(self.run, call) {
                let ended = on_heap(|| self.end_with(waits.call, End::GivenUp)).await;
                return Ok(Outcome::Answered(ended));
            }
            if until.is_over(waits.state) {
                return Ok(Outcome::Suspended(waits));
            }
            if self.is_closed() {
                let (call, tool, state) = (waits.call, call.name().to_owned(), waits.state);
                return Err(CallFailure::ShuttingDown { call, tool, state });
            }
            outcome = on_heap(|| self.wait_until(until, waits.call, Some(call))).await;
        }
    }

    /// Lets the caller wait for the next attempt of a call and make it, if that attempt is due soon.
    pub(crate) async fn retry_soon(
        self,
        outcome: Outcome,
        call: &Call<'_>,
        watch: Option<&Watch<'_>>,
    ) -> Outcome {
        match &outcome {
            Outcome::Suspended(waits) if waits.state == State::Ready => {
                on_heap(|| self.tried_again(outcome, call, watch)).await
            }
            _ => outcome,
        }
    }

    async fn tried_again(
        self,
        mut outcome: Outcome,
        call: &Call<'_>,
        watch: Option<&Watch<'_>>,
    ) -> Outcome {
        let mut tried = None;
        loop {
            let Outcome::Suspended(waits) = &outcome else { return outcome };
            if waits.state != State::Ready {
                return outcome;
            }
            let record = match self.load(waits.call).await {
                Ok(record) => record,
                Err(failure) => return failure.into(),
            };
            // A due call that did not advance cannot continue in this process.
            if tried.replace(record.version) == Some(record.version) {
                return outcome;
            }
            outcome = match self.until_next(record, call).await {
                Until::Due(record, ours) => {
                    match on_heap(|| self.until_asked(*record, Some(call), watch)).await {
                        CallProgress::On(outcome) => outcome,
                        CallProgress::ToPeople(record) => {
                            drop(ours);
                            on_heap(|| self.notify(*record, Some(call), watch)).await
                        }
                    }
                }
                Until::Elsewhere(record) => return self.outcome_of(&record),
                Until::Ended(outcome) => return outcome,
            };
        }
    }

    /// Waits until the next attempt of a call is due.
    async fn until_next(self, record: CallRecord, call: &Call<'_>) -> Until<'a> {
        let Some(not_before) = record.not_before.filter(|_| record.state == State::Ready) else {
            return Until::Elsewhere(Box::new(record));
        };
        let left = || {
            let left = self.journal.now().duration_until(not_before);
            Duration::try_from(left).unwrap_or_default()
        };
        if left() > PATIENCE {
            return Until::Elsewhere(Box::new(record));
        }
        // Marks the call as being worked on, so that no worker of this process takes it.
        let ours = self.journal.busy.ask(record.id);
        let patient_until = Instant::now() + PATIENCE;
        let mut closing = pin!(self.run.core.closing.cancelled());
        let mut given_up = pin!(given_up(self.run, call));
        loop {
            // The subscription begins before the call is read, so that no change is missed.
            let changed = self.changed();
            match self.load(record.id).await {
                Ok(now) if now.version != record.version => return Until::Elsewhere(Box::new(now)),
                Ok(_) => {}
                Err(failure) => return Until::Ended(failure.into()),
            }
            let patience = patient_until.saturating_duration_since(Instant::now());
            let pause = left().min(patience);
            if pause.is_zero() {
                break;
            }
            let pause = pin!(tokio::time::timeout(pause, changed));
            match select(closing.as_mut(), select(given_up.as_mut(), pause)).await {
                Either::Left(_) => return Until::Elsewhere(Box::new(record)),
                Either::Right((Either::Left(_), _)) => {
                    return Until::Ended(
                        on_heap(|| self.end_with(record.id, End::GivenUp)).await.into(),
                    );
                }
                Either::Right((Either::Right(_), _)) => {}
            }
        }
        if left().is_zero() {
            Until::Due(Box::new(record), ours)
        } else {
            // The wait has ended, but by the clock of the journal the call is not due yet.
            Until::Elsewhere(Box::new(record))
        }
    }

    /// Returns whether the call in this slot was put into a plan. The answer of such a call is not a result of its
    /// tool.
    pub(crate) async fn is_planned(
        self,
        place: &CallSlot,
        call: &Call<'_>,
    ) -> Result<bool, CallFailure> {
        let record = self.at(place, call.name()).await?;
        // If the plan was accepted meanwhile, the call runs, but its answer still says that it was put into a plan.
        Ok(record.is_some_and(|it| it.state == State::Planned || it.accepted.is_some()))
    }
}

impl WaitUntil {
    /// Returns whether the wait for a call ends in this state, although the call has no answer.
    fn is_over(self, state: State) -> bool {
        self == Self::HandedOver && state == State::HandedOver
    }
}

/// The result of waiting for the next attempt of a call.
enum Until<'a> {
    Due(Box<CallRecord>, Option<Asking<'a>>),
    /// Another worker or process continues the call.
    Elsewhere(Box<CallRecord>),
    Ended(Outcome),
}
