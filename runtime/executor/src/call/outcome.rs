//! The outcome of a call that may have to wait for a person.

use std::fmt;

use crate::handed_over::HandedOver;
use toolwright_core::context::CallId;
use toolwright_core::output::Answer;
use toolwright_journal::approval::{ApprovalRequest, VerifyError};
use toolwright_journal::journal::{CallSlot, Contradiction, ParentCall, State, StoreError};

/// The outcome of a call that was submitted. A suspended call has not failed: the host application continues when the
/// call has an answer, perhaps in another process.
///
/// ```
/// use toolwright::Outcome;
///
/// fn in_words(outcome: &Outcome) -> String {
///     match outcome {
///         Outcome::Answered(answer) => format!("the model reads: {}", answer.text()),
///         Outcome::Suspended(waits) => format!("call {} is {}", waits.call, waits.state),
///         Outcome::Failed(failure) => format!("the host has to act: {failure}"),
///     }
/// }
///
/// # let outcome = Outcome::Answered(toolwright::Answer::from(toolwright::Output::text("4")));
/// assert_eq!(in_words(&outcome), "the model reads: 4");
/// ```
#[derive(Debug)]
pub enum Outcome {
    /// The one answer of the call.
    Answered(Answer),
    /// The call is suspended, so the model gets no answer yet.
    Suspended(SuspendedCall),
    /// The executor cannot continue the call, and the model gets no answer: the host application has to act.
    Failed(CallFailure),
}

/// A call that waits in the journal and has no answer yet.
#[derive(Debug)]
#[non_exhaustive]
pub struct SuspendedCall {
    /// The id of the call in the journal.
    pub call: CallId,
    /// The state of the call, which says for what the call waits: a decision of a person (pending), a worker (ready),
    /// its result (running), a person or its `reconcile` function to find out whether it happened (indeterminate), an
    /// evaluation by the policy (judging), the calls that it makes (waiting), or a result from another process (handed
    /// over).
    pub state: State,
    /// The request for a person's approval, if the call needs one.
    pub request: Option<Box<ApprovalRequest>>,
    /// Everything that another process needs to carry the call out, if the call was handed over.
    pub handed_over: Option<Box<HandedOver>>,
}

