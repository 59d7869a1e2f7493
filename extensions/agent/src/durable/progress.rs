//! How far a durable run got.

use std::fmt;

use toolwright::approval::ApprovalRequest;

use super::head::WaitingCall;
use crate::events::RunEnd;

/// How far a run got.
#[derive(Debug)]
#[non_exhaustive]
pub enum Progress {
    /// The run has ended.
    Ended(RunEnd),
    /// Calls of the turn wait, and no process drives the run. If [`Runner::work`](super::Runner::work) runs in some
    /// process, it continues the run as soon as the last of these calls has its answer. A run that is done and waits
    /// for calls in the background continues with the first answer.
    Waiting(Waiting),
    /// The run is at work, and its next request will contain the message that was sent to it.
    Queued,
}

/// The calls that a run waits for.
#[derive(Debug)]
#[non_exhaustive]
pub struct Waiting {
    /// The id of the run that waits.
    pub run: String,
    /// The turn that has the calls.
    pub turn: u64,
    /// The calls that wait, in call order.
    pub calls: Vec<WaitingCall>,
    /// The approval requests for the calls that wait for a decision.
    pub requests: Vec<ApprovalRequest>,
}

impl Progress {
    /// Returns how the run ended; `None` if it has not.
    #[must_use]
    pub fn ended(&self) -> Option<&RunEnd> {
        match self {
            Self::Ended(ended) => Some(ended),
            Self::Waiting(_) | Self::Queued => None,
        }
    }

    /// Returns the calls for which the run waits; `None` if it does not wait.
    #[must_use]
    pub fn waiting(&self) -> Option<&Waiting> {
        match self {
            Self::Waiting(waiting) => Some(waiting),
            Self::Ended(_) | Self::Queued => None,
        }
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(ended) => write!(formatter, "{ended}"),
            Self::Waiting(waiting) => write!(formatter, "{waiting}"),
            Self::Queued => formatter.write_str("gets it with its next request"),
        }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "turn {} waits for", self.turn)?;
        for (place, call) in self.calls.iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            write!(formatter, "{comma} `{}` (call {}, {}", call.tool, call.call, call.state)?;
            // The reason in the request also says why a decision did not count.
            match self.requests.iter().find(|request| request.call == call.call) {
                Some(request) => write!(formatter, ": {})", request.reason)?,
                None => formatter.write_str(")")?,
            }
        }
        Ok(())
    }
}
