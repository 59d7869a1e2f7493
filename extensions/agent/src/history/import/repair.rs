//! What an import changed, and why one is refused.

/// One change that an import made. Messages, calls and answers are counted as they came, from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryRepair {
    /// A call has no answer.
    #[error(
        "call {call} of message {message}, of `{tool}`, has no answer: it is answered `interrupted`"
    )]
    Unanswered {
        /// The message of the model.
        message: usize,
        /// The call.
        call: usize,
        /// Its tool.
        tool: String,
    },
    /// An answer does not stand at the place of its call.
    #[error(
        "answer {answer} of message {message}, of `{tool}`, is moved to its call, call {call} of message {from}"
    )]
    Moved {
        /// The message with the answer.
        message: usize,
        /// The answer.
        answer: usize,
        /// The tool.
        tool: String,
        /// The message of the model that has the call.
        from: usize,
        /// The call.
        call: usize,
    },
    /// An answer is to no call.
    #[error(
        "answer {answer} of message {message}, of `{tool}`, is left out: no call before it has its id and tool"
    )]
    NoCall {
        /// The message with the answer.
        message: usize,
        /// The answer.
        answer: usize,
        /// The tool.
        tool: String,
    },
    /// An answer is to a call that has one.
    #[error(
        "answer {answer} of message {message}, of `{tool}`, is left out: its call has an answer"
    )]
    SecondAnswer {
        /// The message with the answer.
        message: usize,
        /// The answer.
        answer: usize,
        /// The tool.
        tool: String,
    },
    /// An earlier call has the id of a call.
    #[error(
        "call {call} of message {message}, of `{tool}`, has the id `{from}` of an earlier call: it is `{to}` now"
    )]
    RepeatedId {
        /// The message of the model.
        message: usize,
        /// The call.
        call: usize,
        /// Its tool.
        tool: String,
        /// Its id, as it came.
        from: String,
        /// Its id now.
        to: String,
    },
    /// What a provider requires back names a call by an id that was changed.
    #[error(
        "message {message} loses what its provider wants back verbatim, which has ids that were changed"
    )]
    NoVerbatim {
        /// The message of the model.
        message: usize,
    },
    /// A message of the model has neither text nor calls, or one with answers has none.
    #[error("message {message} is left out: nothing is in it")]
    EmptyMessage {
        /// The message.
        message: usize,
    },
}

impl HistoryRepair {
    /// Returns the index of the message that it is about.
    #[must_use]
    pub fn message(&self) -> usize {
        match self {
            Self::Unanswered { message, .. }
            | Self::Moved { message, .. }
            | Self::NoCall { message, .. }
            | Self::SecondAnswer { message, .. }
            | Self::RepeatedId { message, .. }
            | Self::NoVerbatim { message }
            | Self::EmptyMessage { message } => *message,
        }
    }
}

/// Why a history is not imported.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The model speaks before the user.
    #[error(
        "message {message} is the model's, found no message of the user before it; begin the history with what the user said"
    )]
    ModelFirst {
        /// The message.
        message: usize,
    },
    /// A call has no name of a tool.
    #[error(
        "call {call} of message {message} names no tool, expected a name; write it into the history"
    )]
    NoTool {
        /// The message.
        message: usize,
        /// The call.
        call: usize,
    },
}
toolwright::unstable::debug_as_sentence!(ImportError);
