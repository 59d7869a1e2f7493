//! Why a recording does not fit what was asked.

use super::Difference;

/// Why a recording does not fit what was asked.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// A request differs from the recorded one.
    #[error("request {number} differs from the recorded one {difference}")]
    Different {
        /// The request, counted from 1.
        number: usize,
        /// The first difference.
        difference: Difference,
    },
    /// A request goes to another place.
    #[error(
        "request {number} differs from the recorded one: recorded {recorded}, received {received}"
    )]
    Elsewhere {
        /// The request, counted from 1.
        number: usize,
        /// The method and path in the recording.
        recorded: String,
        /// Those of the request.
        received: String,
    },
    /// A request has no JSON in it.
    #[error("request {number} has a body that is not JSON: {reason}")]
    NotJson {
        /// The request, counted from 1.
        number: usize,
        /// What the reader says.
        reason: String,
    },
    /// The recording is over.
    #[error(
        "received {received} as request {number}, but the recording has {recorded} exchanges; record it anew"
    )]
    Over {
        /// The request, counted from 1.
        number: usize,
        /// Its method and path.
        received: String,
        /// How many there are.
        recorded: usize,
    },
    /// The client ended before the recording did.
    #[error(
        "{left} of {recorded} recorded exchanges were not asked for, the first of them {first}"
    )]
    Unused {
        /// How many are left.
        left: usize,
        /// How many there are.
        recorded: usize,
        /// The method and path of the first of them.
        first: String,
    },
}
toolwright::unstable::debug_as_sentence!(ReplayError);
