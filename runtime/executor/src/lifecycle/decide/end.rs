//! Ends a call that does not run, because of its deadline, its run or its caller, or returns the call to its earlier
//! state. A call that may have begun ends only if the decision about it is valid; otherwise the call returns to its
//! earlier state. A requeued dead letter becomes a dead letter again. The answer says whether the call may have acted.

use super::attempt::note_failure;
use super::moment::{Known, Moment};
use super::statement::Behind;
use super::words::{ended_meanwhile, expired, lost, unapproved};
use crate::call::{cancelled, ended, shutting_down};
use crate::lifecycle::guard::Guard;
use crate::lifecycle::step::{End, Step, Then};
use toolwright_core::error::ToolError;
use toolwright_core::tool::Effect;
use toolwright_journal::journal::{Failure, State, Transition, next};

impl Moment<'_> {
    /// Decides on a call that is due: its approval has expired, its lease has expired while it ran, or no result was
    /// supplied in time. A call that waits for its children is decided on even if no time has passed.
    pub(super) fn due(self) -> Known<Step> {
        let record = &self.snapshot.record;
        let is_due = record.due().is_some_and(|due| due <= self.now);
        match record.state {
            State::Pending if is_due => {
                self.end(Transition::Expired, &expired(&record.tool), "no decision came in time")
            }
            State::Running if is_due => self.owner_lost(),
            State::HandedOver if is_due => self.never_supplied(),
            State::Waiting => self.await_children(),
            _ => Ok(Step::only(Then::Report)),
        }
    }

    fn owner_lost(self) -> Known<Step> {
        let mut next = self.snapshot.record.clone();
        let owner = next.owner.clone().unwrap_or_default();
        if let Some(waits) = self.suspended_by_loss(&owner)? {
            return Ok(waits);
        }
        let exhausted = next.attempt >= self.attempts()?;
        let effect = if self.has(Guard::LostOnce) { next.effect } else { Effect::Idempotent };
        let event = Transition::Errored { failure: Failure::OwnerLost, effect, exhausted };
        let entry = self.advance(&mut next, event, Some(format!("executor {owner} is gone")))?;
        let error = lost(&next);
        note_failure(&mut next, Failure::OwnerLost, &(&error).into());
        // The call has waited until its lease expired, so no further delay is needed.
        next.not_before = next.not_before.filter(|_| next.state != State::Ready);
        if next.state.is_answered() {
            self.answer(&mut next, &error);
        }
        Ok(self.commit(next, vec![entry], Vec::new(), Then::Report))
    }

    /// Ends a call that is not running, or recalls a call that was handed over. Does nothing to a call that is running
    /// or has ended.
    pub(super) fn end_unbegun(self, end: &End) -> Known<Step> {
        let record = &self.snapshot.record;
        let (tool, run) = (&record.tool, &record.place.run);
        let (event, error, why) = match end {
            End::RunEnded => (Transition::RunEnded, ended(run), "its run has ended"),
            End::CallerGone => (Transition::RunEnded, cancelled(tool), "its caller has gone"),
            End::GivenUp => (Transition::RunEnded, cancelled(tool), "given up by its caller"),
            End::ShuttingDown => {
                let error = match record.state {
                    // A call in this state may have begun before its owner released it.
                    State::Ready => cancelled(tool),
                    _ => shutting_down(),
                };
                (Transition::RunEnded, error, "its caller was shutting down")
            }
            End::ApproverFailed(why) => (Transition::Expired, unapproved(record), why.as_str()),
        };
        match next(record.state, event) {
            Ok(_) if record.state == State::HandedOver => match end {
                // The call was approved already, so the failure of an approver does not matter.
                End::ApproverFailed(_) => Ok(Step::only(Then::Report)),
                _ => self.recall(why),
            },
            Ok(_) => self.end(event, &error, why),
            Err(_) => Ok(Step::only(Then::Report)),
        }
    }

    pub(super) fn end_with_run(self) -> Known<Step> {
        let error = ended_meanwhile(&self.snapshot.record.tool);
        self.end(Transition::RunEnded, &error, "its run has ended")
    }

    /// Ends a call that is not running, or returns it to its earlier state if its history requires that.
    fn end(self, event: Transition, error: &ToolError, why: &str) -> Known<Step> {
        let reason = self.reason()?;
        let history = &self.past()?.history;
        let behind = Behind::of(reason.as_ref().ok().and_then(Option::as_ref), history);
        let (event, why) = match reason {
            Err(invalid) if invalid.is_of_what_was() && self.has(Guard::Verified) => {
                (invalid.back(), invalid.why)
            }
            _ if behind.is_dead_letter && self.has(Guard::DeadLetterStays) => {
                (Transition::PutBack, why.to_owned())
            }
            _ => (event, why.to_owned()),
        };
        let mut next = self.snapshot.record.clone();
        let entry = self.advance(&mut next, event, Some(why))?;
        next.proposal = None;
        if next.state.is_final() {
            let more = behind.in_words(&next);
            self.answer(&mut next, &error.with_more(more));
        }
        Ok(self.commit(next, vec![entry], Vec::new(), Then::Report))
    }

    /// Returns a call to its earlier state, because a decision is not valid or cannot be carried out.
    pub(super) fn back(self, event: Transition, why: String) -> Known<Step> {
        let mut back = self.snapshot.record.clone();
        let entry = self.advance(&mut back, event, Some(why))?;
        back.proposal = None;
        Ok(self.commit(back, vec![entry], Vec::new(), Then::Continue))
    }
}
