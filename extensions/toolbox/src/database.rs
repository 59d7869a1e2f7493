//! Opens the SQLite files of this crate: creates a missing file, and refuses a file of another program or of a later
//! version.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

/// How long a statement waits while another process writes.
const PATIENCE: Duration = Duration::from_secs(5);

/// The format of one kind of file.
pub(crate) struct Format {
    /// The number that identifies the kind of file: four ASCII letters.
    pub(crate) application: i32,
    /// The statements that create the tables of the first version.
    pub(crate) tables: &'static str,
    /// The statements that upgrade from each version to the next.
    pub(crate) changes: &'static [&'static str],
}

impl Format {
    /// Returns the version of the format that this release writes.
    pub(crate) const fn version(&self) -> i32 {
        // The conversion cannot overflow, because there are only a few changes.
        1 + self.changes.len() as i32
    }
}

/// The reason why a file cannot be opened.
pub(crate) enum Problem {
    /// The file cannot be created.
    Unmade(io::Error),
    /// SQLite cannot use the file.
    Database(rusqlite::Error),
    /// The file is not of the kind that the format describes.
    Foreign,
    /// A later version of this crate has written the file. The field is the version of its format.
    Newer(i32),
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

/// Opens a file, or creates one that only its owner can read.
pub(crate) fn open(file: &Path, format: &Format) -> Result<Connection, Problem> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(file) {
        Err(source) if source.kind() != ErrorKind::AlreadyExists => {
            return Err(Problem::Unmade(source));
        }
        _ => {}
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(PATIENCE)?;
    match identity(&connection)? {
        // Check before the file is configured, which would change a file of another program.
        (0, 0) if has_tables(&connection)? => {
            // Another process may have created the tables since the identity was read.
            if identity(&connection)?.0 != format.application {
                return Err(Problem::Foreign);
            }
        }
        (0, 0) => {}
        (application, found) if application == format.application => {
            if found > format.version() {
                return Err(Problem::Newer(found));
            }
        }
        _ => return Err(Problem::Foreign),
    }
    match prepare(&mut connection, format)? {
        true => Ok(connection),
        false => Err(Problem::Foreign),
    }
}

fn identity(connection: &Connection) -> rusqlite::Result<(i32, i32)> {
    let application = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    Ok((application, connection.pragma_query_value(None, "user_version", |row| row.get(0))?))
}

fn has_tables(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
}

/// Configures the connection, creates the tables of a new file, and upgrades those of an older file. Returns `false` if
/// the file has tables and no version, because it then belongs to another program.
fn prepare(connection: &mut Connection, format: &Format) -> rusqlite::Result<bool> {
    // This setting has an effect only in an empty file.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Check again: another process may have created the tables meanwhile.
    if identity(&transaction)? == (0, 0) {
        if has_tables(&transaction)? {
            return Ok(false);
        }
        transaction.execute_batch(format.tables)?;
        transaction.pragma_update(None, "application_id", format.application)?;
        transaction.pragma_update(None, "user_version", 1)?;
    }
    let (_, found) = identity(&transaction)?;
    let made = usize::try_from(found - 1).unwrap_or(usize::MAX);
    for change in format.changes.iter().skip(made) {
        transaction.execute_batch(change)?;
    }
    if found < format.version() {
        transaction.pragma_update(None, "user_version", format.version())?;
    }
    transaction.commit()?;
    Ok(true)
}
