//! Handles recorded runs that are done while calls go on in the background: lists the calls for which the runs wait,
//! and acknowledges calls whose results were read.

use toolwright::journal::State as CallState;

use super::head::{Head, WaitingCall};
use super::record::RunRecord;
use crate::run::{Action, BackgroundCall, State};

/// Returns whether a run is done and waits for calls in the background. Such a run continues with each result, and with
/// each message of its user.
pub(super) fn rests_in_background(head: &Head) -> bool {
    head.waiting.iter().any(|it| it.in_background)
}

/// Lists the calls that a run waits for after it is done.
pub(super) fn waiting_for(state: &State) -> Vec<WaitingCall> {
    let is_done = matches!(state.due(), Some(Action::Await));
    let calls = state.background().iter().filter(|_| is_done);
    let waits = calls.map(|BackgroundCall { index, call, tool }| WaitingCall {
        index: *index,
        call: *call,
        tool: tool.clone(),
        state: CallState::HandedOver,
        in_background: true,
    });
    waits.collect()
}

impl RunRecord {
    /// Notes which calls are still in the background, and acknowledges those whose results the run has read. If the
    /// store fails, the call only stays listed as undelivered.
    pub(super) async fn note_background(&mut self, state: &State) {
        let before = std::mem::replace(&mut self.background, state.background().to_vec());
        let store = &self.recorded.access().store;
        for read in before.iter().filter(|it| !self.background.contains(it)) {
            let _ = store.acknowledge(read.call).await;
        }
    }
}
