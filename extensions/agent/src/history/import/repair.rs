//! The changes that an import makes, and the reasons to refuse an import.

/// One change that an import makes. Messages, calls and answers are counted from 0, as in the original history.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryRepair {
    /// A call has no answer.
    #[error(
        "call {call} of message {message}, of `{tool}`, has no answer: it is answered `interrupted`"
    )]
    Unanswered {
        /// The index of the model's message.
        message: usize,
        /// The index of the call in the message.
        call: usize,
        /// The name of the call's tool.
        tool: String,
    },
    /// An answer is not in its place: in the message after its call, at the index of the call.
    #[error(
        "answer {answer} of message {message}, of `{tool}`, is moved to its call, call {call} of message {from}"
    )]
    Moved {
        /// The index of the message with the answer.
        message: usize,
        /// The index of the answer.
        answer: usize,
        /// The name of the tool.
        tool: String,
        /// The index of the model's message that has the call.
        from: usize,
        /// The index of the call in that message.
        call: usize,
    },
    /// An answer belongs to no call.
    #[error(
        "answer {answer} of message {message}, of `{tool}`, is left out: no call before it has its id and tool"
    )]
    NoCall {
        /// The index of the message with the answer.
        message: usize,
        /// The index of the answer.
        answer: usize,
        /// The name of the tool.
        tool: String,
    },
    /// An answer belongs to a call that is answered already.
    #[error(
        "answer {answer} of message {message}, of `{tool}`, is left out: its call has an answer"
    )]
    SecondAnswer {
        /// The index of the message with the answer.
        message: usize,
        /// The index of the answer.
        answer: usize,
        /// The name of the tool.
        tool: String,
    },
    /// A call has the id of an earlier call.
    #[error(
        "call {call} of message {message}, of `{tool}`, has the id `{from}` of an earlier call: it is `{to}` now"
    )]
    RepeatedId {
        /// The index of the model's message.
        message: usize,
        /// The index of the call in the message.
        call: usize,
        /// The name of the call's tool.
        tool: String,
        /// The id that the call has in the original.
        from: String,
        /// The id that the call has after the import.
        to: String,
    },
    /// The verbatim content of a message is left out, because it names a call by an id that was changed.
    #[error(
        "message {message} loses what its provider wants back verbatim, which has ids that were changed"
    )]
    NoVerbatim {
        /// The index of the model's message.
        message: usize,
    },
    /// A message of the model has neither text nor calls nor verbatim content, or a message of answers is empty.
    #[error("message {message} is left out: nothing is in it")]
    EmptyMessage {
        /// The index of the message.
        message: usize,
    },
}
toolwright::unstable::debug_as_sentence!(HistoryRepair);

impl HistoryRepair {
    /// Returns the index of the message that the repair is about.
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

/// Why a history cannot be imported.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A message of the model comes before every message of the user.
    #[error(
        "message {message} is the model's, found no message of the user before it; begin the history with what the user said"
    )]
    ModelFirst {
        /// The index of the message.
        message: usize,
    },
    /// A call names no tool.
    #[error(
        "call {call} of message {message} names no tool, expected a name; write it into the history"
    )]
    NoTool {
        /// The index of the message.
        message: usize,
        /// The index of the call in the message.
        call: usize,
    },
}
toolwright::unstable::debug_as_sentence!(ImportError);
