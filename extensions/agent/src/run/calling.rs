//! The calls of a turn as the executor takes them.

use toolwright::provider::ToolCall;
use toolwright::{Call, CancellationToken};

use super::AgentRun;
use crate::history::Message;

impl AgentRun {
    /// The calls, with what the model said as their reason.
    pub(super) fn calls_of<'c>(
        &self,
        called: &'c [ToolCall],
        stop: Option<&CancellationToken>,
    ) -> Vec<Call<'c>> {
        let reason = match self.history.last() {
            Some(Message::Assistant { text, .. }) => text.trim(),
            _ => "",
        };
        let call = |call: &'c ToolCall| {
            let call = match stop {
                Some(stop) => Call::from(call).cancelled_by(stop.clone()),
                None => Call::from(call),
            };
            if reason.is_empty() { call } else { call.because(reason) }
        };
        called.iter().map(call).collect()
    }
}
