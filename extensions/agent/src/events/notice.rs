//! Notices for the listeners of an agent, in the order in which things happen.

use toolwright::provider::ToolCall;

use crate::events::{GuardReport, RunEnd};
use crate::history::Message;
use crate::model::{ModelAnswer, ModelError, Omitted};

/// Something that happened to a run of an agent. Events of single calls go to the listeners of the executor.
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
    /// The number of the turn. For a notice about a request to the model or its answer, the turn of that answer. For
    /// other notices, the turn of the model's last answer; 0 before the first answer.
    pub turn: u64,
    /// The notice itself.
    pub kind: NoticeKind<'a>,
}

/// Something that happened in a run.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum NoticeKind<'a> {
    /// The run continues with an agent that differs from the agent that drove it before, for example in its model,
    /// instructions or tools. The history of the run is unchanged.
    Differs {
        /// What differs in the agent: a short text for each difference.
        differences: &'a [String],
    },
    /// The model is being asked.
    Asking,
    /// The request omitted content that only models of another provider accept. Each message is reported once.
    Omitted {
        /// The content that was not reported before.
        omitted: &'a [Omitted],
    },
    /// The request omits a part of the history, which has outgrown its share of the model's context window; see
    /// [`AgentBuilder::window`](crate::AgentBuilder::window). Reported again when a larger part is omitted.
    Compacted {
        /// The estimated tokens of the whole history.
        before: u64,
        /// The estimated tokens of the part that is sent.
        after: u64,
        /// Whether even the part that is sent is too long, because nothing else could be omitted.
        is_too_long: bool,
    },
    /// A model has summarized turns that requests leave out from here on; the request contains the summary. See
    /// [`AgentBuilder::summarizer`](crate::AgentBuilder::summarizer).
    Summarized {
        /// The estimated tokens of the summary.
        tokens: u64,
    },
    /// Requests leave turns out without a summary, because no summary could be made.
    NotSummarized {
        /// The reason.
        why: &'a str,
    },
    /// A guard did not let a message, request, answer or end through unchanged: it changed, sent back or stopped it, or
    /// failed.
    Guard {
        /// The report of the guard.
        report: &'a GuardReport,
    },
    /// The model answered. If guards look at answers, this is the answer that they let through, sent back, or for which
    /// they ended the run.
    Answered {
        /// The answer of the model.
        answer: &'a ModelAnswer,
    },
    /// The request to the model failed. The run ends, or the model is asked again later if it is unavailable.
    Failed {
        /// The error. Its source has details for operators.
        error: &'a ModelError,
    },
    /// The calls of the answer begin to run.
    Calling {
        /// The calls that run, in call order.
        calls: &'a [ToolCall],
    },
    /// The run was handed off: from the next turn on another agent drives it; see [`HandOff`](crate::HandOff).
    HandedOff {
        /// The agent that handed the run off.
        from: &'a str,
        /// The agent that continues the run.
        to: &'a str,
        /// The reason, in the words of the model that handed the run off.
        reason: &'a str,
    },
    /// A message was appended to the history.
    Appended {
        /// The message that was appended.
        message: &'a Message,
    },
    /// The run ended.
    Ended {
        /// How the run ended.
        ended: &'a RunEnd,
    },
}
