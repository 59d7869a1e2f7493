//! Messages that the user sends to a run in memory while it works: the model gets them with the next request.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::history::Prompt;

/// The messages that wait. Cloning is cheap; all clones are the same inbox.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inbox(Arc<Mutex<Waiting>>, Arc<Notify>);

#[derive(Debug, Default)]
struct Waiting {
    /// Whether the run works, so that it will read a message that is added.
    is_open: bool,
    messages: VecDeque<Prompt>,
    /// The messages that the run has taken and not yet added to its history.
    taken: Vec<Prompt>,
    /// Whether one of the messages has to interrupt the request in progress.
    is_urgent: bool,
}

impl Waiting {
    fn take(&mut self) -> Vec<Prompt> {
        self.is_urgent = false;
        let messages: Vec<Prompt> = self.messages.drain(..).collect();
        self.taken.extend(messages.iter().cloned());
        messages
    }
}

impl Inbox {
    /// Opens the inbox when the run begins to work.
    pub(super) fn open(&self) {
        self.waiting().is_open = true;
    }

    /// Adds a message after the others; returns the message if the run does not work.
    pub(crate) fn put(&self, message: Prompt) -> Result<(), Prompt> {
        self.put_as(message, false)
    }

    /// Adds a message, as [`put`](Self::put) does, and interrupts the request in progress.
    pub(crate) fn put_now(&self, message: Prompt) -> Result<(), Prompt> {
        self.put_as(message, true)
    }

    fn put_as(&self, message: Prompt, is_urgent: bool) -> Result<(), Prompt> {
        let mut waiting = self.waiting();
        if !waiting.is_open {
            return Err(message);
        }
        waiting.messages.push_back(message);
        waiting.is_urgent |= is_urgent;
        drop(waiting);
        self.1.notify_waiters();
        Ok(())
    }

    /// Completes when a message interrupts the request in progress. May be dropped at any time.
    pub(super) async fn urgent(&self) {
        self.until(|waiting| waiting.is_urgent).await;
    }

    /// Completes when the inbox has a message. May be dropped at any time.
    pub(super) async fn until_said(&self) {
        self.until(|waiting| !waiting.messages.is_empty()).await;
    }

    async fn until(&self, is_so: impl Fn(&Waiting) -> bool) {
        loop {
            // Registered before the check, so that no message is missed.
            let mut notified = pin!(self.1.notified());
            notified.as_mut().enable();
            if is_so(&self.waiting()) {
                return;
            }
            notified.await;
        }
    }

    /// Takes all messages out of the inbox.
    pub(super) fn take(&self) -> Vec<Prompt> {
        self.waiting().take()
    }

    /// Takes all messages before the run ends; closes the inbox if it has none.
    pub(super) fn take_or_close(&self) -> Vec<Prompt> {
        let mut waiting = self.waiting();
        waiting.is_open = !waiting.messages.is_empty();
        waiting.take()
    }

    /// Notes that the messages taken so far are in the history, or were refused by a guard.
    pub(super) fn note_read(&self) {
        self.waiting().taken.clear();
    }

    /// Closes the inbox of a run that does not work any more. The messages that are not in the history wait until the
    /// run is resumed.
    pub(super) fn close(&self) {
        let mut waiting = self.waiting();
        let taken = std::mem::take(&mut waiting.taken);
        let later = std::mem::take(&mut waiting.messages);
        waiting.messages = taken.into_iter().chain(later).collect();
        (waiting.is_open, waiting.is_urgent) = (false, false);
    }

    /// Drops the messages that a run which has ended did not read.
    pub(super) fn clear(&self) {
        *self.waiting() = Waiting::default();
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
