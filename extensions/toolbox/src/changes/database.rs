//! The SQLite file of a change log: how it comes to be, and its errors.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use toolwright::ToolError;

/// How long to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(5);

/// Says that a file of SQLite is a change log: `twcl` in ASCII.
const APPLICATION: i32 = 0x7477_636c;

const VERSION: i32 = 1;

/// Why a change log cannot be opened.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ChangeLogError {
    /// The file cannot be made.
    #[error("the change log `{}` cannot be made; its folder has to exist and to be writable", file.display())]
    Unmade {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// SQLite cannot use the file.
    #[error("the change log `{}` cannot be opened", file.display())]
    Database {
        /// The file.
        file: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file is something else.
    #[error("`{}` is no change log, expected one or a name that is not used; name another file", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
    },
    /// A later version of this crate has written the file.
    #[error("the change log `{}` has version {found}, expected at most {VERSION}; update the program", file.display())]
    Newer {
        /// The file.
        file: PathBuf,
        /// Its version.
        found: i32,
    },
}
toolwright::unstable::debug_as_sentence!(ChangeLogError);

/// Opens a log; makes the file where there is none, readable by its owner alone.
pub(super) fn open(file: &Path) -> Result<Connection, ChangeLogError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(file) {
        Err(source) if source.kind() != ErrorKind::AlreadyExists => {
            return Err(ChangeLogError::Unmade { file: file.to_owned(), source });
        }
        _ => {}
    }
    let failed = |source| ChangeLogError::Database { file: file.to_owned(), source };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file, flags).map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    let (application, version) = identity(&connection).map_err(failed)?;
    match (application, version) {
        (APPLICATION, VERSION) | (0, 0) => {}
        (APPLICATION, found) => {
            return Err(ChangeLogError::Newer { file: file.to_owned(), found });
        }
        _ => return Err(ChangeLogError::Foreign { file: file.to_owned() }),
    }
    match prepare(&mut connection).map_err(failed)? {
        true => Ok(connection),
        false => Err(ChangeLogError::Foreign { file: file.to_owned() }),
    }
}

fn identity(connection: &Connection) -> rusqlite::Result<(i32, i32)> {
    let application = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    Ok((application, connection.pragma_query_value(None, "user_version", |row| row.get(0))?))
}

/// Sets the connection up, and makes the tables of a new log; `false` where the file has other tables.
fn prepare(connection: &mut Connection) -> rusqlite::Result<bool> {
    // Takes effect in an empty file alone.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have made them by now.
    if identity(&transaction)? == (0, 0) {
        let tables: i64 =
            transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        if tables > 0 {
            return Ok(false);
        }
        transaction.execute_batch(include_str!("1.sql"))?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()?;
    Ok(true)
}

/// What a model is told when the log fails under a call.
pub(super) fn unavailable(error: rusqlite::Error) -> ToolError {
    let message = "the log of changes cannot be used, so nothing could be undone";
    ToolError::new("change_log_unavailable", message).caused_by(error)
}
