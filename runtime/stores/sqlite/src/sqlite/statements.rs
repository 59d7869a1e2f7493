//! The writing statements, each prepared once per connection.

use std::cell::Cell;

use jiff::Timestamp;
use rusqlite::{CachedStatement, Connection, ErrorCode, OptionalExtension, Params, Row, params};

use super::failure::JournalFile;
use super::format::CURRENT;
use super::row::{CallRow, TransactionRows, number};
use super::triggers::refuse_foreign;
use toolwright_core::context::CallId;
use toolwright_journal::journal::{CommitError, DocumentWrite, State, StoreError, StoreErrorKind};

pub struct Statements<'c> {
    name: JournalFile,
    connection: &'c Connection,
    /// The schema version of SQLite that was checked last.
    seen: &'c Cell<Option<i64>>,
    schema: LazyStatement<'c>,
    begin: LazyStatement<'c>,
    commit: LazyStatement<'c>,
    rollback: LazyStatement<'c>,
    save: LazyStatement<'c>,
    release: LazyStatement<'c>,
    undo: LazyStatement<'c>,
    insert: LazyStatement<'c>,
    current: LazyStatement<'c>,
    holder: LazyStatement<'c>,
    update: LazyStatement<'c>,
    update_all: LazyStatement<'c>,
    add_entry: LazyStatement<'c>,
    renew: LazyStatement<'c>,
    lease: LazyStatement<'c>,
    acknowledge: LazyStatement<'c>,
    document: LazyStatement<'c>,
    put_document: LazyStatement<'c>,
    remove_document: LazyStatement<'c>,
}

/// A statement that is prepared when it is first needed. The connection caches it.
struct LazyStatement<'c> {
    connection: &'c Connection,
    text: &'static str,
    statement: Option<CachedStatement<'c>>,
}

/// The number of prepared statements that a connection caches.
pub const STATEMENTS: usize = 19;

impl<'c> Statements<'c> {
    pub fn of(connection: &'c Connection, seen: &'c Cell<Option<i64>>, name: JournalFile) -> Self {
        let prepare = |text| LazyStatement { connection, text, statement: None };
        Self {
            connection,
            seen,
            schema: prepare("PRAGMA schema_version"),
            // `IMMEDIATE` waits for another writer. A transaction that begins by reading and then writes would fail
            // instead.
            begin: prepare("BEGIN IMMEDIATE"),
            commit: prepare("COMMIT"),
            rollback: prepare("ROLLBACK"),
            save: prepare("SAVEPOINT unit"),
            release: prepare("RELEASE unit"),
            undo: prepare("ROLLBACK TO unit"),
            insert: prepare(
                "INSERT INTO calls (id, run, turn, idx, tool, digest, created, state, version, epoch, due, delivered, \
                 lease, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) \
                 ON CONFLICT DO NOTHING",
            ),
            current: prepare(
                "SELECT version, run = ?2 AND turn IS ?3 AND idx = ?4 FROM calls WHERE id = ?1",
            ),
            holder: prepare("SELECT id FROM calls WHERE run = ?1 AND turn = ?2 AND idx = ?3"),
            // This statement sets as few columns as possible, because an index on a column that is not set needs no
            // update. An acknowledgement is never undone.
            update: prepare(
                "UPDATE calls SET state = ?8, version = ?9, epoch = ?10, due = ?11, delivered = delivered OR ?12, \
                 lease = ?13, body = ?14 WHERE id = ?1 AND version = ?15 AND run = ?2 AND turn IS ?3 AND idx = ?4 AND tool = ?5 \
                 AND digest = ?6 AND created = ?7",
            ),
            update_all: prepare(
                "UPDATE calls SET tool = ?2, digest = ?3, created = ?4, state = ?5, version = ?6, epoch = ?7, due = ?8, \
                 delivered = delivered OR ?9, lease = ?10, body = ?11 WHERE id = ?1",
            ),
            add_entry: prepare("INSERT INTO events (call, number, body) VALUES (?1, ?2, ?3)"),
            renew: prepare(
                "UPDATE calls SET lease = ?3, due = ?4 WHERE id = ?1 AND epoch = ?2 AND state = ?5",
            ),
            lease: prepare(
                "SELECT lease FROM calls WHERE id = ?1 AND version = ?2 AND lease IS NOT NULL",
            ),
            acknowledge: prepare("UPDATE calls SET delivered = 1 WHERE id = ?1"),
            document: prepare("SELECT version FROM documents WHERE key = ?1"),
            put_document: prepare(
                "INSERT INTO documents (key, version, text) VALUES (?1, ?2, ?3) \
                 ON CONFLICT (key) DO UPDATE SET version = excluded.version, text = excluded.text",
            ),
            remove_document: prepare("DELETE FROM documents WHERE key = ?1"),
            name,
        }
    }

