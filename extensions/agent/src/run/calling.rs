//! The calls of a turn as the executor takes them.

use std::borrow::Cow;

use toolwright::provider::ToolCall;
use toolwright::{Answer, Call, CancellationToken, Catalog};

use super::AgentRun;
use crate::history::Message;
use crate::search::{found, is_searched, unlisted};

impl AgentRun {
    /// The answers to those calls that do not run, because the model has not seen their tools.
    pub(super) fn unlisted(&self, called: &[ToolCall]) -> Vec<Option<Answer>> {
        let catalog = self.run.catalog();
        if self.agent.0.model.searches_tools() || !is_searched(&catalog) {
            return Vec::new();
        }
        let found = found(&self.history, &catalog);
        called.iter().map(|call| unlisted(call, &catalog, &found).map(Answer::from)).collect()
    }

    /// The calls with the values that they refer to, and the answers of those that refer to what is not there, at their indices.
    pub(super) fn resolved<'c>(
        &self,
        called: &'c [ToolCall],
        catalog: &Catalog,
    ) -> (Cow<'c, [ToolCall]>, Vec<Option<Answer>>) {
        let (mut calls, mut refused) = (Cow::Borrowed(called), Vec::new());
        for (index, call) in called.iter().enumerate() {
            match self.results.resolved(call, catalog) {
                Ok(None) => {}
                Ok(Some(resolved)) => {
                    if let Some(call) = calls.to_mut().get_mut(index) {
                        *call = resolved;
                    }
                }
                Err(error) => {
                    refused.resize_with(index + 1, || None);
                    if let Some(answer) = refused.get_mut(index) {
                        *answer = Some(error.into());
                    }
                }
            }
        }
        (calls, refused)
    }

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
