//! Records a change in two steps: first the state before, which is on the disk before the tool begins, then the state
//! after.
//!
//! The second step need not be durable: if it is lost, the log reads the file again later.

use std::sync::{Arc, PoisonError};

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use toolwright::{CallId, ToolContext, ToolError};

use super::database::unavailable;
use super::log::{ChangeLog, Inner};
use super::rows::{Change, complete, insert_content, of_file, text};
use super::undo::unmark_without_effect;
use crate::footprint::WrittenFiles;
use crate::step::step;
use crate::workspace::{Above, FileSnapshot, Name, State};

/// The properties of a call that the log records.
#[derive(Debug, Clone)]
pub(super) struct CallFacts {
    pub(super) id: CallId,
    pub(super) run: Option<String>,
    pub(super) turn: Option<u64>,
    pub(super) place: Option<u32>,
    pub(super) tool: String,
}

impl CallFacts {
    pub(super) fn of(context: &ToolContext) -> Self {
        Self {
            id: context.call_id(),
            run: context.run_id().map(ToOwned::to_owned),
            turn: context.turn(),
            place: context.index(),
            tool: context.tool().to_owned(),
        }
    }
}

/// The changes that a call has begun: their states before are recorded, their states after are not. If this value is
/// dropped without [`finish`](ChangeLog::finish), the next operation on each file completes the change of that file.
pub(super) struct OpenChanges {
    log: Arc<Inner>,
    changes: Vec<BegunChange>,
    /// The number of the call's row, if this attempt of the call inserted it.
    made: Option<i64>,
}

/// A change whose state before is recorded.
struct BegunChange {
    number: i64,
    name: Name,
    /// Whether this attempt of the call inserted the row of the change.
    is_new: bool,
    /// The numbers of the changes of the file that were complete when this change began.
    known: Vec<i64>,
}

/// The state of a file before a call.
struct FileBefore {
    name: Name,
    seen: FileSnapshot,
    above: Vec<Above>,
}

impl ChangeLog {
    /// Records the states of the files that a call will write. A repeated call continues the changes that its earlier
    /// attempt began.
    pub(super) fn begin(
        &self,
        call: &CallFacts,
        written: &WrittenFiles,
        now: i64,
    ) -> Result<OpenChanges, ToolError> {
        let mut found: Vec<FileBefore> = Vec::new();
        let mut unnamed = written.unnamed.clone();
        for name in &written.names {
            for name in self.0.workspace.written_names(name)? {
                if found.iter().any(|it| it.name == name) {
                    continue;
                }
                let seen = self.0.workspace.look(&name)?;
                if seen.state == State::Folder {
                    unnamed = Some(format!("it writes below the folder `{name}`"));
                    continue;
                }
                found.push(FileBefore { seen, above: self.0.workspace.above(&name)?, name });
            }
        }
        step();
        let mut connection = self.connection();
        let mut begun = OpenChanges { log: Arc::clone(&self.0), changes: Vec::new(), made: None };
        let mut begin = || -> rusqlite::Result<()> {
            connection.pragma_update(None, "synchronous", "FULL")?;
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let (number, is_made) = call_number(&transaction, call, unnamed.as_deref(), now)?;
            begun.made = is_made.then_some(number);
            for found in &found {
                begun.push(self.first_half(&transaction, number, call.id, found)?);
            }
            step();
            transaction.commit()
        };
        begin().map_err(unavailable)?;
        step();
        Ok(begun)
    }

    /// Returns the change that a call makes to a file: the change that has begun already, or a new one.
    fn first_half(
        &self,
        db: &Transaction<'_>,
        number: i64,
        call: CallId,
        found: &FileBefore,
    ) -> rusqlite::Result<BegunChange> {
        let changes = of_file(db, &found.name)?;
        let state = &found.seen.state;
        if let Some(own) = changes.iter().rfind(|it| it.call.id == call) {
            let is_newest = !changes.iter().any(|it| it.number > own.number && it.is_effective());
            let is_repeated = match &own.after {
                None => true,
                Some(after) => after == state || (own.before == *state && is_newest),
            };
            if is_repeated {
                let complete = changes.iter().filter(|it| it.after.is_some());
                let known = complete.map(|it| it.number).collect();
                let name = found.name.clone();
                return Ok(BegunChange { number: own.number, name, is_new: false, known });
            }
        }
        let mut known = Vec::with_capacity(changes.len());
        for change in &changes {
            if change.after.is_none() {
                if self.is_open(change.number) {
                    continue;
                }
                complete_interrupted(db, change.number, &found.seen)?;
            }
            known.push(change.number);
        }
        insert_content(db, state, &found.seen.content)?;
        let sql = "INSERT INTO changes (call, path, before, before_hash, above) VALUES (?1, ?2, ?3, ?4, ?5)";
        db.prepare_cached(sql)?.execute(params![
            number,
            found.name.as_str(),
            text(state)?,
            state.hash(),
            text(&found.above)?
        ])?;
        let (number, name) = (db.last_insert_rowid(), found.name.clone());
        Ok(BegunChange { number, name, is_new: true, known })
    }

