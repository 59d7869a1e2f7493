//! A history that is too long for its model, as the model gets it: what can be had again is left out. Pure.
//!
//! - What is left out follows from the history, the window and the recorded summaries, so that a run goes on with it in another process.
//! - It is decided whenever the history has outgrown its share of the window, and holds from there on: between two such
//!   points, each request begins with the one before, as providers want it that store the beginning.
//! - What the user said, the last turns, and answers on which something depends stay word for word.
//!
//! ```text
//!   over 3/4 of the room ──▶ answers that a later one repeats ──▶ the middle of long answers ──▶ whole turns, in whose place
//!                                                                                                a summary may be
//!                                                                 from the oldest on, down to 1/2 of the room
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

/// The room that a history has, in tokens as they are estimated: three bytes are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// What the history may have.
    tokens: u64,
}

impl Room {
    /// The room in a window of this size, beside what each request begins with and the longest answer.
    pub(crate) fn new(window: u64, fixed: u64, answer: Option<u64>) -> Self {
        // Rounded, so that instructions that change a little move no decision.
        let step = (window / 16).max(1);
        let fixed = fixed.div_ceil(step).saturating_mul(step);
        let answer = answer.unwrap_or(8_192).min(window / 4);
        Self { tokens: window.saturating_sub(fixed).saturating_sub(answer) }
    }

    /// Above this, something is left out.
    fn high(self) -> u64 {
        self.tokens / 4 * 3
    }

    /// Down to this.
    fn low(self) -> u64 {
        self.tokens / 2
    }
}

/// A history as its model gets it.
pub(crate) struct CompactHistory<'h> {
    /// The messages: those of the run where nothing had to be left out.
    pub messages: Cow<'h, [Message]>,
    /// How much was left out.
    pub report: CompactReport,
    /// What was left out.
    pub left_out: LeftOut,
    /// What a model could summarize: turns that are left out from here on, of which there is no summary.
    pub task: Option<SummaryTask>,
}

/// What was left out of a history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CompactReport {
    /// How often the history has outgrown its share.
    pub times: usize,
    /// How many answers are left out that a later one repeats.
    pub repeated: usize,
    /// How many answers lack their middle.
    pub shortened: usize,
    /// How many messages are left out.
    pub dropped: usize,
    /// The estimated tokens of the whole history.
    pub before: u64,
    /// Those of what is left.
    pub after: u64,
    /// Whether that is more than there is room for.
    pub is_too_long: bool,
}

/// The history as its model gets it where the model's own server has compacted the messages before this one, which it does not read
/// again: they are left out, and the rest is [compacted](compact).
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
    let rest = &history[first.min(history.len())..];
    // A summary that is older is of turns that the server has compacted.
    let newer = summaries.iter().filter(|it| it.at > first);
    let newer: Vec<Summary> = newer.map(|it| Summary { at: it.at - first, ..it.clone() }).collect();
    let CompactHistory { messages, report, left_out, task } = compact(rest, room, is_read, &newer);
    let task = task.map(|it| SummaryTask { at: it.at + first, ..it });
    CompactHistory { messages, report, left_out: left_out.after(first), task }
}

/// The history as its model gets it. `is_read` says of a tool whether its calls change nothing; `summaries` are those that a model
/// wrote before, in their order: the newest that was made by then has the place of turns that are left out.
pub(crate) fn compact<'h>(
    history: &'h [Message],
    room: Room,
    is_read: &dyn Fn(&str) -> bool,
    summaries: &[Summary],
) -> CompactHistory<'h> {
    let plan = Plan::of(history, room, is_read, summaries);
    let messages = match plan.is_whole() {
        true => Cow::Borrowed(history),
        false => Cow::Owned(render::rendered(history, &plan)),
    };
    let (report, left_out) = (plan.report(), plan.left_out());
    CompactHistory { messages, report, left_out, task: plan.task(history, room) }
}
