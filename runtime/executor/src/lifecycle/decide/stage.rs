//! Applies what the application's middleware decided about a call that may run: the call begins, begins later, or does
//! not begin. A call that the middleware holds back does not use up an attempt.

use super::moment::{Known, Moment};
use super::statement::Behind;
use super::words::cannot_wait;
use crate::call::{cancelled, later};
use crate::lifecycle::guard::Guard;
use crate::lifecycle::step::{Need, StageVerdict, StagedCall, Step, Then};
use toolwright_journal::journal::{CallRecord, Entry, State, Transition};

impl Moment<'_> {
    /// Decides on a call that the middleware has examined.
    pub(super) fn stage(self, staged: &StagedCall) -> Known<Step> {
        if !self.snapshot.is_recorded {
            return self.submitted(staged.reason.as_deref(), Some(staged));
        }
        let record = &self.snapshot.record;
        let is_current = record.version == staged.version || !self.has(Guard::StagesCurrent);
        match record.state {
            State::Ready if self.settings.is_closed => Ok(Step::only(Then::Report)),
            State::Ready if is_current => self.claim(Some(staged)),
            // The call has changed since the middleware examined it, or another executor has claimed it.
            _ => self.resumed(),
        }
    }

    /// Returns whether the middleware has to examine the call first.
    pub(super) fn waits_for_stages(self, staged: Option<&StagedCall>) -> bool {
        self.settings.has_stages && staged.is_none() && self.has(Guard::StagesFirst)
    }

    /// Returns the decision of the middleware if it does not let the call begin.
    pub(super) fn keeps_out(self, staged: Option<&StagedCall>) -> Option<&StagedCall> {
        staged.filter(|it| !matches!(it.verdict, StageVerdict::Continue))
    }

    /// Delays or ends a call of the journal that the middleware does not let begin. If an earlier attempt may have
    /// acted, the answer says so. A requeued dead letter becomes a dead letter again.
    pub(super) fn kept_out_again(self, staged: &StagedCall, behind: Behind) -> Known<Step> {
        let record = &self.snapshot.record;
        let ends_unrun = match &staged.verdict {
            StageVerdict::Answer(answer) => answer.is_error,
            StageVerdict::GivenUp => true,
            StageVerdict::Continue | StageVerdict::Delay { .. } => false,
        };
        if ends_unrun && behind.is_dead_letter && self.has(Guard::DeadLetterStays) {
            return self.back(Transition::PutBack, "a stage refused it".to_owned());
        }
        let more = behind.in_words(record).filter(|_| ends_unrun);
        if let (StageVerdict::Answer(_), Some(more)) = (&staged.verdict, &more)
            && staged.more.as_ref() != Some(more)
        {
            return Err(Need::More(more.clone()).into());
        }
        let mut next = record.clone();
        let entry = self.kept_out(&mut next, &staged.verdict, more, false)?;
        Ok(self.commit(next, vec![entry], Vec::new(), Then::Report))
    }

    /// Changes a ready call to the state on which the middleware decided. `more` is what the answer of the call adds
    /// about earlier attempts.
    pub(super) fn kept_out(
        self,
        next: &mut CallRecord,
        verdict: &StageVerdict,
        more: Option<String>,
        cannot_wait_here: bool,
    ) -> Known<Entry> {
        let tool = next.tool.clone();
        match verdict {
            StageVerdict::Delay { why, .. } if cannot_wait_here => {
                let entry = self.advance(next, Transition::TurnedAway, Some(why.clone()))?;
                self.answer(next, &cannot_wait(&tool, why));
                Ok(entry)
            }
            StageVerdict::Delay { time, why } => {
                let entry = self.advance(next, Transition::Delayed, Some(why.clone()))?;
                next.not_before = Some(later(self.now, *time));
                let taken = u32::from(!self.has(Guard::WaitingIsFree));
                next.attempt = next.attempt.saturating_add(taken);
                Ok(entry)
            }
            StageVerdict::Answer(answer) => {
                let event =
                    if answer.is_error { Transition::TurnedAway } else { Transition::Answered };
                let entry = self.advance(next, event, None)?;
                self.answer(next, answer.clone());
                Ok(entry)
            }
            StageVerdict::GivenUp | StageVerdict::Continue => {
                let why = Some("given up by its caller".to_owned());
                let entry = self.advance(next, Transition::RunEnded, why)?;
                self.answer(next, &cancelled(&tool).with_more(more));
                Ok(entry)
            }
        }
    }
}
