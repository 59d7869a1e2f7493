//! Records a change in two steps: what stood there before, durable before the tool begins, and what stands there after.
//!
//! The second step need not be durable: where it is lost, what stands there is looked at again.

use std::sync::{Arc, PoisonError};

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use toolwright::{CallId, ToolContext, ToolError};

use super::database::unavailable;
use super::log::{ChangeLog, Inner};
use super::rows::{complete, insert_content, of_file, text};
use crate::footprint::Written;
use crate::step::step;
use crate::workspace::{Above, Name, Seen, State};

/// What the log knows of a call.
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

/// The first half of the changes of a call. Where it is dropped, whoever looks at a file next completes its change.
pub(super) struct Begun {
    log: Arc<Inner>,
    changes: Vec<(i64, Name)>,
}

/// What stands at a name before a call.
struct Found {
    name: Name,
    seen: Seen,
    above: Vec<Above>,
}

impl ChangeLog {
    /// Records what stands at the names that a call writes. A call that is run again has its changes already.
    pub(super) fn begin(
        &self,
        call: &CallFacts,
        written: &Written,
        now: i64,
    ) -> Result<Begun, ToolError> {
        let mut found: Vec<Found> = Vec::new();
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
                found.push(Found { seen, above: self.0.workspace.above(&name)?, name });
            }
        }
        step();
        let mut connection = self.connection();
        let mut begun = Begun { log: Arc::clone(&self.0), changes: Vec::new() };
        let mut begin = || -> rusqlite::Result<()> {
            connection.pragma_update(None, "synchronous", "FULL")?;
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let number = call_number(&transaction, call, unnamed.as_deref(), now)?;
            for found in &found {
                let change = self.first_half(&transaction, number, call.id, found)?;
                begun.push(change, found.name.clone());
            }
            step();
            transaction.commit()
        };
        begin().map_err(unavailable)?;
        step();
        Ok(begun)
    }

    /// The change of a call at a name: the one that it has already, or a new one.
    fn first_half(
        &self,
        db: &Transaction<'_>,
        number: i64,
        call: CallId,
        found: &Found,
    ) -> rusqlite::Result<i64> {
        let changes = of_file(db, &found.name)?;
        let state = &found.seen.state;
        if let Some(own) = changes.iter().rfind(|it| it.call.id == call) {
            let is_newest = !changes.iter().any(|it| it.number > own.number && it.is_effective());
            let is_repeated = match &own.after {
                None => true,
                Some(after) => after == state || (own.before == *state && is_newest),
            };
            if is_repeated {
                return Ok(own.number);
            }
        }
        let cut_short = changes.iter().filter(|it| it.after.is_none());
        for change in cut_short.filter(|it| !self.is_open(it.number)) {
            complete(db, change.number, state, &found.seen.content)?;
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
        Ok(db.last_insert_rowid())
    }

    /// Records what stands now at the names that a call has written. The log is bounded here: what is undone is not removed
    /// while it is needed.
    pub(super) fn finish(&self, begun: Begun, now: i64) -> Result<(), ToolError> {
        let mut seen = Vec::with_capacity(begun.changes.len());
        for (number, name) in &begun.changes {
            seen.push((*number, self.0.workspace.look(name)?));
        }
        step();
        let mut connection = self.connection();
        let mut finish = || -> rusqlite::Result<()> {
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for (number, seen) in &seen {
                finished(&transaction, *number, seen)?;
            }
            step();
            transaction.commit()
        };
        finish().map_err(unavailable)?;
        step();
        self.prune(&mut connection, now).map_err(unavailable)
    }

    /// Completes the changes of calls that were cut short, by what stands at the name now.
    pub(super) fn complete_cut_short(&self, name: &Name) -> Result<Seen, ToolError> {
        let seen = self.0.workspace.look(name)?;
        let connection = self.connection();
        let complete_all = || -> rusqlite::Result<()> {
            let sql = "SELECT number FROM changes WHERE path = ?1 AND after IS NULL";
            let mut statement = connection.prepare_cached(sql)?;
            let numbers = statement.query_map([name.as_str()], |row| row.get::<_, i64>(0))?;
            for number in numbers.collect::<rusqlite::Result<Vec<_>>>()? {
                if !self.is_open(number) {
                    complete(&connection, number, &seen.state, &seen.content)?;
                }
            }
            Ok(())
        };
        complete_all().map_err(unavailable)?;
        Ok(seen)
    }

    /// Whether a call of this process is about to complete the change.
    pub(super) fn is_open(&self, change: i64) -> bool {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&change)
    }
}

impl Begun {
    fn push(&mut self, change: i64, name: Name) {
        let mut open = self.log.open.lock().unwrap_or_else(PoisonError::into_inner);
        *open.entry(change).or_default() += 1;
        drop(open);
        self.changes.push((change, name));
    }

    /// The change of a name.
    pub(super) fn change(&self, name: &Name) -> Option<i64> {
        self.changes.iter().find(|(_, it)| it == name).map(|(number, _)| *number)
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let mut open = self.log.open.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, _) in &self.changes {
            if let Some(count) = open.get_mut(number) {
                *count -= 1;
                if *count == 0 {
                    open.remove(number);
                }
            }
        }
    }
}

/// The row of a call.
fn call_number(
    db: &Connection,
    call: &CallFacts,
    unnamed: Option<&str>,
    now: i64,
) -> rusqlite::Result<i64> {
    let id: &[u8] = call.id.as_bytes();
    let mut known = db.prepare_cached("SELECT number FROM calls WHERE id = ?1")?;
    if let Some(number) = known.query_row([id], |row| row.get(0)).optional()? {
        return Ok(number);
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
    Ok(db.last_insert_rowid())
}

/// Completes a change; one that changed nothing is removed.
fn finished(db: &Connection, number: i64, seen: &Seen) -> rusqlite::Result<()> {
    let sql = "SELECT before, call FROM changes WHERE number = ?1";
    let mut statement = db.prepare_cached(sql)?;
    let row = statement.query_row([number], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)));
    let Some((before, call)): Option<(String, i64)> = row.optional()? else { return Ok(()) };
    if before != text(&seen.state)? {
        return complete(db, number, &seen.state, &seen.content);
    }
    let hash = "SELECT before_hash FROM changes WHERE number = ?1";
    let hash: Option<String> = db.query_row(hash, [number], |row| row.get(0))?;
    db.prepare_cached("DELETE FROM changes WHERE number = ?1")?.execute([number])?;
    super::prune::remove_unused(db, hash.as_deref())?;
    let sql = "DELETE FROM calls WHERE number = ?1 AND unnamed IS NULL AND NOT EXISTS (SELECT 1 FROM changes WHERE call = ?1)";
    db.prepare_cached(sql)?.execute([call]).map(drop)
}
