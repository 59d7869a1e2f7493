//! A recorded decision, for people and programs.

use jiff::Timestamp;
use serde::Serialize;
use toolwright::CallId;
use toolwright::approval::{Decision, Subject, SubmitOutcome};
use toolwright::journal::State;

use super::{printable, when};

/// A decision as JSON, for programs.
#[derive(Serialize)]
pub(crate) struct DecisionRow<'a> {
    /// The call that was decided about; `None` for a decision about a grant.
    call: Option<CallId>,
    verdict: &'static str,
    by: &'a str,
    at: Timestamp,
    /// The state of the call after the decision; for a repeated decision, the present state. `None` for a decision
    /// about a grant.
    state: Option<State>,
    /// The grant that was made or revoked, if any.
    grant: Option<&'a str>,
    /// Whether an equal decision had been recorded before.
    repeated: bool,
}

/// Returns the name of a decision for JSON output.
pub(crate) fn verdict(verdict: &Decision) -> &'static str {
    match verdict {
        Decision::Approve { .. } => "approved",
        Decision::Edit { .. } => "edited",
        Decision::Reject { .. } => "rejected",
        Decision::Happened { .. } => "happened",
        Decision::DidNotHappen => "did_not_happen",
        Decision::Revoke => "revoked",
        Decision::Accept => "accepted",
        Decision::Requeue { .. } => "requeued",
        Decision::Discard { forget: false, .. } => "discarded",
        Decision::Discard { forget: true, .. } => "forgotten",
    }
}

impl<'a> DecisionRow<'a> {
    pub(crate) fn of(submitted: &'a SubmitOutcome, state: Option<State>) -> Self {
        let call = match &submitted.about {
            Subject::Call { id, .. } => Some(*id),
            Subject::Grant { .. } => None,
        };
        Self {
            call,
            verdict: verdict(&submitted.verdict),
            by: &submitted.who,
            at: submitted.at,
            state,
            grant: submitted.grant.as_deref(),
            repeated: submitted.repeated,
        }
    }

    /// Describes the decision in a sentence.
    pub(crate) fn words(&self) -> String {
        let what = match (self.call, self.grant) {
            (Some(call), _) => format!("call {call}"),
            (None, grant) => format!("grant {}", printable::line(grant.unwrap_or_default())),
        };
        let done = match self.verdict {
            "happened" => "found to have happened",
            "did_not_happen" => "found not to have happened",
            verdict => verdict,
        };
        let mut words = format!("{what} was {done} by {}", printable::line(self.by));
        if self.repeated {
            words = format!("{words} at {}, recorded already", when::absolute(self.at));
        }
        if let Some(state) = self.state {
            words = format!("{words} (now {state})");
        }
        if let Some(grant) = self.grant.filter(|_| self.call.is_some()) {
            words =
                format!("{words}; calls like it are allowed by grant {}", printable::line(grant));
        }
        words + "\n"
    }
}
