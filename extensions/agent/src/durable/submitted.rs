//! The runs that this process has recorded for a worker. A worker of this process takes them at once, and need not
//! search for them among all runs that wait.

use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

#[derive(Default)]
pub(super) struct Submitted {
    state: Mutex<State>,
    notify: Notify,
}

#[derive(Default)]
struct State {
    /// How many workers of this process listen. Without one, submitted runs are left to other processes.
    workers: usize,
    runs: Vec<String>,
}

impl Submitted {
    /// Adds a run that a worker of this process may take.
    pub(super) fn note(&self, run: &str) {
        let is_noted = self.with(|state| {
            let is_noted = state.workers > 0;
            if is_noted {
                state.runs.push(run.to_owned());
            }
            is_noted
        });
        if is_noted {
            self.notify.notify_one();
        }
    }

    /// Returns a listener; runs are collected only while one exists.
    pub(super) fn listen(&self) -> Listener<'_> {
        self.with(|state| state.workers += 1);
        Listener(self)
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A worker that takes the submitted runs.
pub(super) struct Listener<'a>(&'a Submitted);

impl Listener<'_> {
    /// Waits until runs were submitted, and returns them.
    pub(super) async fn next(&self) -> Vec<String> {
        loop {
            let runs = self.0.with(|state| std::mem::take(&mut state.runs));
            if !runs.is_empty() {
                return runs;
            }
            self.0.notify.notified().await;
        }
    }
}

impl Drop for Listener<'_> {
    fn drop(&mut self) {
        self.0.with(|state| {
            state.workers -= 1;
            if state.workers == 0 {
                // The next worker finds these runs in the journal.
                state.runs.clear();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn runs_are_noted_as_long_as_a_worker_listens() {
        let submitted = Submitted::default();
        submitted.note("before");
        let listener = submitted.listen();
        assert_eq!(listener.next().now_or_never(), None);
        submitted.note("r1");
        submitted.note("r2");
        assert_eq!(listener.next().now_or_never(), Some(vec!["r1".to_owned(), "r2".to_owned()]));
        submitted.note("r3");
        drop(listener);
        assert_eq!(submitted.listen().next().now_or_never(), None);
    }
}
