//! What the listeners of an agent are notified of, in the order in which it happens.

use toolwright::provider::ToolCall;

use crate::events::{GuardReport, RunEnd};
use crate::history::Message;
use crate::model::{ModelAnswer, ModelError, Omitted};

/// Something that happened to a run of an agent. What happens to each call, the listeners of the executor are notified of.
///
/// ```
/// use toolwright_agent::{RunNotice, NoticeKind};
///
/// fn in_words(notice: &RunNotice<'_>) -> String {
///     match notice.kind {
///         NoticeKind::Asking => format!("{}: turn {}", notice.run, notice.turn),
///         NoticeKind::Calling { calls } => format!("{} calls", calls.len()),
///         NoticeKind::Ended { ended } => ended.to_string(),
///         _ => String::new(),
///     }
/// }
/// # let _ = in_words;
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct RunNotice<'a> {
    /// The id of the run.
    pub run: &'a str,
    /// The number of the turn, counted from 1: of the answer that the model is asked for, or that it gave.
    pub turn: u64,
    /// What happened.
    pub kind: NoticeKind<'a>,
}

/// What happened to a run.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum NoticeKind<'a> {
    /// The run goes on with another agent than the one that drove it before: with another model, other instructions or tools. Its
    /// history is the recorded one.
    Differs {
        /// In what.
        differences: &'a [String],
    },
    /// The model is asked.
    Asking,
    /// Its request went without what the model of another provider wrote. Each message is reported once.
    Omitted {
        /// What is new.
        omitted: &'a [Omitted],
    },
    /// The request goes without some of the history, which has outgrown its share of the model's window; see
    /// [`AgentBuilder::window`](crate::AgentBuilder::window). Reported again when the history has outgrown it again.
    Compacted {
        /// The estimated tokens of the whole history.
        before: u64,
        /// Those that are sent.
        after: u64,
        /// Whether that is more than there is room for: nothing else could be left out.
        is_too_long: bool,
    },
    /// A model has summarized turns that are left out from here on; the request goes with the summary. See
    /// [`AgentBuilder::summarizer`](crate::AgentBuilder::summarizer).
    Summarized {
        /// The estimated tokens of the summary.
        tokens: u64,
    },
    /// Turns are left out without a summary of them, because none could be made.
    NotSummarized {
        /// Why not.
        why: &'a str,
    },
    /// A guard decided something else than to go on.
    Guard {
        /// What.
        report: &'a GuardReport,
    },
    /// It answered. Where guards look after the model, this is the answer that they let through, or the one that they ended the run
    /// or asked again for.
    Answered {
        /// Its answer.
        answer: &'a ModelAnswer,
    },
    /// It gave no answer, and the run ends.
    Failed {
        /// Why; its source is for operators.
        error: &'a ModelError,
    },
    /// The calls of its answer are run.
    Calling {
        /// Those that are run, in call order.
        calls: &'a [ToolCall],
    },
    /// The run was handed off: from the next turn on it is another agent's; see [`HandOff`](crate::HandOff).
    HandedOff {
        /// The agent that handed it off.
        from: &'a str,
        /// The one that goes on with it.
        to: &'a str,
        /// Why, in the words of the first one's model.
        reason: &'a str,
    },
    /// The history has a message more.
    Appended {
        /// The message.
        message: &'a Message,
    },
    /// The run ended.
    Ended {
        /// How.
        ended: &'a RunEnd,
    },
}
