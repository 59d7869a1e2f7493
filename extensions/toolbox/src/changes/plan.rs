//! Plans the undo of one file: decides which state to restore, or why none can be restored. Pure.

use std::fmt;

use super::rows::Change;
use crate::workspace::{Name, State, UnrecordedReason};

/// The changes that an undo should take back.
#[derive(Debug, Clone, Copy)]
pub(super) enum WantedChanges<'a> {
    /// The newest change in effect. Undos themselves do not count as changes.
    Newest,
    /// The change with this number, which may be an undo.
    Change(i64),
    /// The changes that one turn of a run made.
    Turn { run: &'a str, turn: u64 },
}

/// The changes that an undo takes back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan<'a> {
    /// The changes to undo, newest first.
    pub(super) changes: Vec<&'a Change>,
    /// The reason why older changes of the turn are not taken back; `None` if all are.
    pub(super) rest: Option<Refusal<'a>>,
}

/// The reason why a file is not restored.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal<'a> {
    /// The log has no change with this number.
    Unknown,
    /// The file has no change that could be undone.
    Nothing,
    /// The change is already undone, by the change `by`.
    Undone { change: i64, by: i64 },
    /// The call of the change still runs, or another process has not completed the change's record.
    Running { change: &'a Change },
    /// Something has changed the file since: the change `later`, or something outside of the log.
    Changed { change: &'a Change, later: Option<&'a Change> },
    /// The log lacks the content to restore, for the reason `why`.
    Unrecorded { change: &'a Change, why: &'static str },
}

/// Plans what the undo of a file restores. `changes` are all changes of that file, oldest first; `now` is its present state.
pub(super) fn plan<'a>(
    changes: &'a [Change],
    wanted: WantedChanges<'_>,
    now: &State,
) -> Result<Plan<'a>, Refusal<'a>> {
    let counts = |it: &&Change| it.undone_by.is_none() && !it.is_undo;
    let is_open = |it: &Change| it.is_effective() || it.after.is_none();
    let mut chosen: Vec<&Change> = match wanted {
        WantedChanges::Newest => {
            changes.iter().rev().filter(|it| is_open(it)).find(counts).into_iter().collect()
        }
        WantedChanges::Change(number) => {
            let change = changes.iter().find(|it| it.number == number && is_open(it));
            let change = change.ok_or(Refusal::Unknown)?;
            if let Some(by) = change.undone_by {
                return Err(Refusal::Undone { change: number, by });
            }
            vec![change]
        }
        WantedChanges::Turn { run, turn } => {
            let of_turn = |it: &&Change| {
                it.call.turn == Some(turn) && it.call.run.as_deref() == Some(run) && is_open(it)
            };
            changes.iter().rev().filter(of_turn).filter(counts).collect()
        }
    };
    if chosen.is_empty() {
        return Err(Refusal::Nothing);
    }
    let mut now = now;
    for index in 0..chosen.len() {
        let change = chosen[index];
        if let Err(refusal) = restorable(changes, &chosen[..=index], now) {
            if index == 0 {
                return Err(refusal);
            }
            chosen.truncate(index);
            return Ok(Plan { changes: chosen, rest: Some(refusal) });
        }
        now = &change.before;
    }
    Ok(Plan { changes: chosen, rest: None })
}

/// Checks whether the last change of `taken` can be taken back after all the others in `taken`.
fn restorable<'a>(
    changes: &'a [Change],
    taken: &[&'a Change],
    now: &State,
) -> Result<(), Refusal<'a>> {
    let Some((&change, newer)) = taken.split_last() else { return Ok(()) };
    let Some(after) = &change.after else { return Err(Refusal::Running { change }) };
    let later = changes.iter().rev().filter(|it| it.number > change.number);
    let mut later = later.filter(|it| it.is_effective() && it.undone_by.is_none());
    let mut standing = later.clone().filter(|it| !it.is_undo);
    // Refuse a later change that is not taken back, even if it happens to have restored the same state.
    if let Some(later) = standing.find(|it| !newer.iter().any(|newer| newer.number == it.number)) {
        return Err(Refusal::Changed { change, later: Some(later) });
    }
    if after != now {
        return Err(Refusal::Changed { change, later: later.next() });
    }
    match unrestorable(&change.before, after) {
        Some(why) => Err(Refusal::Unrecorded { change, why }),
        None => Ok(()),
    }
}

/// Returns the reason why the earlier state cannot replace the present state; `None` if it can.
pub(super) fn unrestorable(before: &State, now: &State) -> Option<&'static str> {
    Some(match (before, now) {
        (State::Unrecorded { why, .. }, _) => match why {
            UnrecordedReason::TooLarge => "what was there before has more than 32 MiB",
            UnrecordedReason::Unreadable => "what was there before could not be read",
            UnrecordedReason::NoRegularFile => "what was there before was no regular file",
        },
        (State::Folder, _) => "a folder was there before",
        (_, State::Folder) => "a folder is there now",
        _ => return None,
    })
}

impl Change {
    /// Returns the verb for the effect of the change on the file.
    pub(super) fn operation(&self) -> &'static str {
        match (&self.before, &self.after) {
            (_, None) => "writes",
            _ if self.is_undo => "restored",
            (State::Absent, Some(State::Folder)) => "made the folder",
            (State::Absent, _) => "created",
            (_, Some(State::Absent)) => "deleted",
            (State::File { hash, .. }, Some(State::File { hash: after, .. })) if hash == after => {
                "changed the mode of"
            }
            _ => "changed",
        }
    }

    /// Describes the change by its number, tool and turn.
    pub(super) fn words(&self) -> String {
        let turn = self.call.turn.map(|turn| format!(" in turn {turn}")).unwrap_or_default();
        format!("change {} by `{}`{turn}", self.number, self.call.tool)
    }
}

impl Refusal<'_> {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Unknown | Self::Nothing => "not_found",
            Self::Undone { .. } => "already_undone",
            Self::Running { .. } => "busy",
            Self::Changed { .. } => "file_changed",
            Self::Unrecorded { .. } => "not_recorded",
        }
    }

    /// Describes the refusal for a model, with the name of the file.
    pub(super) fn of<'n>(&'n self, name: &'n Name) -> impl fmt::Display {
        fmt::from_fn(move |formatter| match self {
            Self::Unknown => write!(formatter, "the log has no such change of `{name}`"),
            Self::Nothing => write!(formatter, "the log has no change of `{name}` in effect"),
            Self::Undone { change, by } => {
                write!(formatter, "change {change} of `{name}` was undone by change {by}")
            }
            Self::Running { change } => {
                write!(formatter, "`{name}` may still be written by {}", change.words())
            }
            Self::Changed { change, later: Some(later) } => write!(
                formatter,
                "`{name}` is not what {} left: {} came later; undo that one first",
                change.words(),
                later.words()
            ),
            Self::Changed { change, later: None } => write!(
                formatter,
                "`{name}` is not what {} left: something that is not in the log changed it later",
                change.words()
            ),
            Self::Unrecorded { change, why } => {
                write!(formatter, "{} of `{name}` cannot be undone: {why}", change.words())
            }
        })
    }
}
