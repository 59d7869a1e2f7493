//! Decides to what a file is restored when all changes of some calls are undone at once, including undos among these
//! calls, or why the file is left as it is. Pure.

use super::plan::{Refusal, unrestorable};
use super::rows::Change;
use crate::workspace::State;

/// The changes of a file that are to be undone together.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Back<'a> {
    /// The changes to be taken back, newest first; the file is restored to the state before the oldest of them.
    pub(super) changes: Vec<&'a Change>,
}

impl<'a> Back<'a> {
    /// Returns the oldest of the changes that are to be undone.
    pub(super) fn oldest(&self) -> Option<&'a Change> {
        self.changes.last().copied()
    }
}

/// Plans what a file is restored to. `changes` are all changes of the file, oldest first; `is_taken` selects those to
/// be taken back; `now` is the present state. `None` if the file is already as it was before these changes.
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
        // Something that is not in the log wrote the file in between, which would be lost.
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

/// Returns the changes that are still in effect. Leaves out each change that was undone, together with its undo. If an
/// undo was itself undone, but not all of its changes were, both stay.
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
