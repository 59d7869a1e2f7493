//! What is given to who carries a call out elsewhere, and why a result that they supply does not count.

use std::fmt;

use jiff::Timestamp;

use toolwright_core::context::CallId;
use toolwright_journal::approval::{HandOverToken, InvalidToken};
use toolwright_journal::journal::{State, StoreError};

/// A call that was handed over, with all that is needed to carry it out and to supply its result by
/// [`Executor::supply`](crate::executor::Executor::supply).
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HandedOver {
    /// The call, as the journal knows it.
    pub call: CallId,
    /// Its run.
    pub run: String,
    /// The tool's name.
    pub tool: String,
    /// The final arguments as JSON text. Secrets among them are not masked: the call could not be carried out otherwise.
    pub arguments: String,
    /// The idempotency key: a service that takes keys does the same call once.
    pub idempotency_key: String,
    /// The right to supply the result, once.
    pub token: HandOverToken,
    /// Until when a result may be supplied; then the call is answered `expired`.
    pub until: Timestamp,
}

/// Without arguments, which may hold secrets, and without the token's signature.
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

/// Why a supplied result does not count. Where it could not be recorded, or is not what the tool promises, the call waits
/// on, and a result may be supplied again.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SupplyError {
    /// The executor has no journal, so that none of its calls was handed over.
    #[error("the executor has no journal, so that none of its calls was handed over")]
    NoJournal,
    /// The journal does not know the call.
    #[error("the journal knows no call {0}")]
    NoSuchCall(CallId),
    /// The token does not count for the call.
    #[error("the token does not count for call {call}: {why}")]
    Token {
        /// The call.
        call: CallId,
        /// Why it does not.
        why: InvalidToken,
    },
    /// The call has its one answer: a result was supplied before, its deadline has passed, or it was cancelled.
    #[error("call {call} of `{tool}` takes no result any more: {}", ended(*state, at))]
    Ended {
        /// The call.
        call: CallId,
        /// Its tool.
        tool: String,
        /// What has become of it.
        state: State,
        /// When.
        at: Timestamp,
    },
    /// The result is larger than a result may be. The call waits on.
    #[error(
        "the result of call {call} has {found} bytes, and may have {most}: supply less, or where the whole is to be found"
    )]
    TooLarge {
        /// The call.
        call: CallId,
        /// Its size in bytes.
        found: usize,
        /// The most bytes that it may have.
        most: usize,
    },
    /// The result is no JSON, or not of the tool's output schema. The call waits on.
    #[error("the result of call {call} is not what `{tool}` promises: {}", problems.join("; "))]
    Output {
        /// The call.
        call: CallId,
        /// Its tool.
        tool: String,
        /// What is wrong with it, each with its place.
        problems: Vec<String>,
    },
    /// The tool is not registered here, so that the result cannot be checked. The call waits on.
    #[error("the result of call {call} of `{tool}` cannot be checked here: {why}")]
    NotHere {
        /// The call.
        call: CallId,
        /// Its tool.
        tool: String,
        /// What is missing.
        why: String,
    },
    /// The journal failed. Whether it has the result, the next try says.
    #[error("the result of call {call} could not be recorded: {error}")]
    NotRecorded {
        /// The call.
        call: CallId,
        /// What the store said.
        error: StoreError,
    },
}

toolwright_core::debug_as_sentence!(SupplyError);

/// What has become of a call that takes no result any more.
fn ended(state: State, at: &Timestamp) -> String {
    match state {
        State::Succeeded | State::Failed => format!("its result was supplied before, at {at}"),
        State::Expired => format!("its deadline passed, and it ended at {at}"),
        State::Cancelled => format!("it was cancelled at {at}"),
        state => format!("it is {state} since {at}"),
    }
}
