//! What the stages of the application make of a call that may run: it begins, later or not at all. Until they have let it
//! through, it has not begun, and none of this takes an attempt.

use super::super::guard::Guard;
use super::super::step::{StageVerdict, Staged, Step, Then};
use super::moment::{Known, Moment};
use super::words::{cancelled, cannot_wait};
use crate::executor::later;
use toolwright_journal::journal::{CallRecord, Entry, State, Transition};

impl Moment<'_> {
    /// The stages have looked at a call.
    pub(super) fn staged(self, staged: &Staged) -> Known<Step> {
        if !self.snapshot.is_recorded {
            return self.submitted(staged.reason.as_deref(), Some(&staged.verdict));
        }
        let record = &self.snapshot.record;
        match record.state {
            State::Ready if self.settings.is_closed => Ok(Step::only(Then::Report)),
            State::Ready if record.version == staged.version => self.claim(Some(&staged.verdict)),
            // It is another call now, or somebody was faster.
            _ => self.resumed(),
        }
    }

    /// Whether the stages have to look first.
    pub(super) fn waits_for_stages(self, verdict: Option<&StageVerdict>) -> bool {
        self.settings.has_stages && verdict.is_none() && self.has(Guard::StagesFirst)
    }

    /// The verdict that keeps a call from beginning, where there is one.
    pub(super) fn keeps_out(self, verdict: Option<&StageVerdict>) -> Option<&StageVerdict> {
        verdict.filter(|it| !matches!(it, StageVerdict::GoOn))
    }

    /// Moves a call that is ready to where the stages want it.
    pub(super) fn kept_out(
        self,
        next: &mut CallRecord,
        verdict: &StageVerdict,
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
                Ok(entry)
            }
            StageVerdict::Answer(answer) => {
                let event =
                    if answer.is_error { Transition::TurnedAway } else { Transition::Answered };
                let entry = self.advance(next, event, None)?;
                self.answer(next, answer.clone());
                Ok(entry)
            }
            StageVerdict::GivenUp | StageVerdict::GoOn => {
                let why = Some("given up by its caller".to_owned());
                let entry = self.advance(next, Transition::RunEnded, why)?;
                self.answer(next, &cancelled(&tool));
                Ok(entry)
            }
        }
    }
}
