//! Records that calls of a turn wait, with the answers so far, and releases the lease.

use toolwright::approval::ApprovalRequest;
use toolwright::provider::ToolCall;
use toolwright::{Outcome, StoredAnswer};

use super::RunRecord;
use crate::durable::RunError;
use crate::durable::head::{Head, Phase, WaitingCall};
use crate::durable::keys::Part;
use crate::durable::progress::Waiting;
use crate::durable::turn::SoFar;
use crate::run::{Recorder as _, Stopped, Turn, is_turned_away};

impl RunRecord {
    /// Records the calls that wait, as [`Recorder::wait`](crate::run::Recorder::wait) does.
    pub(super) async fn wait_for_calls(
        &mut self,
        turn: &Turn,
        open: Vec<Outcome>,
    ) -> Result<(Waiting, Vec<ToolCall>), RunError> {
        let is_refused = |it: &Outcome| matches!(it, Outcome::Answered(it) if is_turned_away(it));
        if let Some(left) = self.left()
            && open.iter().any(is_refused)
        {
            return Err(left);
        }
        let (mut calls, mut waits) = (Vec::new(), Vec::new());
        let (mut requests, mut answers): (Vec<ApprovalRequest>, _) = (Vec::new(), Vec::new());
        for ((index, outcome), call) in (0..).zip(open).zip(turn.calls.iter()) {
            answers.push(match outcome {
                Outcome::Answered(answer) => Some(StoredAnswer::from(&answer)),
                Outcome::Suspended(suspended) => {
                    let (id, tool, state) = (suspended.call, call.name.clone(), suspended.state);
                    calls.push(WaitingCall { index, call: id, tool, state, in_background: false });
                    waits.push(call.clone());
                    requests.extend(suspended.request.map(|request| *request));
                    None
                }
                Outcome::Failed(failure) => return Err(Stopped::from(failure).into()),
            });
        }
        let so_far = SoFar { answers: answers.clone() };
        let key = Part::SoFar.key(&self.recorded.head.run, turn.number);
        let so_far = self.recorded.write(key, &so_far)?;
        let (head, waiting) = (self.recorded.head.clone(), calls.clone());
        let head = Head { phase: Phase::Waiting, waiting, lease: None, crashes: None, ..head };
        self.recorded.commit(head, vec![so_far]).await?;
        self.recorded.suspicion = None;
        self.so_far = answers;
        let (run, turn) = (self.recorded.head.run.clone(), turn.number);
        Ok((Waiting { run, turn, calls, requests }, waits))
    }
}
