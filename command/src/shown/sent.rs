//! Collects, by turn, what of a run's history was not sent to the model.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use toolwright_agent::durable::RecordedTurn;

/// The turn of each message of a history, in order.
#[derive(Default)]
pub(crate) struct SentHistory {
    turns: Vec<u64>,
}

/// The parts of a history that were not sent to the model, by turn.
#[derive(Serialize)]
pub(crate) struct LeftOutShown {
    /// The turns with messages that were left out.
    turns: BTreeSet<u64>,
    /// The turns with answers that were left out because a later call repeated them.
    repeated: BTreeSet<u64>,
    /// The turns with answers whose middle was cut.
    shortened: BTreeSet<u64>,
}

impl SentHistory {
    /// Adds a turn, and returns which parts of the earlier turns its request left out; `None` if the request had all of
    /// them.
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

/// Formats numbers as ranges: `1 to 3, 7`.
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
