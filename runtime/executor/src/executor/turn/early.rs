//! Calls that began before their turn was complete, and calls whose answers were recorded before.

use std::collections::HashMap;

use tokio::task::JoinHandle;

use crate::stage;
use toolwright_core::output::Answer;

/// The calls of a turn that have already begun or are already answered, by their index.
#[derive(Debug, Default)]
pub(super) struct Early(HashMap<usize, EarlyCall>);

#[derive(Debug)]
pub(super) enum EarlyCall {
    Running(Task),
    /// The answer of the call was recorded outside of the journal of calls.
    Answered(Answer),
}

/// A call that runs in a task of its own. Dropping this value cancels the call.
#[derive(Debug)]
pub(super) struct Task(JoinHandle<Answer>);

impl Early {
    pub(super) fn none() -> Self {
        Self::default()
    }

    pub(super) fn add(&mut self, index: usize, task: JoinHandle<Answer>) {
        self.0.insert(index, EarlyCall::Running(Task(task)));
    }

    /// Makes the set of calls whose answers are known. `known` has an entry for each call of the turn.
    pub(super) fn answered(known: Vec<Option<Answer>>) -> Self {
        let known = known.into_iter().enumerate();
        Self(known.filter_map(|(index, it)| Some((index, EarlyCall::Answered(it?)))).collect())
    }

    pub(super) fn take(&mut self, index: usize) -> Option<EarlyCall> {
        self.0.remove(&index)
    }
}

impl EarlyCall {
    pub(super) async fn answer(self, tool: &str) -> Answer {
        let mut task = match self {
            Self::Running(task) => task,
            Self::Answered(answer) => return answer,
        };
        match (&mut task.0).await {
            Ok(answer) => answer,
            Err(failed) => match failed.try_into_panic() {
                Ok(panic) => stage::panicked(tool, panic).into(),
                // The runtime of the task is shutting down, so the task was cancelled.
                Err(_) => crate::call::cancelled(tool).into(),
            },
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}
