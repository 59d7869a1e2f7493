//! Shortens a history that is too long for its model: leaves out parts that the model can get again. The functions are
//! pure.
//!
//! - The result depends only on the history, the room for it in the window, the recorded summaries, and which tools
//!   change nothing. So any process with the same agent computes the same result.
//! - The result changes only when the history has outgrown its share of the window. Until then, each request begins
//!   with the text of the previous request, so that the provider's prefix cache works.
//! - Messages of the user, the last two turns, answers about approvals, and answers which say that a call may have
//!   changed something stay word for word. Only a compaction by the model's own server leaves out such messages.
//!
//! ```text
//!   above 3/4 of the room ──▶ 1. repeated answers of tools ──▶ 2. the middle of long answers ──▶ 3. whole turns
//!                             a note or a summary replaces what is left out;
//!                             steps 2 and 3 go from the oldest on, and stop at 1/2 of the room
//! ```

mod left_out;
mod plan;
mod render;
mod size;
mod summary;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use self::left_out::LeftOut;
use self::plan::Plan;
pub(crate) use self::size::text_tokens;
pub(crate) use self::summary::{INSTRUCTIONS as SUMMARY_INSTRUCTIONS, Summary, SummaryTask};
use crate::history::Message;

/// The room that a request has for the history, in estimated tokens: three bytes count as one token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// The number of tokens that the history may have.
    tokens: u64,
}

impl Room {
    /// Returns the room that a window of `window` tokens has for the history. The fixed beginning of each request and
    /// the longest answer of the model are deducted, the latter up to a quarter of the window.
    pub(crate) fn new(window: u64, fixed: u64, answer: Option<u64>) -> Self {
        // `fixed` is rounded, so that small changes of the instructions do not change the decisions.
        let step = (window / 16).max(1);
        let fixed = fixed.div_ceil(step).saturating_mul(step);
        let answer = answer.unwrap_or(8_192).min(window / 4);
        Self { tokens: window.saturating_sub(fixed).saturating_sub(answer) }
    }

    /// Returns the number of tokens above which content is left out.
    fn high(self) -> u64 {
        self.tokens / 4 * 3
    }

    /// Returns the number of tokens to which a history is shortened.
    fn low(self) -> u64 {
        self.tokens / 2
    }
}

/// A history in the form in which its model gets it.
pub(crate) struct CompactHistory<'h> {
    /// The messages; the unchanged history if nothing had to be left out.
    pub messages: Cow<'h, [Message]>,
    /// How much of the history was left out.
    pub report: CompactReport,
    /// Which parts of the history were left out.
    pub left_out: LeftOut,
    /// The task to summarize turns that requests leave out from here on and that no summary covers yet.
    pub task: Option<SummaryTask>,
}

/// Counts what was left out of a history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CompactReport {
    /// How many times parts were left out because the history had outgrown its share of the window.
    pub times: usize,
    /// The number of answers that were replaced by a note, because a later call repeats them.
    pub repeated: usize,
    /// How many answers are sent without their middle.
    pub shortened: usize,
    /// How many messages are left out.
    pub dropped: usize,
    /// The estimated tokens of the whole history.
    pub before: u64,
    /// The estimated tokens of the part of the history that is sent.
    pub after: u64,
    /// Whether the remaining history is still too long.
    pub is_too_long: bool,
}

/// Shortens a history whose messages before `first` the model's own server has compacted. The server does not read
/// these messages again, so they are left out. The rest is [compacted](compact).
pub(crate) fn compact_from<'h>(
    history: &'h [Message],
    first: usize,
    room: Room,
    is_read: &dyn Fn(&str) -> bool,
    summaries: &[Summary],
) -> CompactHistory<'h> {
    if first == 0 {
        return compact(history, room, is_read, summaries);
    }
    let first = first.min(history.len());
    let rest = &history[first..];
    // Older summaries cover turns that the server has compacted.
    let newer = summaries.iter().filter(|it| it.at > first);
    let newer: Vec<Summary> = newer.map(|it| Summary { at: it.at - first, ..it.clone() }).collect();
    let CompactHistory { messages, report, left_out, task } =
        compact_beside(rest, room, is_read, &newer, 1);
    let task = task.map(|it| SummaryTask { at: it.at + first, ..it });
    CompactHistory { messages, report, left_out: left_out.after(first), task }
}

/// Shortens a history for its model. `is_read` returns whether the calls of a tool change nothing. `summaries` are all
/// summaries that a model wrote for this history, in order. At each point of the history, the newest summary up to that
/// point replaces the turns that are left out.
pub(crate) fn compact<'h>(
    history: &'h [Message],
    room: Room,
    is_read: &dyn Fn(&str) -> bool,
    summaries: &[Summary],
) -> CompactHistory<'h> {
    compact_beside(history, room, is_read, summaries, 0)
}

/// Shortens a history, but leaves the first `fixed` messages unchanged.
fn compact_beside<'h>(
    history: &'h [Message],
    room: Room,
    is_read: &dyn Fn(&str) -> bool,
    summaries: &[Summary],
    fixed: usize,
) -> CompactHistory<'h> {
    let plan = Plan::of(history, room, is_read, summaries, fixed);
    let messages = match plan.is_whole() {
        true => Cow::Borrowed(history),
        false => Cow::Owned(render::rendered(history, &plan)),
    };
    let (report, left_out) = (plan.report(), plan.left_out());
    CompactHistory { messages, report, left_out, task: plan.task(history, room) }
}
