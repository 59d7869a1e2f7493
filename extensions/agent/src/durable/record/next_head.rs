//! Makes the head of a run in its next state.

use super::RunRecord;
use crate::durable::RunError;
use crate::durable::background::waiting_for;
use crate::durable::head::{Head, Lease, Phase};
use crate::durable::keys;
use crate::run::{Action, State};

impl RunRecord {
    /// Returns the head of a run in this state.
    pub(in crate::durable) fn head_of(&self, state: &State) -> Result<Head, RunError> {
        let head = self.recorded.head.clone();
        let key = keys::head(&head.run);
        let sealing = self.recorded.access().sealing.as_ref();
        let phase = match state.due() {
            Some(Action::Ask) => Phase::Asking,
            Some(Action::Await) => Phase::Waiting,
            Some(_) => Phase::Calling,
            None => Phase::Ended,
        };
        let tag = state.ended().map(serde_json::to_value).transpose();
        let tag = tag.map_err(|error| RunError::damaged(&key, error))?;
        let tag = tag.and_then(|it| it["ended"].as_str().map(str::to_owned));
        let is_ended = phase == Phase::Ended;
        let is_asking_again = phase == Phase::Asking && state.turn() == head.turn;
        // After a commit that records a turn, the crashes in that turn no longer count. The commit after an aborted
        // request records no turn, so the crashes still count.
        let is_given_up = is_asking_again && head.phase == Phase::Asking;
        Head {
            phase,
            turn: state.turn(),
            spent: state.spent(),
            ended: tag,
            waiting: waiting_for(state),
            lease: (!is_ended).then(|| Lease { suspect: false, ..self.recorded.lease() }),
            crashes: head.crashes.filter(|_| is_given_up),
            outage: head.outage.filter(|_| is_asking_again),
            ..head
        }
        .with_state(state, sealing)
    }
}
