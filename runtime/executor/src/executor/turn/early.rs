//! Calls of a turn that have begun before the turn was complete.

use std::collections::HashMap;

use tokio::task::JoinHandle;

use crate::stage;
use toolwright_core::output::Answer;

/// The calls that have begun, by their index.
#[derive(Debug, Default)]
pub(super) struct Early(HashMap<usize, Begun>);

/// A call that runs on a task of its own, and is cancelled when nobody waits for it any more.
#[derive(Debug)]
pub(super) struct Begun(JoinHandle<Answer>);

impl Early {
    pub(super) fn none() -> Self {
        Self::default()
    }

    pub(super) fn add(&mut self, index: usize, task: JoinHandle<Answer>) {
        self.0.insert(index, Begun(task));
    }

    pub(super) fn take(&mut self, index: usize) -> Option<Begun> {
        self.0.remove(&index)
    }
}

impl Begun {
    pub(super) async fn answer(mut self, tool: &str) -> Answer {
        match (&mut self.0).await {
            Ok(answer) => answer,
            Err(failed) => match failed.try_into_panic() {
                Ok(panic) => stage::panicked(tool, panic).into(),
                // Its runtime shuts down.
                Err(_) => crate::lifecycle::words::cancelled(tool).into(),
            },
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.0.abort();
    }
}
