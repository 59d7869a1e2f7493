//! The SQLite file of a store: its format and its errors.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use toolwright::ToolError;

use crate::database::{self, Format, Problem};

const VERSION: i32 = FORMAT.version();

const FORMAT: Format = Format {
    // The letters `twcx` in ASCII, for "toolwright context".
    application: 0x7477_6378,
    tables: include_str!("1.sql"),
    changes: &[include_str!("2.sql"), include_str!("3.sql")],
};

/// Why a store cannot be opened.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ContextStoreError {
    /// The file cannot be created.
    #[error("the store `{}` cannot be made; its folder has to exist and to be writable", file.display())]
    Unmade {
        /// The path of the file.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// SQLite cannot use the file.
    #[error("the store `{}` cannot be opened", file.display())]
    Database {
        /// The path of the file.
        file: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The file is not a context store.
    #[error("`{}` is not a store of texts, expected one or an unused name; name another file", file.display())]
    Foreign {
        /// The path of the file.
        file: PathBuf,
    },
    /// A later version of this crate has written the file.
    #[error("the store `{}` has version {found}, expected at most {VERSION}; update the program", file.display())]
    Newer {
        /// The path of the file.
        file: PathBuf,
        /// The version of the file's format.
        found: i32,
    },
}
toolwright::unstable::debug_as_sentence!(ContextStoreError);

/// Opens a store, or creates its file. On Unix, only the owner can read the file.
pub(super) fn open(file: &Path) -> Result<Connection, ContextStoreError> {
    database::open(file, &FORMAT).map_err(|problem| {
        let file = file.to_owned();
        match problem {
            Problem::Unmade(source) => ContextStoreError::Unmade { file, source },
            Problem::Database(source) => ContextStoreError::Database { file, source },
            Problem::Foreign => ContextStoreError::Foreign { file },
            Problem::Newer(found) => ContextStoreError::Newer { file, found },
        }
    })
}

/// Makes the error that a model gets when the store fails during a call.
pub(super) fn unavailable(error: rusqlite::Error) -> ToolError {
    let message = match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => "the disk of the store is full; nothing was written",
        Some(rusqlite::ErrorCode::DatabaseBusy) => {
            "another process writes the store for too long; nothing was written"
        }
        _ => "the store cannot be used; nothing was written",
    };
    ToolError::new("context_unavailable", message).caused_by(error)
}
