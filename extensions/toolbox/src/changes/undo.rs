//! Undoes changes of one file: plans the undo, marks the changes, restores the file, and records the undo as a change
//! of its own.

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use toolwright::{ErrorClass, ToolError};

use super::database::unavailable;
use super::log::ChangeLog;
use super::plan::{Plan, Refusal, WantedChanges, plan};
use super::record::{CallFacts, OpenChanges};
use super::rows::{Change, content, of_file, text};
use crate::footprint::WrittenFiles;
use crate::step::step;
use crate::workspace::{Name, RecordedFile, State};

/// The result of an undo of one file.
pub(super) struct Undone {
    /// Describes the undone changes for a model, with the name of the file.
    pub(super) words: String,
    /// The reason why older changes of the turn were not undone; `None` if all were.
    pub(super) rest: Option<String>,
}

impl ChangeLog {
    /// Undoes changes of one file. No folder in the name may be a link. After its last undo, the caller
    /// [prunes](Self::prune) the log.
    pub(super) fn undo(
        &self,
        call: &CallFacts,
        name: &Name,
        wanted: WantedChanges<'_>,
        now: i64,
    ) -> Result<Undone, ToolError> {
        let seen = self.complete_cut_short(name)?;
        let mut changes = of_file(&self.connection(), name).map_err(unavailable)?;
        // If the log is middleware of the executor as well, it has already begun a change for this undo.
        changes.retain(|it| it.call.id != call.id);
        let planned = plan(&changes, wanted, &seen.state).map_err(|it| refused(name, &it))?;
        let Some(oldest) = planned.changes.last().copied() else {
            return Err(refused(name, &Refusal::Nothing));
        };
        let restored = content(&self.connection(), &oldest.before).map_err(unavailable)?;
        let Some(restored) = restored else {
            let why = "its content is no longer in the log";
            return Err(refused(name, &Refusal::Unrecorded { change: oldest, why }));
        };
        let written = WrittenFiles { names: vec![name.clone()], unnamed: None };
        let begun = self.begin(call, &written, now)?;
        let Some(own) = begun.change(name) else {
            let why = "a folder is there now";
            return Err(refused(name, &Refusal::Unrecorded { change: oldest, why }));
        };
        mark(&mut self.connection(), own, &planned.changes).map_err(unavailable)?;
        step();
        let restored =
            RecordedFile { state: &oldest.before, content: &restored, above: &oldest.above };
        let result = self.0.workspace.restore(name, &seen.state, &restored);
        let finished = self.finish_undo(begun, own, result.is_ok());
        result?;
        let mut undone = undone(name, &planned);
        // The file is restored, so only warn. The next operation on the file completes the change.
        if let Err(error) = finished {
            undone.words.push_str("; warning: the undo is not recorded yet: ");
            undone.words.push_str(error.message());
        }
        Ok(undone)
    }

    /// Records the state of the file after an undo. If the undo has restored nothing, the marks are removed first, since
    /// a difference is then what another program wrote.
    pub(super) fn finish_undo(
        &self,
        begun: OpenChanges,
        own: i64,
        is_restored: bool,
    ) -> Result<(), ToolError> {
        if !is_restored {
            unmark(&self.connection(), own).map_err(unavailable)?;
        }
        self.finish(begun)
    }
}

/// Marks the changes as undone before the file is restored. If the process ends in between,
/// [`unmark_without_effect`] removes the marks again.
pub(super) fn mark(db: &mut Connection, by: i64, changes: &[&Change]) -> rusqlite::Result<()> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute("UPDATE changes SET is_undo = 1 WHERE number = ?1", [by])?;
    for change in changes {
        let sql = "INSERT INTO undone (change, by) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        transaction.execute(sql, params![change.number, by])?;
    }
    transaction.commit()
}

/// Removes the marks of an undo, whose change then counts as that of any other call.
fn unmark(db: &Connection, by: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM undone WHERE by = ?1")?.execute([by])?;
    db.prepare_cached("UPDATE changes SET is_undo = 0 WHERE number = ?1")?.execute([by]).map(drop)
}

/// Removes the marks of an interrupted undo, unless the file now has the state that the undo was to restore. Another
/// program may have written the file since, so a difference does not show that the undo had an effect.
pub(super) fn unmark_without_effect(db: &Connection, by: i64, now: &State) -> rusqlite::Result<()> {
    let sql = "SELECT before FROM undone JOIN changes ON changes.number = undone.change WHERE undone.by = ?1 \
               ORDER BY undone.change LIMIT 1";
    let mut statement = db.prepare_cached(sql)?;
    let wanted = statement.query_row([by], |row| row.get::<_, String>(0)).optional()?;
    match wanted {
        Some(wanted) if wanted != text(now)? => unmark(db, by),
        _ => Ok(()),
    }
}

fn undone(name: &Name, plan: &Plan<'_>) -> Undone {
    let words = match plan.changes.last().map(|it| &it.before) {
        Some(State::Absent) => format!("removed `{name}`"),
        _ => format!("restored `{name}`"),
    };
    let words = match plan.changes.as_slice() {
        [change] => format!("{words}: {} is undone", change.words()),
        changes => {
            let numbers: Vec<String> = changes.iter().map(|it| it.number.to_string()).collect();
            format!("{words}: changes {} are undone", numbers.join(", "))
        }
    };
    Undone { words, rest: plan.rest.as_ref().map(|rest| rest.of(name).to_string()) }
}

/// Makes the error for a file that is not restored.
pub(super) fn refused(name: &Name, refusal: &Refusal<'_>) -> ToolError {
    let error =
        ToolError::new(refusal.kind(), refusal.of(name).to_string()).class(ErrorClass::Final);
    match refusal {
        Refusal::Changed { later: None, .. } => {
            error.hint("compare the file with what you expect, and edit it instead")
        }
        Refusal::Unknown | Refusal::Nothing | Refusal::Undone { .. } => {
            error.hint("`file_history` lists the changes of a file")
        }
        _ => error,
    }
}
