//! A history played again: where the machine takes a call, one entry after the other.

use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::next::{Illegal, next};
use super::record::CallRecord;
use super::state::State;

/// A record is not what its history says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Contradiction {
    /// There is no history.
    #[error("it has no history")]
    NoHistory,
    /// The history does not begin with the call's being judged.
    #[error("its history begins with {0}, not with judging")]
    Beginning(State),
    /// An entry does not follow the one before.
    #[error(
        "entry {number} of its history begins at {found}, and the one before ends at {expected}"
    )]
    Gap {
        /// Which entry.
        number: u64,
        /// Where the one before ended.
        expected: State,
        /// Where it begins.
        found: State,
    },
    /// An entry says what cannot happen.
    #[error("entry {number} of its history cannot be: {illegal}")]
    Illegal {
        /// Which entry.
        number: u64,
        /// What cannot happen.
        illegal: Illegal,
    },
    /// An entry ends where the machine does not.
    #[error("entry {number} of its history ends at {found}, the machine at {expected}")]
    End {
        /// Which entry.
        number: u64,
        /// Where the machine ends.
        expected: State,
        /// Where the entry ends.
        found: State,
    },
    /// The history ends in another state than the record's.
    #[error("it is {found}, and its history ends at {expected}")]
    Record {
        /// Where the history ends.
        expected: State,
        /// The state of the record.
        found: State,
    },
}

/// Checks that the history of a record leads to its state. A person who changes a record by hand has to change its
/// history as well.
///
/// # Errors
/// When it does not: what contradicts what.
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
