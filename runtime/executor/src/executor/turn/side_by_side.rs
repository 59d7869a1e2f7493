//! Runs the calls of a turn concurrently. Each begins when the earlier calls with which it conflicts have ended.
//!
//! All calls run on the task of the caller, and dropping its future drops all calls. A tool that computes for long
//! should therefore be `blocking`.

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use tokio::time::Instant;

use super::{ProviderIds, Run, repeated_id};
use crate::batch::Batch;
use crate::call::{InTurn, RunState, Slot};
use crate::registry::Lookup;
use crate::stage;
use toolwright_core::call::Call;
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Facts;
use toolwright_core::output::Answer;

impl Run {
    /// Runs the calls, and returns the outcome of each, in the order of the calls.
    pub(super) async fn side_by_side<'c, T, F>(
        &self,
        turn: u64,
        calls: &[&'c Call<'c>],
        mut begin: impl FnMut(InTurn, &'c Call<'c>) -> F,
    ) -> Vec<T>
    where
        T: From<Answer>,
        F: Future<Output = T>,
    {
        let started = Instant::now();
        let mut begin = |index: usize, call, waited| {
            let slot = Slot { turn, index: u32::try_from(index).unwrap_or(u32::MAX) };
            let begun = begin(InTurn { slot, waited }, call);
            async move { (index, begun.await) }
        };
        let mut ended: Vec<Option<T>> = calls.iter().map(|_| None).collect();
        let mut running = FuturesUnordered::new();
        let (mut batch, mut ids) = (Batch::default(), ProviderIds::default());
        for (index, (call, outcome)) in calls.iter().copied().zip(&mut ended).enumerate() {
            if ids.is_repeated(call) {
                // The call is not run, so no later call waits for it.
                batch.push(None);
                *outcome = Some(Answer::from(repeated_id(call)).into());
            } else if calls.len() == 1 || self.planned(&mut batch, call) {
                running.push(begin(index, call, None));
            }
        }
        while let Some((index, outcome)) = running.next().await {
            if let Some(ended) = ended.get_mut(index) {
                *ended = Some(outcome);
            }
            for next in batch.end(index) {
                if let Some(call) = calls.get(next).copied() {
                    running.push(begin(next, call, Some(started.elapsed())));
                }
            }
        }
        // Calls wait only for earlier calls, so at this point every call has ended.
        ended.into_iter().map(|it| it.unwrap_or_else(never_begun::<T>)).collect()
    }

    /// Adds a call to the batch. Returns whether the call may begin immediately.
    pub(super) fn planned(&self, batch: &mut Batch, call: &Call<'_>) -> bool {
        match self.state.examine(call) {
            Ok(facts) => batch.push(facts.touches()),
            Err(_) if may_be_resolved(&self.state, call) => batch.push_alone(),
            // The call's footprint is unknown, so no other call runs at the same time.
            Err(error) if error.kind() == stage::PANIC => batch.push_alone(),
            // The call is answered with an error and touches no resources.
            Err(_) => batch.push(None),
        }
    }

    /// Returns the facts about a call that the policy and the batch need.
    pub(super) fn facts(&self, call: &Call<'_>) -> Option<Facts> {
        self.state.examine(call).ok()
    }
}

/// Returns whether a resolver may register the call's tool when the call begins.
fn may_be_resolved(run: &RunState, call: &Call<'_>) -> bool {
    run.core.resolving.is_some()
        && stage::find(run, call.name()).is_err()
        && matches!(run.core.registry.lookup(call.name()), Lookup::Absent)
}

#[cold]
fn never_begun<T: From<Answer>>() -> T {
    T::from(ToolError::internal("a call of a turn waited for a call that never ended").into())
}
