//! Replays a history, and checks that each entry is a transition of the state machine.

use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::next::{Illegal, next};
use super::record::CallRecord;
use super::state::State;

/// Why the record of a call contradicts the history of the call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Contradiction {
    /// The call has no history entries.
    #[error("it has no history")]
    NoHistory,
    /// The first entry of the history does not end in the state `judging`, or it has a transition.
    #[error("its history begins with {0}, not with judging")]
    Beginning(State),
    /// An entry does not begin in the state in which the previous entry ends, or it has no transition.
    #[error(
        "entry {number} of its history begins at {found}, and the one before ends at {expected}"
    )]
    Gap {
        /// The number of the entry, counted from 1.
        number: u64,
        /// The state in which the previous entry ends.
        expected: State,
        /// The state in which the entry begins.
        found: State,
    },
    /// An entry has a transition that the state before it does not allow.
    #[error("entry {number} of its history is impossible: {illegal}")]
    Illegal {
        /// The number of the entry, counted from 1.
        number: u64,
        /// The transition.
        illegal: Illegal,
    },
    /// An entry does not end in the state to which its transition leads.
    #[error(
        "entry {number} of its history ends at {found}, but its transition leads to {expected}"
    )]
    End {
        /// The number of the entry, counted from 1.
        number: u64,
        /// The next state according to the state machine.
        expected: State,
        /// The next state according to the entry.
        found: State,
    },
    /// The history does not end in the state of the record.
    #[error("it is {found}, and its history ends at {expected}")]
    Record {
        /// The last state of the history.
        expected: State,
        /// The state of the record.
        found: State,
    },
}

/// Checks that the history of a record leads to the record's state. So someone who changes the state of a record by
/// hand has to change its history as well.
///
/// # Errors
/// When the history does not lead to the record's state. The error names the contradiction.
pub fn replay(record: &CallRecord, history: &[Entry]) -> Result<(), Contradiction> {
    let mut entries = history.iter();
    let first = entries.next().ok_or(Contradiction::NoHistory)?;
    let mut state = first.to;
    if state != State::Judging || first.event.is_some() {
        return Err(Contradiction::Beginning(state));
    }
    for entry in entries {
        let number = entry.number;
        let found = entry.from.unwrap_or(State::Judging);
        if found != state {
            return Err(Contradiction::Gap { number, expected: state, found });
        }
        let Some(event) = entry.event else {
            return Err(Contradiction::Gap { number, expected: state, found });
        };
        state = next(state, event).map_err(|illegal| Contradiction::Illegal { number, illegal })?;
        if state != entry.to {
            return Err(Contradiction::End { number, expected: state, found: entry.to });
        }
    }
    if record.state == state {
        Ok(())
    } else {
        Err(Contradiction::Record { expected: state, found: record.state })
    }
}
