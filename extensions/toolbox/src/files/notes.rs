//! Phrases and checks that several file tools share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use toolwright::{ErrorClass, ToolContext, ToolError, error_kind};

/// Checks whether the call that requested some work still needs the result.
pub(super) struct Demand<'c>(Option<&'c ToolContext>);

impl<'c> Demand<'c> {
    pub(super) fn of(context: &'c ToolContext) -> Self {
        Self(Some(context))
    }

    /// Makes the check for work that no call can cancel.
    pub(super) fn always() -> Self {
        Self(None)
    }

    /// Returns an error if the call was cancelled or its time is up.
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

/// Locks the results that several threads collect. A thread that panicked has ended the search, so a poisoned lock does
/// not matter.
pub(super) fn lock<T>(gathered: &Mutex<T>) -> MutexGuard<'_, T> {
    gathered.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Formats a count with its noun: `1 file`, `2 files`.
pub(super) fn count(number: usize, one: &str, more: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        number => format!("{number} {more}"),
    }
}

/// Returns the first characters of a line that is too long, with a note of how many are left out.
pub(super) fn shorten(line: &str, longest: usize) -> String {
    match line.char_indices().nth(longest) {
        None => line.to_owned(),
        Some((cut, _)) => {
            let left_out = count(line[cut..].chars().count(), "character", "characters");
            format!("{}… [{left_out} more]", &line[..cut])
        }
    }
}

/// Makes the note of how many entries a search could not read; `None` for 0.
pub(super) fn unreadable(number: usize) -> Option<String> {
    (number > 0).then(|| {
        let entries = count(number, "entry", "entries");
        format!("[{entries} could not be read: no right to, or a name that is not UTF-8]")
    })
}
