//! Prepares the calls of a turn for the executor.

use std::borrow::Cow;

use toolwright::provider::ToolCall;
use toolwright::{Answer, Call, CancellationToken, Catalog};

use super::AgentRun;
use super::refused::{left_out, refused};
use crate::history::Message;
use crate::search::{found, is_searched, unlisted};

impl AgentRun {
    /// Returns the answers to calls that must not run: the model was not shown their tools, or the tools are left out
    /// because their calls were refused repeatedly.
    ///
    /// Returns no answers if another process asked the model and the journal records which calls have run
    /// (`knows_calls`). In that case, an answer from here could say that a call did not run although it has run.
    pub(super) fn unlisted(
        &self,
        called: &[ToolCall],
        catalog: &Catalog,
        knows_calls: bool,
    ) -> Vec<Option<Answer>> {
        if knows_calls && self.shown.is_none() {
            return Vec::new();
        }
        let gone = refused(&self.history);
        let is_searched = !self.acting().0.model.searches_tools() && is_searched(catalog);
        let found = found(&self.history, catalog);
        let answer = |call: &ToolCall| match gone.contains(&call.name) {
            true => Some(left_out(&call.name).into()),
            false if is_searched => unlisted(call, catalog, &found).map(Answer::from),
            false => None,
        };
        called.iter().map(answer).collect()
    }

    /// Replaces references in the calls by the values to which they refer. Also returns, by the index of the call, an
    /// error for each call with a reference that cannot be resolved.
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

    /// Makes the calls for the executor. The reason of each call is the text of the model's answer.
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