    pub fn begin(&mut self) -> Result<(), StoreError> {
        self.name.refuse_replaced()?;
        execute(&self.name, &mut self.begin, [])?;
        self.refuse_changed_schema()
    }

    /// Begins a transaction; returns `false` at once if another program is writing.
    pub fn begin_at_once(&mut self) -> Result<bool, StoreError> {
        self.name.refuse_replaced()?;
        match self.begin.execute([]) {
            Ok(_) => self.refuse_changed_schema().map(|()| true),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(false),
            Err(error) => Err(self.name.failure("be written", error)),
        }
    }

    /// Undoes the transaction if another program has added triggers to the file, or removed some, since the file was
    /// opened. A trigger affects this connection only after the connection sees a new schema version, which costs
    /// almost nothing to query.
    fn refuse_changed_schema(&mut self) -> Result<(), StoreError> {
        let number = find_row(&self.name, &mut self.schema, [], |row| row.get::<_, i64>(0));
        let looked_at = number.and_then(|number| {
            if number.is_none() || number != self.seen.get() {
                refuse_foreign(self.connection, CURRENT, &self.name)?;
                self.seen.set(number);
            }
            Ok(())
        });
        looked_at.inspect_err(|_| self.rollback())
    }

    pub fn commit(&mut self) -> Result<(), StoreError> {
        execute(&self.name, &mut self.commit, [])
    }

    /// Rolls the transaction back. After some failures SQLite has already done so, and then reports that there is
    /// nothing to roll back.
    pub fn rollback(&mut self) {
        let _ = self.rollback.execute([]);
    }

    /// Runs a part of the transaction. After a conflict, only this part is undone. After any other failure the whole
    /// transaction has to be undone, and SQLite may have done so already.
    pub fn within(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<(), CommitError>,
    ) -> Result<(), CommitError> {
        execute(&self.name, &mut self.save, [])?;
        let done = work(self);
        match &done {
            Ok(()) => {}
            Err(error) if error.is_conflict() => execute(&self.name, &mut self.undo, [])?,
            Err(_) => return done,
        }
        execute(&self.name, &mut self.release, [])?;
        done
    }

    pub fn write(&mut self, unit: &TransactionRows) -> Result<(), CommitError> {
        // The conditions are checked first, so that a failed one leaves nothing to undo.
        unit.documents.iter().try_for_each(|document| self.expect_document(document))?;
        unit.calls.iter().try_for_each(|call| match call.expects {
            None => self.add(call),
            Some(expected) => {
                if call.takes_from_owner {
                    self.expect_lapsed(call.id, expected, unit.now)?;
                }
                self.change(call, expected)
            }
        })?;
        Ok(unit.documents.iter().try_for_each(|document| self.write_document(document))?)
    }

    /// Refuses to take a call from its owner while its lease is valid. `version` is the version that the write expects.
    fn expect_lapsed(
        &mut self,
        call: CallId,
        version: u64,
        now: Timestamp,
    ) -> Result<(), CommitError> {
        let values = params![call.as_bytes(), number(version)];
        let lease = find_row(&self.name, &mut self.lease, values, |row| row.get::<_, String>(0))?;
        let until = lease.map(|lease| lease.parse::<Timestamp>()).transpose();
        let until = until.map_err(|_| StoreError::damaged(call, "its lease is not a time"))?;
        match until.filter(|until| *until > now) {
            Some(until) => Err(CommitError::Leased { call, until }),
            None => Ok(()),
        }
    }

    fn add(&mut self, call: &CallRow) -> Result<(), CommitError> {
        let place = &call.place;
        let added = self.insert.execute(params![
            call.id.as_bytes(),
            place.run,
            place.turn.map(number),
            place.index,
            call.tool,
            call.digest,
            call.created,
            call.state,
            call.version,
            call.epoch,
            call.due,
            call.delivered,
            call.lease,
            call.body,
        ]);
        match added.map_err(|error| self.name.failure("be written", error))? {
            0 => Err(self.why_not_added(call)?),
            _ => Ok(self.add_entries(call)?),
        }
    }

    /// Returns why a new call could not be added: the store has a call with its id or its slot.
    fn why_not_added(&mut self, call: &CallRow) -> Result<CommitError, StoreError> {
        if let Some((version, ..)) = self.current(call)? {
            let (call, found) = (call.id, Some(version));
            return Ok(CommitError::Call { call, expected: None, found });
        }
        let place = &call.place;
        let values = params![place.run, place.turn.map(number), place.index];
        let holder = find_row(&self.name, &mut self.holder, values, |row| row.get(0))?;
        match holder {
            Some(holder) => Ok(CommitError::CallSlot {
                place: place.clone(),
                holder: CallId::from_bytes(holder),
            }),
            None => Err(self.name.says(
                StoreErrorKind::Corrupt,
                format_args!("refuses call {} without a reason", call.id),
            )),
        }
    }

