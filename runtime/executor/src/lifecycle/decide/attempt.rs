//! Decides what the end of an attempt means for a call: the call ends, or another attempt follows after a delay. The
//! result of an owner that has lost its claim is ignored.

use std::time::Duration;

use super::moment::{Known, Moment};
use super::words::lost;
use crate::call::{By, cancelled, later};
use crate::lifecycle::guard::Guard;
use crate::lifecycle::step::{
    Attempt, AttemptError, DroppedClaim, Need, Reconciliation, Step, Then,
};
use crate::retry::RetryCase;
use toolwright_core::error::{Done, ErrorClass, ToolError};
use toolwright_journal::journal::{
    CallRecord, Entry, FailedAttempt, Failure, State, StoredText, Transition, may_have_happened,
    next as next_state,
};

impl Moment<'_> {
    /// Decides how a call continues after an attempt has ended.
    pub(super) fn end_attempt(self, attempt: &Attempt) -> Known<Step> {
        if !self.is_claimed(attempt.epoch) {
            return Ok(Step::only(Then::Report));
        }
        let mut next = self.snapshot.record.clone();
        let entries = match &attempt.error {
            None => vec![self.advance(&mut next, Transition::Succeeded, None)?],
            Some(error) => self.fail(&mut next, attempt, error)?,
        };
        if attempt.error.is_some()
            && next.state == State::Cancelled
            && let Some(more) = self.begun_before()?
            && attempt.more.as_ref() != Some(&more)
        {
            return Err(Need::More(more).into());
        }
        if next.state.is_answered() {
            self.answer(&mut next, attempt.answer.clone());
        }
        Ok(self.commit(next, entries, Vec::new(), Then::Report))
    }

    /// Returns whether this epoch is that of the latest claim, and the call still runs under this claim.
    pub(super) fn is_claimed(self, epoch: u64) -> bool {
        let record = &self.snapshot.record;
        record.state == State::Running && (record.epoch == epoch || !self.has(Guard::Fenced))
    }

    fn fail(
        self,
        next: &mut CallRecord,
        attempt: &Attempt,
        error: &AttemptError,
    ) -> Known<Vec<Entry>> {
        let is_let_go = attempt.is_released && error.class == ErrorClass::Cancelled;
        let (event, delay) = match is_let_go {
            true => (left(next, self.attempts()?, error.is_not_begun()), None),
            false => self.after(attempt, error)?,
        };
        let why = match delay {
            Some(delay) => format!("{}; tried again in {delay:.1?}", error.words()),
            None => error.words(),
        };
        let is_failed = |event| next_state(next.state, event) == Ok(State::Failed);
        let is_laid_aside =
            self.settings.lays_failures_aside && !error.is_not_begun() && is_failed(event);
        let step = if is_laid_aside { Transition::LaidAside } else { event };
        let mut entries = vec![self.advance(next, step, Some(why))?];
        let is_given_up =
            error.done == Some(Done::NotBegun) && error.class == ErrorClass::Cancelled;
        if is_given_up && !is_let_go {
            entries.push(self.advance(next, Transition::RunEnded, None)?);
        }
        if next.state == State::Ready {
            next.not_before = delay.map(|delay| later(self.now, delay));
            if error.is_not_begun() {
                not_counted(next);
            }
        }
        if let (false, Transition::Errored { failure, .. }) = (error.is_not_begun(), event) {
            note_failure(next, failure, error);
        }
        Ok(entries)
    }

    /// Decides what follows from an error: the transition of the call, and the delay if there is another attempt.
    fn after(
        self,
        attempt: &Attempt,
        error: &AttemptError,
    ) -> Known<(Transition, Option<Duration>)> {
        let record = &self.snapshot.record;
        let effect = record.effect;
        let errored = |failure, exhausted| Transition::Errored { failure, effect, exhausted };
        // If the arguments were not stored, no other process can run the call later.
        let is_stored = !matches!(record.arguments, StoredText::Omitted);
        let retry = self.tool()?.retry;
        let failure = match (error.done, error.class) {
            // A call that the executor did not begin, for instance because it shuts down, is left to the next executor.
            (Some(Done::NotBegun), _) => return Ok((errored(Failure::NotStarted, false), None)),
            (Some(Done::Unavailable), class) => {
                let named = match class {
                    ErrorClass::NotStarted { retry_after } => retry_after,
                    _ => None,
                };
                let delay = named.unwrap_or(retry.delay);
                // No attempt begins after the total timeout.
                let is_lost = !is_stored || attempt.time_left.is_some_and(|left| left <= delay);
                let delay = Some(delay).filter(|_| !is_lost);
                return Ok((errored(Failure::NotStarted, is_lost), delay));
            }
            (Some(Done::TimedOut), _) => Failure::TimedOut,
            (None | Some(Done::Refused), class) => Failure::from(class),
        };
        let failed = RetryCase {
            attempt: record.attempt,
            class: error.class,
            effect,
            time_left: attempt.time_left,
        };
        #[expect(clippy::cast_possible_truncation, reason = "any bits of a random number will do")]
        let random = self.random as u64;
        // While the circuit breaker is open, no attempt is made.
        let delay = retry.again(failed, attempt.circuit, random).filter(|_| is_stored);
        let delay = match (delay, attempt.retry) {
            (Some(_), None) => return Err(Need::Retry.into()),
            (delay, retry) => delay.filter(|_| retry == Some(true)),
        };
        Ok((errored(failure, delay.is_none()), delay))
    }

    /// Returns the sentence that an answer needs because an earlier attempt of the call may have acted.
    fn begun_before(self) -> Known<Option<String>> {
        let record = &self.snapshot.record;
        if record.epoch <= 1 {
            return Ok(None);
        }
        let begun = self.snapshot.begun.ok_or(Need::Begun)?;
        Ok(may_have_happened(record.effect, begun.saturating_sub(1)))
    }

    /// Decides on a claim whose task was dropped. A caller that drops the task abandons the call. A worker that drops
    /// the task leaves the call to other processes, because the call is not the worker's own.
    pub(super) fn release(self, dropped: DroppedClaim) -> Known<Step> {
        if !self.is_claimed(dropped.epoch) {
            return Ok(Step::only(Then::Report));
        }
        let mut next = self.snapshot.record.clone();
        let effect = next.effect;
        let errored = |failure, exhausted| Transition::Errored { failure, effect, exhausted };
        let mut entries = Vec::new();
        let error = match dropped.by {
            By::Caller => {
                let events = match dropped.is_begun {
                    true => vec![errored(Failure::Cancelled, true)],
                    false => vec![errored(Failure::NotStarted, false), Transition::RunEnded],
                };
                for event in events {
                    let why = Some("its caller has gone".to_owned());
                    entries.push(self.advance(&mut next, event, why)?);
                }
                let error = cancelled(&next.tool).with_more(self.begun_before()?);
                if dropped.is_begun {
                    note_failure(&mut next, Failure::Cancelled, &(&error).into());
                }
                error
            }
            By::Worker => {
                let event = left(&next, self.attempts()?, !dropped.is_begun);
                let why = Some("the worker that ran it has gone".to_owned());
                entries.push(self.advance(&mut next, event, why)?);
                next.not_before = None;
                let error = lost(&next);
                match (dropped.is_begun, event) {
                    (true, Transition::Errored { failure, .. }) => {
                        note_failure(&mut next, failure, &(&error).into());
                    }
                    _ => not_counted(&mut next),
                }
                error
            }
        };
        if next.state.is_answered() {
            self.answer(&mut next, &error);
        }
        Ok(self.commit(next, entries, Vec::new(), Then::Report))
    }

    /// Records what a tool found out about the outcome of its call.
    pub(super) fn reconcile(self, found: &Reconciliation) -> Known<Step> {
        let record = &self.snapshot.record;
        if record.version != found.version || record.state != State::Indeterminate {
            return Ok(Step::only(Then::Report));
        }
        let mut next = record.clone();
        let why = Some("its tool looked".to_owned());
        let entry = match &found.happened {
            Some(answer) => {
                let entry = self.advance(&mut next, Transition::Happened, why)?;
                self.answer(&mut next, answer.clone());
                entry
            }
            None => {
                let entry = self.advance(&mut next, Transition::DidNotHappen, why)?;
                // Only a person's decision resets the count of attempts.
                next.attempt = record.attempt;
                entry
            }
        };
        Ok(self.commit(next, vec![entry], Vec::new(), Then::Report))
    }
}

