//! What the answers of several tools say in the same words.

use std::sync::{Mutex, MutexGuard, PoisonError};

use toolwright::{ErrorClass, ToolContext, ToolError, error_kind};

/// Whether the call that asked for some work still wants it.
pub(super) struct Demand<'c>(Option<&'c ToolContext>);

impl<'c> Demand<'c> {
    pub(super) fn of(context: &'c ToolContext) -> Self {
        Self(Some(context))
    }

    /// Of work that no call can cancel.
    pub(super) fn always() -> Self {
        Self(None)
    }

    /// Refuses to go on where the call is cancelled or its time is up.
    pub(super) fn still(&self) -> Result<(), ToolError> {
        match self.0.is_some_and(ToolContext::is_cancelled) {
            true => {
                let message = "the call was cancelled before anything was written";
                Err(ToolError::new(error_kind::CANCELLED, message).class(ErrorClass::Cancelled))
            }
            false => Ok(()),
        }
    }
}

/// What several threads of a search gather. A thread that panicked has ended the search.
pub(super) fn lock<T>(gathered: &Mutex<T>) -> MutexGuard<'_, T> {
    gathered.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number of things, in words: `1 file`, `2 files`.
pub(super) fn count(number: usize, one: &str, more: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        number => format!("{number} {more}"),
    }
}

/// The beginning of a line that is too long, and what is left out of it.
pub(super) fn shorten(line: &str, longest: usize) -> String {
    match line.char_indices().nth(longest) {
        None => line.to_owned(),
        Some((cut, _)) => {
            let left_out = count(line[cut..].chars().count(), "character", "characters");
            format!("{}… [{left_out} more]", &line[..cut])
        }
    }
}

/// What a search could not look at.
pub(super) fn unreadable(number: usize) -> Option<String> {
    (number > 0).then(|| {
        let entries = count(number, "entry", "entries");
        format!("[{entries} could not be read: no right to, or a name that is not UTF-8]")
    })
}
