//! Ends a call that has not begun. Only what is verified ends it: where the last decision is not, the call goes back to
//! where it was, and so does a dead letter that was requeued. Where the call was begun before, its answer says so.

use super::super::outcome::{CallFailure, Outcome};
use super::verify_decision::Past;
use super::{JournaledCall, TRIES, failed, indeterminate, not_recorded, too_busy};
use toolwright_core::context::CallId;
use toolwright_core::error::ToolError;
use toolwright_core::output::Answer;
use toolwright_journal::journal::{CallRecord, Entry, Transition, next};

impl JournaledCall<'_> {
    /// Ends a call that nobody waits for any more, unless somebody runs it by now.
    pub(super) async fn end_with(self, id: CallId, error: ToolError, why: &str) -> Answer {
        match self.end_unbegun(id, &error, why).await {
            Ok(record) => match self.outcome_of(&record) {
                Outcome::Answered(answer) => answer,
                _ => indeterminate(&record.tool, id).into(),
            },
            Err(failure) => failed(&id.to_string(), &failure).into(),
        }
    }

    /// Ends a call that has not begun, with this answer; where it has, nothing is changed.
    pub(super) async fn end_unbegun(
        self,
        id: CallId,
        answer: &ToolError,
        why: &str,
    ) -> Result<CallRecord, CallFailure> {
        self.end_by(id, Transition::RunEnded, answer, why).await
    }

    /// Lets this end a call, with this answer; where it cannot happen to the call any more, nothing is changed.
    pub(super) async fn end_by(
        self,
        id: CallId,
        event: Transition,
        answer: &ToolError,
        why: &str,
    ) -> Result<CallRecord, CallFailure> {
        for _ in 0..TRIES {
            let record = self.load(id).await?;
            if next(record.state, event).is_err() {
                return Ok(record);
            }
            let mut ended = record.clone();
            let entry = self.end(&mut ended, event, answer, why).await?;
            match self.write(Some(record.version), &ended, vec![entry]).await {
                Ok(()) => return Ok(ended),
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(not_recorded(&record.tool, error)),
            }
        }
        Err(not_recorded(&id.to_string(), too_busy(id)))
    }

    /// Lets this end a call that has not begun, or whatever its history wants instead.
    pub(super) async fn end(
        self,
        record: &mut CallRecord,
        event: Transition,
        answer: &ToolError,
        why: &str,
    ) -> Result<Entry, CallFailure> {
        let history = self.history(record).await?;
        let decision = self.verified_decision(record, &history);
        let past = Past::of(decision.as_ref().ok().and_then(Option::as_ref), &history);
        let (event, why) = match decision {
            Err(invalid) if invalid.is_of_what_was() => (invalid.back(), invalid.why),
            _ if past.is_dead_letter => (Transition::PutBack, why.to_owned()),
            _ => (event, why.to_owned()),
        };
        let entry = self.step(record, event, Some(why))?;
        record.proposal = None;
        if record.state.is_final() {
            record.answer_with(&answer.with_more(past.in_words(record)));
        }
        Ok(entry)
    }
}
