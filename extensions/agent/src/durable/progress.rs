//! How far a durable run got.

use std::fmt;

use toolwright::approval::ApprovalRequest;
use toolwright::journal::State as CallState;

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
    /// The message that was sent to the run is recorded. The run has not ended, and its next request will contain the
    /// message.
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

impl Waiting {
    /// Names the commands by which a person decides about the calls that wait; empty if none waits for a person.
    pub(crate) fn commands(&self) -> String {
        use toolwright::journal::State::{Indeterminate, Pending, Planned, Waiting};
        let waits = |states: &[CallState]| self.calls.iter().any(|it| states.contains(&it.state));
        let commands = [
            (waits(&[Pending, Waiting]), "decide by `toolwright approvals`"),
            (waits(&[Planned]), "accept or reject the plan by `toolwright plan`"),
            (
                waits(&[Indeterminate]),
                "say by `toolwright indeterminate` whether a call of unknown outcome happened",
            ),
        ];
        let commands = commands.into_iter().filter(|(waits, _)| *waits).map(|(_, it)| it);
        commands.collect::<Vec<_>>().join(", and ")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(states: &[CallState]) -> Waiting {
        let call = |(index, state): (u32, &CallState)| WaitingCall {
            index,
            call: toolwright::CallId::new(),
            tool: "pay".to_owned(),
            state: *state,
            in_background: false,
        };
        let calls = (0..).zip(states).map(call).collect();
        Waiting { run: "r1".to_owned(), turn: 1, calls, requests: Vec::new() }
    }

    #[test]
    fn each_waiting_call_names_only_the_command_that_decides_about_it() {
        let commands = |states: &[CallState]| waiting(states).commands();
        let approvals = "decide by `toolwright approvals`";
        let unclear =
            "say by `toolwright indeterminate` whether a call of unknown outcome happened";
        assert_eq!(commands(&[CallState::Pending, CallState::Waiting]), approvals);
        assert_eq!(commands(&[CallState::Indeterminate]), unclear);
        let both = format!("{approvals}, and {unclear}");
        assert_eq!(commands(&[CallState::Indeterminate, CallState::Pending]), both);
        assert!(commands(&[CallState::Planned]).contains("`toolwright plan`"));
        assert_eq!(commands(&[CallState::HandedOver]), "");
    }
}
