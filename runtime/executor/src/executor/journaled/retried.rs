//! A call that failed and may be tried again: it goes back to `ready`, with the time before which nobody claims it.
//! Whoever submitted it waits for that time and goes on with it; where that takes long, or they are gone, a worker does.

use std::pin::pin;
use std::time::Duration;

use futures::future::{Either, select};
use tokio::time::Instant;

use super::super::Plan;
use super::super::journal_config::{Asking, later};
use super::super::outcome::Outcome;
use super::super::retrying::{PATIENCE, is_past, random};
use super::JournaledCall;
use super::claim::Gone;
use crate::retry::RetryPolicy;
use crate::stage::record::{Watch, chain};
use crate::stage::{self, given_up};
use toolwright_core::call::Call;
use toolwright_core::error::{Class, Done, ToolError};
use toolwright_journal::journal::{
    CallRecord, FailedAttempt, Failure, State, StoredText, Transition,
};

/// What becomes of a call after an error.
pub(super) struct Next {
    pub(super) event: Transition,
    /// After how long it is tried again, where it is.
    pub(super) delay: Option<Duration>,
}

impl<'a> JournaledCall<'a> {
    /// What an error makes of a call, and whether it is tried again.
    pub(super) fn after(
        self,
        record: &CallRecord,
        plan: &Plan,
        error: &ToolError,
        deadline: Option<Instant>,
    ) -> Next {
        let effect = record.effect;
        let errored = |failure, exhausted| Transition::Errored { failure, effect, exhausted };
        let failure = match (error.done(), error.classified()) {
            // An executor that shuts down leaves what it has not begun to the next.
            (Some(Done::NotBegun), _) => {
                return Next { event: errored(Failure::NotStarted, false), delay: None };
            }
            (Some(Done::Unavailable), class) => {
                let named = match class {
                    Class::NotStarted { retry_after } => retry_after,
                    _ => None,
                };
                let delay = named.unwrap_or(plan.retry.delay);
                // What was not kept cannot be begun by anybody later, and nothing begins when its time is over.
                let is_lost =
                    matches!(record.arguments, StoredText::Omitted) || is_past(deadline, delay);
                let delay = Some(delay).filter(|_| !is_lost);
                return Next { event: errored(Failure::NotStarted, is_lost), delay };
            }
            (Some(Done::TimedOut), _) => Failure::TimedOut,
            (None | Some(Done::Refused), class) => Failure::from(class),
        };
        let delay = self.delay(record, plan, error.classified(), deadline);
        Next { event: errored(failure, delay.is_none()), delay }
    }

    fn delay(
        self,
        record: &CallRecord,
        plan: &Plan,
        class: Class,
        deadline: Option<Instant>,
    ) -> Option<Duration> {
        if matches!(record.arguments, StoredText::Omitted) {
            return None;
        }
        let delay = plan.retry.next(record.attempt, class, record.effect, random()).ok()?;
        // While its tool is left alone there is nothing to try.
        let left = plan.circuit.as_ref().and_then(|it| it.admits().err()?.left);
        let delay = left.map_or(delay, |left| delay.max(left));
        if is_past(deadline, delay) {
            return None;
        }
        // Others see to calls of their own budget.
        if record.place.run == self.run.id() && !self.run.takes_a_retry() {
            return None;
        }
        Some(delay)
    }

    /// How often a call may be begun whose owners are lost; its tool may be elsewhere.
    pub(super) fn policy(self, record: &CallRecord) -> RetryPolicy {
        let found = stage::find(self.run, &record.tool);
        found.map_or(self.run.core.provisions.retry, |found| found.plan().retry)
    }

    /// Sets the time before which nobody claims a call that is ready again.
    pub(super) fn put_off(self, record: &mut CallRecord, delay: Option<Duration>) {
        if record.state == State::Ready {
            record.not_before = delay.map(|delay| later(self.journal.now(), delay));
        }
    }

    /// Whoever submitted a call waits for its next attempt and goes on with it, if that is soon.
    pub(crate) async fn retried(
        self,
        outcome: Outcome,
        call: &Call<'_>,
        watch: Option<&Watch<'_>>,
    ) -> Outcome {
        match &outcome {
            Outcome::Suspended(waits) if waits.state == State::Ready => {
                Box::pin(self.tried_again(outcome, call, watch)).await
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
            // What was due and was not gone on with cannot be gone on with here.
            if tried.replace(record.version) == Some(record.version) {
                return outcome;
            }
            outcome = match self.until_next(record, call).await {
                Until::Due(record, ours) => {
                    match self.until_asked(*record, Some(call), watch).await {
                        Gone::On(outcome) => outcome,
                        Gone::ToPeople(record) => {
                            drop(ours);
                            self.notify(*record, Some(call), watch).await
                        }
                    }
                }
                Until::Elsewhere(record) => return self.outcome_of(&record),
                Until::Ended(outcome) => return outcome,
            };
        }
    }

    /// Waits for the time of a call's next attempt.
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
        // No worker of this process takes it until it is gone on with.
        let ours = self.journal.busy.ask(record.id);
        let patient_until = Instant::now() + PATIENCE;
        let mut closing = pin!(self.run.core.closing.cancelled());
        let mut given_up = pin!(given_up(self.run, call));
        loop {
            // Asked for before the look, so that no change is missed.
            let changed = self.journal.store.changed();
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
                    let error = stage::cancelled(call.name());
                    let why = "given up by its caller";
                    return Until::Ended(self.end_with(record.id, error, why).await.into());
                }
                Either::Right((Either::Right(_), _)) => {}
            }
        }
        if left().is_zero() {
            Until::Due(Box::new(record), ours)
        } else {
            // The clock of the journal is not the clock by which people wait.
            Until::Elsewhere(Box::new(record))
        }
    }
}

/// How it came to the end of a pause between two attempts.
enum Until<'a> {
    Due(Box<CallRecord>, Option<Asking<'a>>),
    /// Somebody else goes on with it, or has.
    Elsewhere(Box<CallRecord>),
    Ended(Outcome),
}

/// Writes down how an attempt failed. Where a secret was among the arguments, words may repeat it and are left out.
pub(super) fn note_failure(record: &mut CallRecord, failure: Failure, error: &ToolError) {
    let is_plain = matches!(record.arguments, StoredText::Plain(_));
    let cause = || error.source().map(|source| chain(source));
    record.failures.push(FailedAttempt {
        attempt: record.attempt,
        at: record.updated,
        failure,
        kind: error.kind().to_owned(),
        message: is_plain.then(|| error.message().to_owned()),
        cause: if is_plain { cause() } else { None },
    });
}
