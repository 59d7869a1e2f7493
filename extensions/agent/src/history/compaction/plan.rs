//! Decides which parts of a history are left out, message by message.

use std::collections::{BTreeMap, HashMap};

use toolwright::provider::ToolCall;
use toolwright::{Answer, ErrorClass, error_kind};

use super::size::{answer as answer_tokens, tokens};
use super::{CompactReport, LeftOut, Room, Summary, SummaryTask};
use crate::history::Message;

/// How many of the last messages are never changed, in addition to the last two turns.
const LAST: usize = 4;

/// How many of the last turns are never changed.
const LAST_TURNS: usize = 2;

/// The length in bytes above which an answer loses its middle.
pub(super) const LONG: usize = 3_000;

/// How many bytes remain at each end of an answer that loses its middle.
pub(super) const END: usize = 1_000;

/// The estimated tokens of a note that replaces an answer or dropped turns.
const NOTE: u64 = 40;

/// The kinds of errors which say that a person has decided about a call or has to decide, or that a call may have
/// happened. The model must not forget these errors.
const OBLIGATIONS: [&str; 6] = [
    error_kind::APPROVAL_REQUIRED,
    error_kind::DENIED,
    error_kind::EXPIRED,
    error_kind::INDETERMINATE,
    error_kind::REJECTED,
    "interrupted",
];

/// The way in which an answer is shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// A note replaces the answer, because the same call was made again and has a newer answer.
    Repeated,
    /// The middle of the answer is left out.
    Shortened,
}

/// The parts of a history that a request leaves out.
pub(super) struct Plan<'s> {
    /// How answers are shortened, by message and index.
    answers: BTreeMap<(usize, usize), Fate>,
    dropped: Vec<bool>,
    /// The messages that were dropped since the newest summary was made, in ascending order.
    unsummarized: Vec<usize>,
    /// The estimated tokens of the dropped messages, without those of the notes that replace them.
    gone: u64,
    /// The index of the message at which [`Self::shorten`] continues.
    shortened_to: usize,
    /// The index of the message at which [`Self::drop_turns`] continues. It begins at `fixed`, so the first `fixed`
    /// messages are never dropped. They contain the compaction that the model's server has made of earlier turns.
    dropped_to: usize,
    summaries: &'s [Summary],
    /// The newest of the summaries that were made for the history up to the message that is examined now.
    summary: Option<&'s Summary>,
    /// Whether turns were dropped when the last message was examined.
    drops_at_end: bool,
    /// The estimated tokens of each message, without what is left out of it.
    left: Vec<u64>,
    /// The sum of `left`.
    size: u64,
    /// The size above which parts are left out again, in tokens.
    next: u64,
    report: CompactReport,
}

impl<'s> Plan<'s> {
    pub(super) fn of(
        history: &[Message],
        room: Room,
        is_read: &dyn Fn(&str) -> bool,
        summaries: &'s [Summary],
        fixed: usize,
    ) -> Self {
        let mut plan = Self {
            answers: BTreeMap::new(),
            dropped: vec![false; history.len()],
            unsummarized: Vec::new(),
            gone: 0,
            shortened_to: 0,
            dropped_to: fixed,
            summaries,
            summary: None,
            drops_at_end: false,
            left: Vec::with_capacity(history.len()),
            size: 0,
            next: room.high(),
            report: CompactReport::default(),
        };
        let mut reads = Reads::default();
        for (index, message) in history.iter().enumerate() {
            plan.drops_at_end = false;
            let tokens = tokens(message);
            plan.left.push(tokens);
            plan.size += tokens;
            plan.report.before += tokens;
            // After an answer of the model, either its calls are answered first, or the user sends a message.
            let is_asked = !matches!(message, Message::Assistant { .. });
            if is_asked && plan.size > plan.next {
                reads.look_at(&history[..=index], is_read);
                plan.leave_out(&history[..=index], room, is_read, &mut reads);
            }
        }
        plan.report.after = plan.size;
        plan.report.is_too_long = plan.size > room.tokens;
        plan
    }

    pub(super) fn is_whole(&self) -> bool {
        self.answers.is_empty() && !self.dropped.contains(&true)
    }

    pub(super) fn report(&self) -> CompactReport {
        self.report
    }

    /// Lists the dropped messages, and the answers that are shortened or replaced.
    pub(super) fn left_out(&self) -> LeftOut {
        let mut left_out = LeftOut::default();
        for (message, _) in self.dropped.iter().enumerate().filter(|(_, is_dropped)| **is_dropped) {
            left_out.add_message(message);
        }
        for (&(message, index), fate) in &self.answers {
            match fate {
                _ if self.dropped[message] => {}
                Fate::Repeated => left_out.repeated.push((message, index)),
                Fate::Shortened => left_out.shortened.push((message, index)),
            }
        }
        left_out
    }

