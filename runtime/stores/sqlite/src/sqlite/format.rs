//! Recognises journals and their format versions, and migrates older ones.

use rusqlite::{Connection, TransactionBehavior};

use super::failure::JournalFile;
use super::triggers::refuse_foreign;
use toolwright_journal::journal::{StoreError, StoreErrorKind};

/// The id in SQLite's header that marks the file as a journal: the letters `twjl`.
const APPLICATION: i64 = 0x7477_6a6c;

/// The migrations. Each one leads from a version to the next; the first makes version 1 from an empty file.
const MIGRATIONS: [&str; 3] = [include_str!("1.sql"), include_str!("2.sql"), include_str!("3.sql")];

/// The format version that this program writes.
const VERSION: i64 = MIGRATIONS.len() as i64;

/// The format version that this program writes, which is the number of migrations.
pub const CURRENT: usize = MIGRATIONS.len();

/// What a file was found to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundFormat {
    /// The file is empty.
    Empty,
    /// The file is a journal of this format version, which is current or older.
    Journal(usize),
}

/// Determines what the file is. Refuses files that are not journals, and journals of later versions. The connection has
/// to be in a transaction, because the queries must see one state of the file.
pub fn identify(connection: &Connection, name: &JournalFile) -> Result<FoundFormat, StoreError> {
    let number = |text: &str| {
        let read = connection.query_row(text, [], |row| row.get::<_, i64>(0));
        read.map_err(|error| name.failure("be read", error))
    };
    let application = number("PRAGMA application_id")?;
    let version = number("PRAGMA user_version")?;
    match (application, version) {
        (APPLICATION, 1..=VERSION) => {
            refuse_foreign(connection, version as usize, name)?;
            Ok(FoundFormat::Journal(version as usize))
        }
        (APPLICATION, _) if version > VERSION => Err(name.says(StoreErrorKind::Newer, format_args!(
            "is of version {version}, and this program reads versions up to {VERSION}: use a newer release"
        ))),
        (0, 0) if number("SELECT count(*) FROM sqlite_schema")? == 0 => Ok(FoundFormat::Empty),
        _ => Err(name.says(StoreErrorKind::Invalid, format_args!(
            "is an SQLite file of another program (application id {application:#x}, version {version}). Name another file"
        ))),
    }
}

/// Creates the tables and triggers of a journal of this version in an empty file.
pub fn make(connection: &Connection, version: usize) -> rusqlite::Result<()> {
    MIGRATIONS[..version].iter().try_for_each(|migration| connection.execute_batch(migration))
}

/// Migrates the file to the current version, all or nothing. If the file already has that version, this does not wait
/// for a writer.
pub fn migrate(
    connection: &mut Connection,
    found: FoundFormat,
    name: &JournalFile,
) -> Result<(), StoreError> {
    if found == FoundFormat::Journal(CURRENT) {
        return Ok(());
    }
    let failed = |error: rusqlite::Error| name.failure("be brought to its format", error);
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    // Another process may have migrated the file since it was identified.
    let done = match identify(&transaction, name)? {
        FoundFormat::Empty => 0,
        FoundFormat::Journal(version) => version,
    };
    for migration in &MIGRATIONS[done..] {
        transaction.execute_batch(migration).map_err(failed)?;
    }
    if done < MIGRATIONS.len() {
        transaction.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
        transaction.pragma_update(None, "user_version", VERSION).map_err(failed)?;
    }
    transaction.commit().map_err(failed)
}