/// Returns the transition of a call whose owner gives up its claim, so that other processes can run the call. The
/// failure is not `OwnerLost`, because the owner itself reports it.
fn left(record: &CallRecord, attempts: u32, is_not_begun: bool) -> Transition {
    let (failure, exhausted) = match is_not_begun {
        true => (Failure::NotStarted, false),
        false => (Failure::Transient, record.attempt >= attempts),
    };
    Transition::Errored { failure, effect: record.effect, exhausted }
}

/// Subtracts the attempt of a call that was claimed but not begun.
fn not_counted(record: &mut CallRecord) {
    record.attempt = record.attempt.saturating_sub(1);
}

/// Records how an attempt failed. If the arguments contained a secret, message and cause are left out, because they may
/// repeat it.
pub(super) fn note_failure(record: &mut CallRecord, failure: Failure, error: &AttemptError) {
    let is_plain = matches!(record.arguments, StoredText::Plain(_));
    record.failures.push(FailedAttempt {
        attempt: record.attempt,
        at: record.updated,
        failure,
        kind: error.kind.clone(),
        message: error.message.clone().filter(|_| is_plain),
        cause: error.cause.clone().filter(|_| is_plain),
    });
}

impl AttemptError {
    /// Returns whether the attempt failed before its tool began.
    pub(crate) fn is_not_begun(&self) -> bool {
        matches!(self.done, Some(Done::NotBegun | Done::Refused | Done::Unavailable))
    }

    /// Describes the error for operators by its kind and cause.
    fn words(&self) -> String {
        let Self { kind, .. } = self;
        match (&self.cause, &self.message) {
            (Some(cause), _) => format!("{kind}: {cause}"),
            (None, Some(message)) => format!("{kind}: {message}"),
            (None, None) => kind.clone(),
        }
    }
}

impl From<&ToolError> for AttemptError {
    fn from(error: &ToolError) -> Self {
        Self {
            class: error.classified(),
            done: error.done(),
            kind: error.kind().to_owned(),
            message: Some(error.message().to_owned()),
            cause: error.source().map(|source| crate::call::record::chain(source)),
        }
    }
}
