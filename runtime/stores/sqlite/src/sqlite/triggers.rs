//! Checks the triggers of the file. Triggers act on every write, so a journal must have exactly the triggers of its
//! format version.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::failure::JournalFile;
use super::format;
use toolwright_journal::journal::{StoreError, StoreErrorKind};

/// The triggers of a file. Each name leads to the table and the SQL of the trigger.
type Triggers = BTreeMap<String, (String, String)>;

/// Refuses a file that has other triggers than a journal of its version, or lacks one of them. The connection has to be
/// in a transaction, because the queries must see one state of the file.
pub fn refuse_foreign(
    connection: &Connection,
    version: usize,
    name: &JournalFile,
) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| name.failure("be read", error);
    let (found, own) = (read(connection).map_err(failed)?, own(version).map_err(failed)?);
    if found == own {
        return Ok(());
    }
    let foreign = found.iter().filter(|(trigger, what)| own.get(*trigger) != Some(*what));
    let foreign = foreign.map(|(trigger, (table, _))| format!("{trigger:?} on {table:?}"));
    let foreign = foreign.collect::<Vec<_>>().join(", ");
    let words = match foreign.is_empty() {
        false => format!(
            "has triggers that are not its own: {foreign}. They change what is written, so that neither calls nor \
             decisions in it can be relied on, and nothing is written into it. Find out who writes to the file, compare \
             it with a backup, and remove them with `DROP TRIGGER`"
        ),
        true => {
            let missing = own.keys().filter(|trigger| !found.contains_key(*trigger));
            let missing = missing.map(|trigger| format!("{trigger:?}")).collect::<Vec<_>>();
            format!(
                "lacks triggers of its own, {}, without which histories can be changed: another program removed them, so that \
                 nothing is written into it. Find out who writes to the file, and restore it from a backup",
                missing.join(", ")
            )
        }
    };
    Err(name.says(StoreErrorKind::Invalid, words))
}

/// Returns the triggers that a new journal of this version has.
fn own(version: usize) -> rusqlite::Result<Triggers> {
    let connection = Connection::open_in_memory()?;
    format::make(&connection, version)?;
    read(&connection)
}

fn read(connection: &Connection) -> rusqlite::Result<Triggers> {
    let sql = "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger'";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    rows.collect()
}