    /// Removes what this attempt recorded, for a call whose tool did not begin, except what the next attempt has
    /// continued already. If the log fails here, the rows remain, like those of an interrupted call.
    pub(super) fn forget(&self, begun: OpenChanges) {
        let mut connection = self.connection();
        let mut forget = || -> rusqlite::Result<()> {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for change in begun.changes.iter().filter(|it| it.is_new && !self.is_shared(it)) {
                remove(&transaction, change.number)?;
            }
            if let Some(call) = begun.made {
                let sql = "DELETE FROM calls WHERE number = ?1 AND NOT EXISTS (SELECT 1 FROM changes WHERE call = ?1)";
                transaction.execute(sql, [call])?;
            }
            transaction.commit()
        };
        drop(forget());
        drop(connection);
        drop(begun);
    }

    /// Records the states of the files after the call. The caller then [prunes](Self::prune) the log.
    pub(super) fn finish(&self, begun: OpenChanges) -> Result<(), ToolError> {
        let mut seen = Vec::with_capacity(begun.changes.len());
        for change in &begun.changes {
            seen.push((change, self.0.workspace.look(&change.name)?));
        }
        step();
        let mut connection = self.connection();
        let mut finish = || -> rusqlite::Result<()> {
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for (change, seen) in &seen {
                let number = after_others(&transaction, change)?;
                finish_change(&transaction, number, seen)?;
            }
            step();
            transaction.commit()
        };
        finish().map_err(unavailable)?;
        step();
        Ok(())
    }

    /// Completes the changes of interrupted calls with the present state of the file, and returns that state.
    pub(super) fn complete_cut_short(&self, name: &Name) -> Result<FileSnapshot, ToolError> {
        let seen = self.0.workspace.look(name)?;
        let connection = self.connection();
        let complete_all = || -> rusqlite::Result<()> {
            for number in self.cut_short(&connection, name)? {
                complete_interrupted(&connection, number, &seen)?;
            }
            Ok(())
        };
        complete_all().map_err(unavailable)?;
        Ok(seen)
    }

    /// Returns whether an interrupted call has left a change of this file.
    pub(super) fn is_cut_short(&self, name: &Name) -> rusqlite::Result<bool> {
        Ok(!self.cut_short(&self.connection(), name)?.is_empty())
    }

    /// Returns the numbers of the changes of this file that interrupted calls have left.
    fn cut_short(&self, db: &Connection, name: &Name) -> rusqlite::Result<Vec<i64>> {
        let sql = "SELECT number FROM changes WHERE path = ?1 AND after IS NULL";
        let mut statement = db.prepare_cached(sql)?;
        let numbers = statement.query_map([name.as_str()], |row| row.get::<_, i64>(0))?;
        let mut numbers = numbers.collect::<rusqlite::Result<Vec<_>>>()?;
        numbers.retain(|number| !self.is_open(*number));
        Ok(numbers)
    }

    /// Returns whether another attempt of the call has continued the change.
    fn is_shared(&self, change: &BegunChange) -> bool {
        let open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.get(&change.number).is_some_and(|count| *count > 1)
    }

    /// Returns whether a call in this process will still complete the change.
    pub(super) fn is_open(&self, change: i64) -> bool {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&change)
    }
}

impl OpenChanges {
    fn push(&mut self, change: BegunChange) {
        let mut open = self.log.open.lock().unwrap_or_else(PoisonError::into_inner);
        *open.entry(change.number).or_default() += 1;
        drop(open);
        self.changes.push(change);
    }

    /// Returns the number of the begun change to a file; `None` if there is none.
    pub(super) fn change(&self, name: &Name) -> Option<i64> {
        self.changes.iter().find(|it| it.name == *name).map(|it| it.number)
    }
}

