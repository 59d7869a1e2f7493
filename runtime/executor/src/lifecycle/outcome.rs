//! Converts the record of a call to the outcome of the call, and failures to answers.

use toolwright_core::error_kind;
use tracing::Span;

use super::driver::Lifecycle;
use crate::call::{CallFailure, Outcome, SuspendedCall, record};
use crate::stage;
use toolwright_core::call::Call;
use toolwright_core::context::CallId;
use toolwright_core::error::{ErrorClass, ToolError};
use toolwright_core::tool::Definition;
use toolwright_journal::approval::{ApprovalRequest, Decision, VerifyError};
use toolwright_journal::journal::{CallRecord, State};

impl Lifecycle<'_> {
    /// Returns the outcome of a call, as its record shows it.
    pub(crate) fn outcome_of(self, record: &CallRecord) -> Outcome {
        if let Some(answer) = &record.answer {
            if let Err(why) = self.verify_supplier(record) {
                let (call, tool) = (record.id, record.tool.clone());
                return CallFailure::NotVouched { call, tool, why }.into();
            }
            return match self.reveal_answer(record, answer) {
                Ok(answer) => Outcome::Answered(answer),
                Err(error) => CallFailure::NotRecorded { tool: record.tool.clone(), error }.into(),
            };
        }
        let is_pending = record.state == State::Pending;
        let request = is_pending.then(|| self.request(record)).flatten().map(Box::new);
        let handed_over = self.handed_over_or_traced(record).map(Box::new);
        Outcome::Suspended(SuspendedCall {
            call: record.id,
            state: record.state,
            request,
            handed_over,
        })
    }

    /// Checks that the key which signed a supplied result is trusted.
    fn verify_supplier(self, record: &CallRecord) -> Result<(), VerifyError> {
        // A result that came after the answer is not checked, because the run never receives it.
        let Some(signed) = record.decision.as_ref().filter(|_| record.result.is_none()) else {
            return Ok(());
        };
        match signed.statement().map(|statement| statement.verdict) {
            Ok(Decision::Happened { .. }) => self.journal.trusted.verify(signed).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Makes the request for approval that a person reads.
    pub(super) fn request(self, record: &CallRecord) -> Option<ApprovalRequest> {
        let title = || stage::find(self.run, &record.tool).ok()?.definition().title.clone();
        ApprovalRequest::of(record).map(|request| ApprovalRequest { title: title(), ..request })
    }

    /// Notifies listeners and tracing of the outcome that a call has reached.
    pub(super) fn notify_outcome(
        self,
        watch: Option<record::Watch<'_>>,
        span: &Span,
        call: &Call<'_>,
        definition: Option<&Definition>,
        outcome: &Outcome,
    ) {
        if let Outcome::Answered(answer) = outcome {
            record::conclude(span, self.run, call, definition, answer);
        }
        match (watch, outcome) {
            (Some(watch), Outcome::Answered(answer)) => watch.end(answer),
            (Some(watch), Outcome::Suspended(suspended)) => {
                watch.report_suspension(suspended.state)
            }
            // A failure is not reported here: the watch reports `Abandoned` when it is dropped.
            _ => {}
        }
    }
}

/// Makes the answer for the model from a failure, for a caller that cannot receive a failure.
pub(super) fn failed(tool: &str, failure: &CallFailure) -> ToolError {
    let error = match failure {
        CallFailure::NoApprover { .. } => {
            ToolError::new(error_kind::APPROVAL_REQUIRED, failure.to_string())
                .class(ErrorClass::NotStarted { retry_after: None })
                .hint("go on without this call, or tell the user that it needs approval")
        }
        CallFailure::ResultNotRecorded { call, .. } => indeterminate(tool, *call),
        CallFailure::OtherChild { .. } => {
            let message = format!("`{tool}` was not called: {failure}");
            ToolError::new(error_kind::OTHER_CHILD, message).hint("go on without it")
        }
        // The commit may have succeeded despite the error, so the call may be in the journal.
        _ => {
            ToolError::new(error_kind::JOURNAL_FAILED, format!("`{tool}` could not be run safely"))
                .class(ErrorClass::Unknown)
                .hint("do not repeat it; go on without this call")
        }
    };
    error.caused_by(failure.to_string())
}

pub(super) fn indeterminate(tool: &str, call: CallId) -> ToolError {
    ToolError::new(
        error_kind::INDETERMINATE,
        format!("`{tool}` was begun as call {call}, and it is unknown whether it happened"),
    )
    .class(ErrorClass::Unknown)
    .hint("do not repeat it; a person has to find out")
}