/// Why the executor cannot continue a call. The model gets no answer, and the host application has to act.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallFailure {
    /// The call needs approval, no approver can be asked, and the executor is set to fail in that case.
    #[error("`{tool}` needs a person's approval ({reason}), and no approver can be asked")]
    NoApprover {
        /// The name of the tool.
        tool: String,
        /// Why the call needs approval.
        reason: String,
    },
    /// The journal failed while the executor read or wrote something other than the result of the call. Usually the
    /// tool was not run. It has run if the recorded call could not be read afterwards.
    #[error("the journal failed before `{tool}` was run, so it was not run: {error}")]
    NotRecorded {
        /// The name of the tool.
        tool: String,
        /// The error of the store.
        error: StoreError,
    },
    /// The journal failed after the tool had run, so the result of the call is not recorded.
    #[error("`{tool}` was run as call {call}, but its result could not be recorded: {error}")]
    ResultNotRecorded {
        /// The id of the call.
        call: CallId,
        /// The name of the tool.
        tool: String,
        /// The error of the store.
        error: StoreError,
    },
    /// The call has an answer, but the journal failed before the untrusted sources of the answer were recorded. The run
    /// must not receive the answer, because its policy would treat the text as trusted in another process.
    #[error(
        "`{tool}` has an answer, but the untrusted sources of the answer could not be recorded: {error}; receive the answer when the journal is available"
    )]
    SourcesNotRecorded {
        /// The name of the tool.
        tool: String,
        /// The error of the store.
        error: StoreError,
    },
    /// The journal already has a different call in this slot of the turn.
    #[error(
        "call {index} of turn {turn} of run `{run}` is recorded as call {call} of `{tool}` with other arguments; count turns so that each has a number of its own",
        index = place.index, turn = place.turn.unwrap_or_default(), run = place.run
    )]
    PlaceTaken {
        /// The slot: run, turn and index.
        place: CallSlot,
        /// The id of the call that the journal has in this slot.
        call: CallId,
        /// The tool of the recorded call.
        tool: String,
    },
    /// A parent that runs again makes a different call at this index than it made before.
    #[error(
        "call {index} that call {parent} makes is recorded as call {call} of `{tool}` with other arguments; a tool that makes calls has to make the same calls in the same order when it runs again",
        index = parent.index, parent = parent.call
    )]
    OtherChild {
        /// The parent, with the index of the child among the calls that the parent makes.
        parent: ParentCall,
        /// The id of the call that the journal has for this parent and index.
        call: CallId,
        /// The tool of the recorded call.
        tool: String,
    },
    /// The executor shuts down while the call has no answer. The call stays in the journal.
    #[error(
        "the executor shuts down while call {call} of `{tool}` is {state}; make the turn again with another executor to go on with it"
    )]
    ShuttingDown {
        /// The id of the call.
        call: CallId,
        /// The name of the tool.
        tool: String,
        /// The state of the call.
        state: State,
    },
    /// The journal has no call with this id.
    #[error("the journal has no call {0}")]
    NoSuchCall(CallId),
    /// The call has no answer yet, so its run cannot acknowledge one.
    #[error(
        "call {call} of `{tool}` is {state} and has no answer yet; acknowledge it when its outcome is answered"
    )]
    NotAnswered {
        /// The id of the call.
        call: CallId,
        /// The name of the tool.
        tool: String,
        /// The state of the call.
        state: State,
    },
    /// The record of the call contradicts the rules of the state machine, so the executor does not run it.
    #[error("call {call} of `{tool}` is not run, because its record was tampered with: {why}")]
    Contradiction {
        /// The id of the call.
        call: CallId,
        /// The name of the tool.
        tool: String,
        /// The contradiction between record and rules.
        why: Contradiction,
    },
    /// The result of the call comes from a person's decision, whose signature is not valid here. Its key may not be
    /// trusted.
    #[error(
        "the result of call {call} of `{tool}` was supplied with a key that does not count: {why}"
    )]
    NotVouched {
        /// The id of the call.
        call: CallId,
        /// The name of the tool.
        tool: String,
        /// Why the signature is not valid.
        why: VerifyError,
    },
    /// This process cannot continue the call. For instance, its tool is not registered here, the tool needs services
    /// that only the call's own run has, or the key that decrypts its arguments is missing.
    #[error("call {call} of `{tool}` cannot be run here: {why}")]
    NotHere {
        /// The id of the call.
        call: CallId,
        /// The name of the tool.
        tool: String,
        /// Why this process cannot run the call.
        why: String,
    },
}
toolwright_core::debug_as_sentence!(CallFailure);

impl CallFailure {
    /// Returns the error of the journal's store after which the call may be continued as if nothing had happened.
    pub(crate) fn store_error(&self) -> Option<&StoreError> {
        match self {
            Self::NotRecorded { error, .. } | Self::SourcesNotRecorded { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl Outcome {
    /// Returns the answer of the call; `None` if it has no answer.
    #[must_use]
    pub fn answer(self) -> Option<Answer> {
        match self {
            Self::Answered(answer) => Some(answer),
            _ => None,
        }
    }

    /// Returns why the executor cannot continue the call, if that is the outcome.
    #[must_use]
    pub fn failure(&self) -> Option<&CallFailure> {
        match self {
            Self::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    /// Returns the suspended call, if the call is suspended.
    #[must_use]
    pub fn suspended(&self) -> Option<&SuspendedCall> {
        match self {
            Self::Suspended(suspended) => Some(suspended),
            _ => None,
        }
    }
}

impl From<Answer> for Outcome {
    fn from(answer: Answer) -> Self {
        Self::Answered(answer)
    }
}

impl From<CallFailure> for Outcome {
    fn from(failure: CallFailure) -> Self {
        Self::Failed(failure)
    }
}

impl fmt::Display for SuspendedCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "call {} is {}", self.call, self.state)
    }
}
