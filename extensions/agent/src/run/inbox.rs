//! What the user says to a run while it works, in memory: the model gets it with the next request.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::history::Prompt;

/// The messages that wait. Cheap to clone; a clone is the same inbox.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inbox(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    /// Whether the run works, so that what is put here is read.
    is_open: bool,
    messages: VecDeque<Prompt>,
}

impl Inbox {
    /// The run begins to work.
    pub(super) fn open(&self) {
        self.waiting().is_open = true;
    }

    /// Puts a message behind the others; gives it back where the run does not work.
    pub(crate) fn put(&self, message: Prompt) -> Result<(), Prompt> {
        let mut waiting = self.waiting();
        if !waiting.is_open {
            return Err(message);
        }
        waiting.messages.push_back(message);
        Ok(())
    }

    /// Takes all that wait.
    pub(super) fn take(&self) -> Vec<Prompt> {
        self.waiting().messages.drain(..).collect()
    }

    /// Takes all that wait where the run would end, and closes where there is none.
    pub(super) fn take_or_close(&self) -> Vec<Prompt> {
        let mut waiting = self.waiting();
        waiting.is_open = !waiting.messages.is_empty();
        waiting.messages.drain(..).collect()
    }

    /// Closes the inbox of a run that has stopped: messages that still wait are dropped unread.
    pub(super) fn close(&self) {
        *self.waiting() = Waiting::default();
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
