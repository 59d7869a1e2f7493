//! The values for one decision on a call. Every part of the decision reads facts through [`Moment`], and returns early
//! with the first fact that is missing.

use jiff::Timestamp;

use crate::call::later;
use crate::lifecycle::guard::Guard;
use crate::lifecycle::snapshot::{Evaluated, Past, Preview, Snapshot, Stored, ToolNow};
use crate::lifecycle::step::{Need, Problem, Settings, Step, Then};
use toolwright_journal::journal::{
    AnswerRecord, CallRecord, CallWrite, DocumentWrite, Entry, NotAdvanced, Note, Transaction,
    Transition,
};

/// The values from which one decision about a call is made.
#[derive(Clone, Copy)]
pub(super) struct Moment<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) settings: &'a Settings,
    pub(super) now: Timestamp,
    pub(super) random: u128,
}

/// A fact, or the step that ends the decision early, for instance to read a missing fact.
pub(super) type Known<T> = Result<T, Box<Step>>;

impl<'a> Moment<'a> {
    pub(super) fn has(self, guard: Guard) -> bool {
        self.settings.guards.has(guard)
    }

    pub(super) fn past(self) -> Known<&'a Past> {
        known(&self.snapshot.past, Need::Past)
    }

    /// Returns whether the run has ended; `false` if the guard `RunEndSeen` is switched off.
    pub(super) fn run_has_ended(self) -> Known<bool> {
        let ended = *known(&self.snapshot.run_ended, Need::Run)?;
        Ok(ended && self.has(Guard::RunEndSeen))
    }

    /// Returns the tool of the call, if this process can continue the call.
    pub(super) fn tool(self) -> Known<&'a ToolNow> {
        known(&self.snapshot.tool, Need::Tool)?.as_ref().map_err(|why| self.not_here(why.clone()))
    }

    pub(super) fn stored(self) -> Known<&'a Stored> {
        known(&self.snapshot.stored, Need::Stored)
    }

    pub(super) fn evaluated(self) -> Known<&'a Result<Evaluated, AnswerRecord>> {
        known(&self.snapshot.evaluated, Need::Evaluated)
    }

    pub(super) fn proposed(self) -> Known<&'a Result<Evaluated, AnswerRecord>> {
        known(&self.snapshot.proposed, Need::Proposed)
    }

    pub(super) fn preview(self) -> Known<Option<String>> {
        Ok(match known(&self.snapshot.preview, Need::Preview)? {
            Preview::Text(text) => Some(text.clone()),
            Preview::Nothing => None,
        })
    }

    pub(super) fn attempts(self) -> Known<u32> {
        match &self.snapshot.tool {
            Some(Ok(tool)) => Ok(tool.retry.attempts),
            _ => known(&self.snapshot.attempts, Need::Attempts).copied(),
        }
    }

    pub(super) fn not_here(self, why: String) -> Box<Step> {
        Box::new(Step::only(Then::Fail(Problem::NotHere(why))))
    }

    /// Applies a transition to the call on behalf of the executor.
    pub(super) fn advance(
        self,
        record: &mut CallRecord,
        event: Transition,
        why: Option<String>,
    ) -> Known<Entry> {
        let who = format!("executor:{}", self.settings.owner);
        let note = Note { who, at: self.now, why, signed: None };
        record.advance(event, note).map_err(not_advanced)
    }

    pub(super) fn answer(self, record: &mut CallRecord, answer: impl Into<AnswerRecord>) {
        if !self.has(Guard::AnswerStays) {
            record.answer = None;
        }
        record.answer_with(answer);
    }

    /// Changes a record from `ready` to `running`, with this executor as the owner.
    pub(super) fn mark_claimed(self, record: &mut CallRecord) -> Known<Entry> {
        let entry = self.advance(record, Transition::Claimed, None)?;
        record.owner = Some(self.settings.owner.clone());
        record.lease = Some(later(self.now, self.settings.lease));
        Ok(entry)
    }

    /// Makes the commit of a changed record.
    pub(super) fn commit(
        self,
        record: CallRecord,
        entries: Vec<Entry>,
        documents: Vec<DocumentWrite>,
        then: Then,
    ) -> Step {
        let expects = self.snapshot.is_recorded.then_some(self.snapshot.record.version);
        let calls = vec![CallWrite { expects, record, entries }];
        Step { commit: Some(Transaction { calls, documents }), then }
    }

    /// Adds the condition that the run has not ended to the commit of a call that begins.
    pub(super) fn begins(
        self,
        more: impl IntoIterator<Item = DocumentWrite>,
    ) -> Vec<DocumentWrite> {
        let key = ended_key(&self.snapshot.record.place.run);
        let not_ended = DocumentWrite { key, expects: None, text: None };
        let is_checked = self.has(Guard::RunEndCommitted);
        is_checked.then_some(not_ended).into_iter().chain(more).collect()
    }
}

/// Makes the step of a failure: the state of the call does not allow the transition, or a counter of the record is at
/// its maximum.
pub(super) fn not_advanced(why: NotAdvanced) -> Box<Step> {
    Box::new(Step::only(Then::Fail(match why {
        NotAdvanced::Illegal(illegal) => Problem::Illegal(illegal),
        other => Problem::NotAdvanced(other),
    })))
}

fn known<T>(read: &Option<T>, need: Need) -> Known<&T> {
    read.as_ref().ok_or_else(|| Box::new(need.into()))
}

/// Ends the decision early, with this step as its result.
pub(super) fn early<T>(step: Known<Step>) -> Known<T> {
    Err(step.map_or_else(|early| early, Box::new))
}

/// Returns the key of the document that records the end of a run.
pub fn ended_key(run: &str) -> String {
    format!("run/{run}/ended")
}
