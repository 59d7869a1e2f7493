//! Decides what a file gets back when every change of some calls is taken back at once, whatever the calls did and undid in
//! between, or why it does not; pure.

use super::plan::{Refusal, unrestorable};
use super::rows::Change;
use crate::workspace::State;

/// What a file gets back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Back<'a> {
    /// The changes that are taken back, from the newest; the file gets what was there before the last of them.
    pub(super) changes: Vec<&'a Change>,
}

impl<'a> Back<'a> {
    /// The first of the changes that are taken back.
    pub(super) fn oldest(&self) -> Option<&'a Change> {
        self.changes.last().copied()
    }
}

/// Plans what becomes of a file. `changes` are all of it, from the oldest; `is_taken` says which are taken back, `now` is what is
/// there. `None` where the file is as it was before them.
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
        // What another hand has written in between would be lost.
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

/// Returns the changes in effect: without those that an undo has taken back, and without that undo. An undo is in effect where
/// it is itself taken back and the changes that it undid are not.
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
