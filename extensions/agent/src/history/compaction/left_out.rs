//! The parts of a history that a request left out. They are recorded with the model's answer.

use serde::{Deserialize, Serialize};

/// The parts of a long history that a request left out. Messages are counted from 0 over the whole history of the run,
/// and answers from 0 within their message.
///
/// ```
/// use toolwright_agent::LeftOut;
///
/// let left_out = LeftOut::default();
/// assert!(left_out.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LeftOut {
    /// The messages that were left out, as half-open ranges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<(usize, usize)>,
    /// The answers that a note replaces, because a newer answer to the same call follows. Each item is the index of a
    /// message and the index of an answer in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeated: Vec<(usize, usize)>,
    /// The answers that were sent without their middle. Each item is the index of a message and the index of an answer
    /// in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<(usize, usize)>,
}

impl LeftOut {
    /// Reports whether the model was sent the whole history.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds `first` to all indexes of messages, and adds the first `first` messages to those that were left out.
    pub(super) fn after(self, first: usize) -> Self {
        let moved = |places: Vec<(usize, usize)>| {
            places.into_iter().map(|(it, at)| (it + first, at)).collect()
        };
        let mut messages = vec![(0, first)];
        for (start, end) in self.messages {
            match start {
                0 => messages[0].1 = end + first,
                _ => messages.push((start + first, end + first)),
            }
        }
        Self { messages, repeated: moved(self.repeated), shortened: moved(self.shortened) }
    }

    /// Adds a message, which must come after all messages that were added before.
    pub(super) fn add_message(&mut self, message: usize) {
        match self.messages.last_mut() {
            Some((_, end)) if *end == message => *end += 1,
            _ => self.messages.push((message, message + 1)),
        }
    }
}