impl Drop for OpenChanges {
    fn drop(&mut self) {
        let mut open = self.log.open.lock().unwrap_or_else(PoisonError::into_inner);
        for BegunChange { number, .. } in &self.changes {
            if let Some(count) = open.get_mut(number) {
                *count -= 1;
                if *count == 0 {
                    open.remove(number);
                }
            }
        }
    }
}

/// Returns the number of the call's row, and whether the row is new.
fn call_number(
    db: &Connection,
    call: &CallFacts,
    unnamed: Option<&str>,
    now: i64,
) -> rusqlite::Result<(i64, bool)> {
    let id: &[u8] = call.id.as_bytes();
    let mut known = db.prepare_cached("SELECT number FROM calls WHERE id = ?1")?;
    if let Some(number) = known.query_row([id], |row| row.get(0)).optional()? {
        return Ok((number, false));
    }
    let sql = "INSERT INTO calls (id, run, turn, place, tool, began, unnamed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    db.prepare_cached(sql)?.execute(params![
        id,
        call.run,
        call.turn.map(u64::cast_signed),
        call.place,
        call.tool,
        now,
        unnamed
    ])?;
    Ok((db.last_insert_rowid(), true))
}

/// Orders a change after the changes of the same file that were completed since this change began. It gets a new
/// number, and its state before becomes the state that the last of those changes left. Returns the number.
fn after_others(db: &Connection, change: &BegunChange) -> rusqlite::Result<i64> {
    let changes = of_file(db, &change.name)?;
    let is_own = |it: &&Change| it.number == change.number;
    let since =
        |it: &&Change| it.is_effective() && !is_own(it) && !change.known.contains(&it.number);
    let (Some(own), Some(last)) = (changes.iter().find(is_own), changes.iter().rfind(since)) else {
        return Ok(change.number);
    };
    let Some(left) = &last.after else { return Ok(change.number) };
    let sql = "UPDATE changes SET before = ?2, before_hash = ?3 WHERE number = ?1";
    db.prepare_cached(sql)?.execute(params![own.number, text(left)?, left.hash()])?;
    super::prune::remove_unused(db, own.before.hash())?;
    if last.number < own.number {
        return Ok(own.number);
    }
    let sql = "INSERT INTO changes (call, path, before, before_hash, after, after_hash, above, is_undo) \
               SELECT call, path, before, before_hash, after, after_hash, above, is_undo FROM changes WHERE number = ?1";
    db.prepare_cached(sql)?.execute([own.number])?;
    let number = db.last_insert_rowid();
    for column in ["change", "by"] {
        let sql = format!("UPDATE undone SET {column} = ?2 WHERE {column} = ?1");
        db.prepare_cached(&sql)?.execute([own.number, number])?;
    }
    db.prepare_cached("DELETE FROM changes WHERE number = ?1")?.execute([own.number])?;
    Ok(number)
}

/// Completes the change of an interrupted call with the present state of the file.
fn complete_interrupted(db: &Connection, number: i64, seen: &FileSnapshot) -> rusqlite::Result<()> {
    unmark_without_effect(db, number, &seen.state)?;
    complete(db, number, &seen.state, &seen.content)
}

/// Completes a change, or removes the change if it had no effect.
fn finish_change(db: &Connection, number: i64, seen: &FileSnapshot) -> rusqlite::Result<()> {
    let sql = "SELECT before FROM changes WHERE number = ?1";
    let mut statement = db.prepare_cached(sql)?;
    let row = statement.query_row([number], |row| row.get::<_, String>(0));
    let Some(before) = row.optional()? else { return Ok(()) };
    if before != text(&seen.state)? {
        return complete(db, number, &seen.state, &seen.content);
    }
    remove(db, number)
}

/// Removes a change, the content that only this change refers to, and its call if the call has no other change and is
/// not marked as one that may have written files without naming them.
fn remove(db: &Connection, number: i64) -> rusqlite::Result<()> {
    let sql = "SELECT before_hash, call FROM changes WHERE number = ?1";
    let row = db.query_row(sql, [number], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((hash, call)): Option<(Option<String>, i64)> = row else { return Ok(()) };
    db.prepare_cached("DELETE FROM changes WHERE number = ?1")?.execute([number])?;
    super::prune::remove_unused(db, hash.as_deref())?;
    let sql = "DELETE FROM calls WHERE number = ?1 AND unnamed IS NULL AND NOT EXISTS (SELECT 1 FROM changes WHERE call = ?1)";
    db.prepare_cached(sql)?.execute([call]).map(drop)
}