    pub(super) fn fate(&self, message: usize, index: usize) -> Option<Fate> {
        self.answers.get(&(message, index)).copied()
    }

    /// Reports whether some of this message's answers are shortened or replaced.
    pub(super) fn changes(&self, message: usize, answers: usize) -> bool {
        self.answers.range((message, 0)..(message, answers)).next().is_some()
    }

    pub(super) fn is_dropped(&self, message: usize) -> bool {
        self.dropped[message]
    }

    /// Leaves out parts of a history that has outgrown its share, the least important first, until the rest is small
    /// enough.
    fn leave_out(
        &mut self,
        history: &[Message],
        room: Room,
        is_read: &dyn Fn(&str) -> bool,
        reads: &mut Reads<'_>,
    ) {
        let before = self.size;
        let old = first_recent(history);
        for (message, index, answer) in reads.repeated_before(old) {
            self.set(message, index, answer, Fate::Repeated);
        }
        if self.size > room.low() {
            self.shorten(history, old, room);
        }
        if self.size > room.low() {
            let gone = self.gone;
            self.drop_turns(history, old, room, is_read);
            self.drops_at_end = self.gone > gone;
        }
        self.take_summary(history.len());
        self.report.times += usize::from(self.size < before);
        // If nothing more can be left out, try again only after the history has grown.
        self.next = room.high().max(self.size + room.tokens / 16);
    }

    /// Replaces the dropped turns by the newest summary made so far.
    fn take_summary(&mut self, at: usize) {
        let Some(newest) = self.summaries.iter().rfind(|it| it.at <= at) else { return };
        if self.gone == 0 || self.summary == Some(newest) {
            return;
        }
        self.size += newest.tokens();
        self.size -= self.summary.map_or(0, Summary::tokens);
        self.summary = Some(newest);
        // A summary that was made for the history up to here covers the turns that were just dropped.
        if newest.at == at {
            self.unsummarized.clear();
            self.drops_at_end = false;
        }
    }

    /// Reports whether a message was dropped after the newest summary was made, so that no summary covers it.
    pub(super) fn is_unsummarized(&self, message: usize) -> bool {
        self.unsummarized.binary_search(&message).is_ok()
    }

    /// Returns the summary that replaces dropped turns.
    pub(super) fn summary(&self) -> Option<&'s Summary> {
        self.summary
    }

    /// Returns a task to summarize the dropped turns that no summary covers; `None` if the last message caused no drop.
    pub(super) fn task(&self, history: &[Message], room: Room) -> Option<SummaryTask> {
        let messages: Vec<&Message> = self.unsummarized.iter().map(|it| &history[*it]).collect();
        let task = || SummaryTask::of(history.len(), room, self.gone, self.summary, &messages);
        (self.drops_at_end && !messages.is_empty()).then(task)
    }

    /// Leaves out the middle of long answers, the oldest first, until the history is small enough.
    fn shorten(&mut self, history: &[Message], old: usize, room: Room) {
        // Begins one message earlier, because the call of an answer is in the message before the answer.
        let first = self.shortened_to.saturating_sub(1).min(old);
        for (after, index, _, answer) in answers(&history[first..old]) {
            let message = first + after;
            self.shortened_to = message;
            if self.size <= room.low() {
                return;
            }
            if !answer.is_error() && is_long(answer) {
                self.set(message, index, answer, Fate::Shortened);
            }
        }
    }

    fn set(&mut self, message: usize, index: usize, answer: &Answer, fate: Fate) {
        if self.dropped[message] || self.answers.get(&(message, index)) == Some(&Fate::Repeated) {
            return;
        }
        let tokens = |fate: Option<&Fate>| match fate {
            None => answer_tokens(answer),
            Some(Fate::Repeated) => NOTE,
            Some(Fate::Shortened) => NOTE + super::text_tokens(2 * END),
        };
        let before = tokens(self.answers.get(&(message, index)));
        let after = tokens(Some(&fate));
        if after >= before {
            return;
        }
        let count = match self.answers.insert((message, index), fate) {
            Some(_) => None,
            None => Some(1),
        };
        match fate {
            Fate::Repeated => {
                self.report.repeated += 1;
                // The answer was shortened before, and counts as repeated now.
                self.report.shortened -= usize::from(count.is_none());
            }
            Fate::Shortened => self.report.shortened += 1,
        }
        self.left[message] -= before - after;
        self.size -= before - after;
    }

    /// Drops whole turns, the oldest first: answers of the model, each with the answers to its calls.
    fn drop_turns(
        &mut self,
        history: &[Message],
        old: usize,
        room: Room,
        is_read: &dyn Fn(&str) -> bool,
    ) {
        for message in self.dropped_to..old {
            if self.size <= room.low() {
                return;
            }
            // The last old message is examined again later, because the answers to its calls are not old yet.
            if message + 1 < old {
                self.dropped_to = message;
            }
            let (Message::Assistant { calls, .. }, false) =
                (&history[message], self.dropped[message])
            else {
                continue;
            };
            let end = match (calls.is_empty(), history.get(message + 1)) {
                (true, _) => message + 1,
                (false, Some(Message::ToolResults(answered))) if message + 1 < old => {
                    if answered.iter().any(|(call, answer)| is_obligation(call, answer, is_read)) {
                        continue;
                    }
                    message + 2
                }
                _ => continue,
            };
            // Consecutive dropped messages share one note.
            let note = if message > 0 && self.dropped[message - 1] { 0 } else { NOTE };
            let gone: u64 = self.left[message..end].iter().sum();
            if gone <= note {
                continue;
            }
            for index in message..end {
                (self.dropped[index], self.left[index]) = (true, 0);
                self.unsummarized.push(index);
            }
            self.gone += gone - note;
            self.left[message] = note;
            self.size -= gone - note;
            self.report.dropped += end - message;
        }
    }
}

