//! A meddler writes into a journal behind the application's back: it damages a row, or adds a foreign trigger.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use rusqlite::{Connection, OptionalExtension as _, params};
use toolwright::CallId;
use toolwright::journal::CallRecord;

use crate::Sqlite;
use crate::script::{PIPE, RELAY};

/// Meddles with a store. A trigger may come and go while processes are alive; rows are damaged and restored only
/// while none is.
pub trait Meddles: Send + Sync {
    /// Makes a call of the journal unreadable. The number chooses the call; `None` if the journal has no suitable one.
    ///
    /// # Errors
    /// When the journal cannot be written.
    fn damage(&self, folder: &Path, number: u64) -> anyhow::Result<Option<Damage>>;

    /// Restores a damaged call, if nothing has changed it since.
    ///
    /// # Errors
    /// When something has changed it, or the journal cannot be written.
    fn mend(&self, folder: &Path, damage: &Damage) -> anyhow::Result<()>;

    /// Adds a trigger that counts each write of a call.
    ///
    /// # Errors
    /// When the journal cannot be written.
    fn add_trigger(&self, folder: &Path) -> anyhow::Result<()>;

    /// Removes the trigger.
    ///
    /// # Errors
    /// When the journal cannot be written.
    fn remove_trigger(&self, folder: &Path) -> anyhow::Result<()>;

    /// Returns how often the trigger has fired.
    ///
    /// # Errors
    /// When the journal cannot be read.
    fn marks_of_trigger(&self, folder: &Path) -> anyhow::Result<u64>;
}

/// A damaged call.
#[derive(Debug, Clone)]
pub struct Damage {
    /// The id of the call.
    pub call: CallId,
    /// The run of the call.
    pub run: String,
    /// The index of the call in its turn.
    pub index: u32,
    /// The row before it was damaged.
    whole: String,
    /// The damaged row.
    broken: String,
}

const ADD: &str = "CREATE TRIGGER IF NOT EXISTS foreign_hand AFTER UPDATE ON calls BEGIN \
                   INSERT INTO documents VALUES ('meddled/' || hex(randomblob(16)), 1, ''); END";

fn connect(folder: &Path) -> anyhow::Result<Connection> {
    let connection = Connection::open(folder.join("calls.db")).context("meddling")?;
    connection.busy_timeout(Duration::from_secs(30))?;
    Ok(connection)
}

impl Meddles for Sqlite {
    fn damage(&self, folder: &Path, number: u64) -> anyhow::Result<Option<Damage>> {
        let file = connect(folder)?;
        let count: i64 = file.query_row("SELECT count(*) FROM calls", [], |row| row.get(0))?;
        let Some(chosen) = number.checked_rem(count.unsigned_abs()) else { return Ok(None) };
        let sql = "SELECT id, body FROM calls ORDER BY id LIMIT 1 OFFSET ?1";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let found = file.query_row(sql, [i64::try_from(chosen)?], row).optional()?;
        let Some((id, whole)) = found else { return Ok(None) };
        let whole: String = whole;
        // The row may be damaged already.
        let Ok(record) = serde_json::from_str::<CallRecord>(&whole) else { return Ok(None) };
        // Calls that wait for an unreadable call are not tested here.
        if record.parent.is_some() || [RELAY, PIPE].contains(&&*record.tool) {
            return Ok(None);
        }
        let state = format!("\"state\":\"{}\"", record.state);
        let broken = match number % 2 {
            0 => whole.chars().take(whole.len() / 2).collect(),
            // The row looks as if a newer release had written it, with a state that this release does not know.
            _ => whole.replace(&state, "\"state\":\"resting\""),
        };
        let call = CallId::from_bytes(id);
        let damage =
            Damage { call, run: record.place.run, index: record.place.index, whole, broken };
        replace(&file, &damage, &damage.whole, &damage.broken)?;
        Ok(Some(damage))
    }

    fn mend(&self, folder: &Path, damage: &Damage) -> anyhow::Result<()> {
        replace(&connect(folder)?, damage, &damage.broken, &damage.whole)
    }

    fn add_trigger(&self, folder: &Path) -> anyhow::Result<()> {
        Ok(connect(folder)?.execute_batch(ADD)?)
    }

    fn remove_trigger(&self, folder: &Path) -> anyhow::Result<()> {
        Ok(connect(folder)?.execute_batch("DROP TRIGGER IF EXISTS foreign_hand")?)
    }

    fn marks_of_trigger(&self, folder: &Path) -> anyhow::Result<u64> {
        let sql = "SELECT count(*) FROM documents WHERE key >= 'meddled/' AND key < 'meddled0'";
        let count: i64 = connect(folder)?.query_row(sql, [], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }
}

fn replace(file: &Connection, damage: &Damage, from: &str, to: &str) -> anyhow::Result<()> {
    let sql = "UPDATE calls SET body = ?3 WHERE id = ?1 AND body = ?2";
    let changed = file.execute(sql, params![damage.call.as_bytes(), from, to])?;
    ensure!(changed == 1, "call {} was changed although it cannot be read", damage.call);
    Ok(())
}
