//! Collects, by turn, which parts of a run's history were not sent to the model.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use toolwright_agent::durable::RecordedTurn;

/// The turn to which each message of a history belongs, in the order of the messages.
#[derive(Default)]
pub(crate) struct SentHistory {
    turns: Vec<u64>,
}

/// The turns whose messages or answers were not sent to the model in full.
#[derive(Serialize)]
pub(crate) struct LeftOutShown {
    /// The turns whose messages were left out.
    turns: BTreeSet<u64>,
    /// The turns whose answers were left out because the same call was repeated later.
    repeated: BTreeSet<u64>,
    /// The turns whose answers were cut in the middle.
    shortened: BTreeSet<u64>,
}

impl SentHistory {
    /// Adds a turn, and returns which parts of the earlier turns were not sent to its model; `None` if all of them were
    /// sent.
    pub(crate) fn without(&mut self, number: u64, turn: &RecordedTurn) -> Option<LeftOutShown> {
        self.turns.extend(turn.said.iter().map(|_| number));
        let of = |message: usize| self.turns.get(message).copied();
        let left_out = &turn.left_out;
        let messages =
            left_out.messages.iter().flat_map(|(from, to)| *from..(*to).min(self.turns.len()));
        let shown = LeftOutShown {
            turns: messages.filter_map(of).collect(),
            repeated: left_out.repeated.iter().filter_map(|it| of(it.0)).collect(),
            shortened: left_out.shortened.iter().filter_map(|it| of(it.0)).collect(),
        };
        let answers = turn.answer.iter().chain(&turn.answers);
        self.turns.extend(answers.map(|_| number));
        (!left_out.is_empty()).then_some(shown)
    }
}

impl fmt::Display for LeftOutShown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("without turns", &self.turns),
            ("without repeated answers of turns", &self.repeated),
            ("with shortened answers of turns", &self.shortened),
        ];
        let parts = parts.into_iter().filter(|(_, turns)| !turns.is_empty());
        let words = parts.map(|(what, turns)| format!("{what} {}", ranges(turns)));
        formatter.write_str(&words.collect::<Vec<_>>().join("; "))
    }
}

/// Formats numbers as ranges, such as `1 to 3, 7`.
fn ranges(numbers: &BTreeSet<u64>) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let words = ranges.into_iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    });
    words.collect::<Vec<_>>().join(", ")
}