/// The answers of read-only tools that were examined so far. Each answer is examined only once.
#[derive(Default)]
struct Reads<'h> {
    /// How many messages were examined so far.
    seen: usize,
    /// The newest answer to each call, by tool and arguments.
    newest: HashMap<(&'h str, &'h str), PlacedAnswer<'h>>,
    /// The answers that a newer answer repeats and that were not left out yet.
    repeated: Vec<PlacedAnswer<'h>>,
}

/// An answer, with the index of its message and its index in that message.
type PlacedAnswer<'h> = (usize, usize, &'h Answer);

impl<'h> Reads<'h> {
    /// Examines the messages that were added since the last call.
    fn look_at(&mut self, history: &'h [Message], is_read: &dyn Fn(&str) -> bool) {
        // Begins one message earlier, because the call of an answer is in the message before the answer.
        let first = self.seen.saturating_sub(1);
        for (message, index, call, answer) in answers(&history[first..]) {
            if is_read(&call.name) && !answer.is_error() {
                let key = (call.name.as_str(), call.arguments.as_str());
                self.repeated.extend(self.newest.insert(key, (first + message, index, answer)));
            }
        }
        self.seen = history.len();
    }

    /// Removes and returns the repeated answers that are before this message.
    fn repeated_before(&mut self, message: usize) -> Vec<PlacedAnswer<'h>> {
        let all = std::mem::take(&mut self.repeated);
        let (old, others) = all.into_iter().partition(|(place, ..)| *place < message);
        self.repeated = others;
        old
    }
}

/// Reports whether an answer is an error of one of the [`OBLIGATIONS`], or says that a call which changes something may
/// have happened. Without such an answer, the model might repeat the effect.
fn is_obligation(call: &ToolCall, answer: &Answer, is_read: &dyn Fn(&str) -> bool) -> bool {
    answer.error().is_some_and(|error| {
        let may_have_acted =
            matches!(error.classified(), ErrorClass::Transient | ErrorClass::Unknown);
        OBLIGATIONS.contains(&error.kind()) || (may_have_acted && !is_read(&call.name))
    })
}

/// Returns the index of the first message that is never changed because it is one of the last. The index never
/// decreases while the history grows.
fn first_recent(history: &[Message]) -> usize {
    let is_turn = |(_, message): &(usize, &Message)| matches!(message, Message::Assistant { .. });
    let turn = history.iter().enumerate().rev().filter(is_turn).nth(LAST_TURNS - 1);
    turn.map_or(0, |(index, _)| index).min(history.len().saturating_sub(LAST))
}

/// Reports whether an answer is long enough to lose its middle.
fn is_long(answer: &Answer) -> bool {
    answer_tokens(answer) > super::text_tokens(LONG)
}

/// Lists each answer with its call, the index of its message and its index in that message. The call comes from the
/// message before, because only there it has arguments.
fn answers(history: &[Message]) -> impl Iterator<Item = (usize, usize, &ToolCall, &Answer)> {
    history.iter().zip(history.iter().skip(1)).enumerate().flat_map(|(message, pair)| {
        let (calls, answered): (&[ToolCall], &[(ToolCall, Answer)]) = match pair {
            (Message::Assistant { calls, .. }, Message::ToolResults(answered)) => (calls, answered),
            _ => (&[], &[]),
        };
        let all = calls.iter().zip(answered).enumerate();
        all.map(move |(index, (call, (_, answer)))| (message + 1, index, call, answer))
    })
}
