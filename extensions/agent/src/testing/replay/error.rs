//! Differences between a recording and the requests.

use super::Difference;

/// The reason why the requests do not match the recording.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// A request differs from the recorded one.
    #[error("request {number} differs from the recorded one {difference}")]
    Different {
        /// The number of the request, counted from 1.
        number: usize,
        /// The first difference.
        difference: Difference,
    },
    /// A request has another method or path.
    #[error(
        "request {number} differs from the recorded one: recorded {recorded}, received {received}"
    )]
    Elsewhere {
        /// The number of the request, counted from 1.
        number: usize,
        /// The method and path in the recording.
        recorded: String,
        /// The method and the path of the request.
        received: String,
    },
    /// The body of a request is not JSON.
    #[error("request {number} has a body that is not JSON: {reason}")]
    NotJson {
        /// The number of the request, counted from 1.
        number: usize,
        /// The error of the parser.
        reason: String,
    },
    /// All recorded exchanges are used up.
    #[error(
        "received {received} as request {number}, but the recording has {recorded} exchanges; record it anew"
    )]
    Over {
        /// The number of the request, counted from 1.
        number: usize,
        /// The method and the path of the request.
        received: String,
        /// The number of recorded exchanges.
        recorded: usize,
    },
    /// The client made fewer requests than the recording has.
    #[error(
        "{left} of {recorded} recorded exchanges were not asked for, the first of them {first}"
    )]
    Unused {
        /// The number of recorded exchanges that were not requested.
        left: usize,
        /// The number of recorded exchanges.
        recorded: usize,
        /// The method and path of the first exchange that was not requested.
        first: String,
    },
}
toolwright::unstable::debug_as_sentence!(ReplayError);
