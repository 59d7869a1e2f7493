//! Plans the rewind of one file, which takes back all changes that some calls made, including undos by these calls.
//! Decides which state to restore, or why the file cannot be restored. Pure.

use super::plan::{Refusal, unrestorable};
use super::rows::Change;
use crate::workspace::State;

/// The changes of a file that a rewind takes back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Back<'a> {
    /// The changes to be taken back, newest first. The file is restored to its state before the oldest of them.
    pub(super) changes: Vec<&'a Change>,
}

impl<'a> Back<'a> {
    /// Returns the oldest of the changes to be taken back.
    pub(super) fn oldest(&self) -> Option<&'a Change> {
        self.changes.last().copied()
    }
}

/// Plans the rewind of a file. `changes` are all changes of the file, oldest first; `is_taken` selects those to be
/// taken back; `now` is the present state. Returns `None` if there is nothing to restore.
pub(super) fn plan_back<'a>(
    changes: &'a [Change],
    is_taken: impl Fn(&Change) -> bool,
    now: &State,
) -> Result<Option<Back<'a>>, Refusal<'a>> {
    let standing = standing(changes, &is_taken);
    let Some(first) = standing.iter().position(|it| is_taken(it)) else { return Ok(None) };
    let since = &standing[first..];
    if let Some(change) = since.iter().find(|it| it.after.is_none()) {
        return Err(Refusal::Running { change });
    }
    let before = &since[0].before;
    if before == now {
        return Ok(None);
    }
    let mut last = since[0];
    for &change in since {
        if !is_taken(change) {
            return Err(Refusal::Changed { change: last, later: Some(change) });
        }
        // Something outside of the log wrote the file between these two changes. Restoring would lose what it wrote.
        if change.number != last.number && last.after.as_ref() != Some(&change.before) {
            return Err(Refusal::Changed { change: last, later: None });
        }
        last = change;
    }
    if last.after.as_ref() != Some(now) {
        return Err(Refusal::Changed { change: last, later: None });
    }
    if let Some(why) = unrestorable(before, now) {
        return Err(Refusal::Unrecorded { change: since[0], why });
    }
    Ok(Some(Back { changes: since.iter().rev().copied().collect() }))
}

/// Returns the changes that are in effect. An undo and the changes that it took back cancel each other out, so all of
/// them are left out. If the rewind takes back the undo, but not every change that the undo took back, all of them
/// stay.
fn standing<'a>(changes: &'a [Change], is_taken: &impl Fn(&Change) -> bool) -> Vec<&'a Change> {
    let undone_by = |undo: &Change| {
        let by = undo.number;
        changes.iter().filter(move |it| it.undone_by == Some(by))
    };
    let cancels = |undo: &Change| {
        undone_by(undo).next().is_some() && (!is_taken(undo) || undone_by(undo).all(is_taken))
    };
    let is_cancelled = |change: &Change| {
        let by = change.undone_by;
        by.and_then(|by| changes.iter().find(|it| it.number == by)).is_some_and(cancels)
    };
    let counts = |it: &&Change| it.after.is_none() || it.is_effective();
    changes.iter().filter(counts).filter(|it| !cancels(it) && !is_cancelled(it)).collect()
}
