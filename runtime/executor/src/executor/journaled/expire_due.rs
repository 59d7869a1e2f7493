//! Moves a call on because time has passed: its approval expired, or its lease ended while it ran.

use super::super::outcome::CallFailure;
use super::retried::note_failure;
use super::{JournaledCall, TRIES, not_recorded, too_busy};
use toolwright_core::error::ToolError;
use toolwright_journal::journal::{CallRecord, Entry, Failure, State, Transition};

impl JournaledCall<'_> {
    /// Does what is due for one call because time has passed, and nothing else.
    pub(super) async fn expire_due(
        self,
        mut record: CallRecord,
    ) -> Result<CallRecord, CallFailure> {
        for _ in 0..TRIES {
            let now = self.journal.now();
            if record.due().is_none_or(|due| due > now) {
                return Ok(record);
            }
            let mut next = record.clone();
            let entry = match record.state {
                State::Pending => self.expired(&mut next).await?,
                State::Running => self.owner_lost(&mut next)?,
                _ => return Ok(record),
            };
            match self.write(Some(record.version), &next, vec![entry]).await {
                Ok(()) => return Ok(next),
                // Among them: its lease was renewed since.
                Err(error) if error.is_conflict() => record = self.load(record.id).await?,
                Err(error) => return Err(not_recorded(&record.tool, error)),
            }
        }
        Err(not_recorded(&record.tool, too_busy(record.id)))
    }

    async fn expired(self, record: &mut CallRecord) -> Result<Entry, CallFailure> {
        let tool = &record.tool;
        let error =
            ToolError::new("expired", format!("nobody approved the call of `{tool}` in time"))
                .hint("go on without it, or tell the user that it needs approval");
        self.end(record, Transition::Expired, &error, "nobody decided in time").await
    }

    fn owner_lost(self, record: &mut CallRecord) -> Result<Entry, CallFailure> {
        let owner = record.owner.clone().unwrap_or_default();
        let exhausted = record.attempt >= self.policy(record).attempts;
        let event =
            Transition::Errored { failure: Failure::OwnerLost, effect: record.effect, exhausted };
        let entry = self.step(record, event, Some(format!("executor {owner} is gone")))?;
        let error = lost(record);
        note_failure(record, Failure::OwnerLost, &error);
        // Its lease was pause enough.
        self.put_off(record, None);
        if record.state.is_answered() {
            record.answer_with(&error);
        }
        Ok(entry)
    }
}

/// What a model reads of a call that was begun as often as it may be, and never ended.
pub(super) fn lost(record: &CallRecord) -> ToolError {
    let tool = &record.tool;
    let message = match record.attempt {
        1 => format!("`{tool}` was begun, and its owner was lost"),
        times => format!("`{tool}` was begun {times} times, and its last owner was lost"),
    };
    ToolError::new("owner_lost", message)
}
