//! An approver that fails: it cannot be asked, panics, or gives no decision. The people at this process and the listeners
//! are told. The call waits where somebody else may decide; where nobody else can, it ends at once.

use std::io::Write as _;

use super::super::journal_config::OnNoApprover;
use super::super::outcome::CallFailure;
use super::JournaledCall;
use super::ask::TRY_AGAIN;
use crate::event::EventKind;
use toolwright_core::error::{Class, ToolError};
use toolwright_journal::journal::{CallRecord, Transition};

/// Whose a call is that somebody is asked about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// Somebody here waits for it, or has just made it.
    Ours,
    /// It was found in the journal. The process that asked about it may have an approver that does not fail.
    Anybodys,
}

impl JournaledCall<'_> {
    /// Says why an approver failed over a call, and ends the call where nobody else can decide.
    pub(super) async fn approver_failed(
        self,
        record: &CallRecord,
        why: &str,
        whose: Whose,
    ) -> Result<(), CallFailure> {
        let waits = self.others_decide() || !self.was_asked_here(record, whose).await?;
        self.report(record, why, waits);
        if !waits {
            self.end_by(record.id, Transition::Expired, &unapproved(record), why).await?;
        }
        Ok(())
    }

    /// Whether somebody may decide who is not asked in this process.
    fn others_decide(self) -> bool {
        self.journal.trusted.count() > 1 || self.journal.on_no_approver == OnNoApprover::Park
    }

    /// Whether it was this executor that asked about the call, or somebody here waits for it.
    async fn was_asked_here(self, record: &CallRecord, whose: Whose) -> Result<bool, CallFailure> {
        if whose == Whose::Ours {
            return Ok(true);
        }
        let history = self.history(record).await?;
        let asked = history.iter().rev().find(|entry| entry.event == Some(Transition::Asked));
        Ok(asked.is_some_and(|entry| entry.who == self.journal.note(None).who))
    }

    /// Tells listeners each time, and the people who read standard error once for each call.
    fn report(self, record: &CallRecord, why: &str, waits: bool) {
        tracing::warn!(call = %record.id, why, waits, "an approver failed");
        self.notify_of(record, EventKind::ApproverFailed { why, waits });
        if !self.journal.busy.is_news(record.id) {
            return;
        }
        let (call, tool) = (record.id, &record.tool);
        let follows = match waits {
            true => format!(
                "it waits for somebody else whose key counts, and is asked about again every {} s",
                TRY_AGAIN.as_secs()
            ),
            false => "no other key counts, so the call ends unapproved".to_owned(),
        };
        // Nobody may be listening there, either.
        let _ = writeln!(
            std::io::stderr(),
            "call {call} of `{tool}` was not decided: {why}; {follows}"
        );
    }
}

/// What the model reads.
fn unapproved(record: &CallRecord) -> ToolError {
    let reason = record.ask.as_ref().map(|ask| format!(" ({})", ask.reason)).unwrap_or_default();
    let tool = &record.tool;
    let message = format!("`{tool}` needs a person's approval{reason}, and nobody could be asked");
    ToolError::new("approval_required", message)
        .class(Class::NotStarted { retry_after: None })
        .hint("go on without this call, or tell the user that it needs approval")
}
