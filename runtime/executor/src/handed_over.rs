//! The data for a call that is carried out elsewhere, and the reasons why a supplied result is refused.

use std::fmt;

use jiff::Timestamp;

use toolwright_core::context::CallId;
use toolwright_journal::approval::{HandOverToken, InvalidToken};
use toolwright_journal::journal::{State, StoreError};

/// A call that was handed over, with everything that another process needs to carry it out and to supply its result
/// with [`Executor::supply`](crate::executor::Executor::supply).
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HandedOver {
    /// The id of the call in the journal.
    pub call: CallId,
    /// The run of the call.
    pub run: String,
    /// The tool's name.
    pub tool: String,
    /// The final arguments as JSON text. Secrets in them are not masked, because the call could not be carried out
    /// without them.
    pub arguments: String,
    /// The idempotency key. A service that supports such keys carries the call out only once, even if it receives the
    /// call twice.
    pub idempotency_key: String,
    /// The right to supply the result, once.
    pub token: HandOverToken,
    /// The time until which a result may be supplied; after that, the call is answered with `expired`.
    pub until: Timestamp,
}

/// Omits the arguments, which may contain secrets, and the token.
impl fmt::Debug for HandedOver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HandedOver")
            .field("call", &self.call)
            .field("run", &self.run)
            .field("tool", &self.tool)
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}

/// Why a supplied result is refused. A call that has not ended still waits for a result, and another result may be
/// supplied.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SupplyError {
    /// The executor has no journal, so it has no calls that were handed over.
    #[error("the executor has no journal, so none of its calls was handed over")]
    NoJournal,
    /// The journal has no call with this id.
    #[error("the journal has no call {0}")]
    NoSuchCall(CallId),
    /// The token is not valid for the call.
    #[error("the token does not count for call {call}: {why}")]
    Token {
        /// The id of the call.
        call: CallId,
        /// Why the token is not valid.
        why: InvalidToken,
    },
    /// The call already has its answer, because a result was supplied before, its deadline has passed, or it was
    /// cancelled.
    #[error("call {call} of `{tool}` no longer takes a result: {}", ended(*state, at))]
    Ended {
        /// The id of the call.
        call: CallId,
        /// The tool of the call.
        tool: String,
        /// The state of the call.
        state: State,
        /// When the call reached that state.
        at: Timestamp,
    },
    /// The result exceeds the size limit. The call still waits.
    #[error(
        "the result of call {call} has {found} bytes, and may have {most}: supply less, or say where all of it can be found"
    )]
    TooLarge {
        /// The id of the call.
        call: CallId,
        /// The size of the result in bytes.
        found: usize,
        /// The maximum size of the result in bytes.
        most: usize,
    },
    /// The result is not JSON, or does not match the tool's output schema. The call still waits.
    #[error("the result of call {call} is not what `{tool}` promises: {}", problems.join("; "))]
    Output {
        /// The id of the call.
        call: CallId,
        /// The tool of the call.
        tool: String,
        /// The problems of the result, each with its place as a JSON pointer.
        problems: Vec<String>,
    },
    /// The tool is not registered in this process, so the result cannot be checked. The call still waits for a result.
    #[error("the result of call {call} of `{tool}` cannot be checked here: {why}")]
    NotHere {
        /// The id of the call.
        call: CallId,
        /// The tool of the call.
        tool: String,
        /// Why this process cannot check the result against the tool's schema.
        why: String,
    },
    /// The journal failed. The result may have been recorded nevertheless. Supply it again to find out.
    #[error("the result of call {call} could not be recorded: {error}")]
    NotRecorded {
        /// The id of the call.
        call: CallId,
        /// The error of the store.
        error: StoreError,
    },
}

toolwright_core::debug_as_sentence!(SupplyError);

/// Describes how a call ended, for the error of a result that comes too late.
fn ended(state: State, at: &Timestamp) -> String {
    match state {
        State::Succeeded | State::Failed => format!("its result was supplied before, at {at}"),
        State::Expired => format!("its deadline passed, and it ended at {at}"),
        State::Cancelled => format!("it was cancelled at {at}"),
        state => format!("it has been {state} since {at}"),
    }
}