    fn change(&mut self, call: &CallRow, expected: u64) -> Result<(), CommitError> {
        let place = &call.place;
        let changed = self.update.execute(params![
            call.id.as_bytes(),
            place.run,
            place.turn.map(number),
            place.index,
            call.tool,
            call.digest,
            call.created,
            call.state,
            call.version,
            call.epoch,
            call.due,
            call.delivered,
            call.lease,
            call.body,
            number(expected),
        ]);
        if changed.map_err(|error| self.name.failure("be written", error))? == 0 {
            self.change_all(call, expected)?;
        }
        Ok(self.add_entries(call)?)
    }

    /// Writes the whole row, or returns why the change conflicts. This is the slow path of a change.
    fn change_all(&mut self, call: &CallRow, expected: u64) -> Result<(), CommitError> {
        let current = self.current(call)?;
        let version = current.map(|(version, _)| version);
        let Some((_, same_place)) = current.filter(|_| version == Some(expected)) else {
            let (call, expected) = (call.id, Some(expected));
            return Err(CommitError::Call { call, expected, found: version });
        };
        if !same_place {
            return Err(StoreError::moved(call.id).into());
        }
        let values = params![
            call.id.as_bytes(),
            call.tool,
            call.digest,
            call.created,
            call.state,
            call.version,
            call.epoch,
            call.due,
            call.delivered,
            call.lease,
            call.body,
        ];
        Ok(execute(&self.name, &mut self.update_all, values)?)
    }

    /// Reads the current version of a call, and whether its slot in the store is that of `call`.
    fn current(&mut self, call: &CallRow) -> Result<Option<(u64, bool)>, StoreError> {
        let place = &call.place;
        let values = params![call.id.as_bytes(), place.run, place.turn.map(number), place.index];
        find_row(&self.name, &mut self.current, values, |row| {
            Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?))
        })
    }

    fn add_entries(&mut self, call: &CallRow) -> Result<(), StoreError> {
        call.entries.iter().try_for_each(|entry| {
            let values = params![call.id.as_bytes(), entry.number, entry.body];
            execute(&self.name, &mut self.add_entry, values).map(drop)
        })
    }

    pub fn renew(
        &mut self,
        call: CallId,
        epoch: u64,
        lease: &str,
        due: i64,
    ) -> Result<(), CommitError> {
        let values = params![call.as_bytes(), number(epoch), lease, due, State::Running.name()];
        let renewed = self.renew.execute(values);
        match renewed.map_err(|error| self.name.failure("be written", error))? {
            0 => Err(CommitError::Fenced { call, epoch }),
            _ => Ok(()),
        }
    }

    pub fn acknowledge(&mut self, call: CallId) -> Result<(), CommitError> {
        let acknowledged = self.acknowledge.execute([call.as_bytes()]);
        match acknowledged.map_err(|error| self.name.failure("be written", error))? {
            0 => Err(CommitError::NoCall { call }),
            _ => Ok(()),
        }
    }

    fn expect_document(&mut self, write: &DocumentWrite) -> Result<(), CommitError> {
        let DocumentWrite { key, expects, .. } = write;
        let found = find_row(&self.name, &mut self.document, [key], |row| row.get::<_, i64>(0))?
            .map(i64::cast_unsigned);
        if found == *expects {
            return write.next_version().map(drop).map_err(Into::into);
        }
        Err(CommitError::Document { key: key.clone(), expected: *expects, found })
    }

    fn write_document(&mut self, write: &DocumentWrite) -> Result<(), StoreError> {
        let DocumentWrite { key, expects, text } = write;
        match (text, expects) {
            (Some(text), _) => {
                let version = write.next_version()?;
                let values = params![key, number(version), text];
                execute(&self.name, &mut self.put_document, values)
            }
            (None, Some(_)) => execute(&self.name, &mut self.remove_document, [key]),
            // The document does not exist, so nothing is removed.
            (None, None) => Ok(()),
        }
    }
}

impl<'c> LazyStatement<'c> {
    fn get(&mut self) -> rusqlite::Result<&mut CachedStatement<'c>> {
        match &mut self.statement {
            Some(statement) => Ok(statement),
            empty => Ok(empty.insert(self.connection.prepare_cached(self.text)?)),
        }
    }

    fn execute(&mut self, values: impl Params) -> rusqlite::Result<usize> {
        self.get()?.execute(values)
    }
}

fn execute(
    name: &JournalFile,
    statement: &mut LazyStatement<'_>,
    values: impl Params,
) -> Result<(), StoreError> {
    statement.execute(values).map(drop).map_err(|error| name.failure("be written", error))
}

fn find_row<T>(
    name: &JournalFile,
    statement: &mut LazyStatement<'_>,
    values: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>, StoreError> {
    let row = statement.get().and_then(|it| it.query_row(values, read)).optional();
    row.map_err(|error| name.failure("be read", error))
}
