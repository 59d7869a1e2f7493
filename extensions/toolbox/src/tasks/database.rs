//! The SQLite file of a task list: its format, and its errors.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use toolwright::ToolError;

use crate::database::{self, Format, Problem};

const VERSION: i32 = FORMAT.version();

const FORMAT: Format = Format {
    // The letters `twtk` in ASCII.
    application: 0x7477_746b,
    tables: include_str!("1.sql"),
    changes: &[],
};

/// Why a task list cannot be opened.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum TaskStoreError {
    /// The file cannot be created.
    #[error("the task list `{}` cannot be made; its folder has to exist and to be writable", file.display())]
    Unmade {
        /// The path of the file.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// SQLite cannot use the file.
    #[error("the task list `{}` cannot be opened", file.display())]
    Database {
        /// The path of the file.
        file: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The file is not a task list.
    #[error("`{}` is not a task list, expected one or an unused name; name another file", file.display())]
    Foreign {
        /// The path of the file.
        file: PathBuf,
    },
    /// A later version of this crate has written the file.
    #[error("the task list `{}` has version {found}, expected at most {VERSION}; update the program", file.display())]
    Newer {
        /// The path of the file.
        file: PathBuf,
        /// The version of the file's format.
        found: i32,
    },
}
toolwright::unstable::debug_as_sentence!(TaskStoreError);

/// Opens a task list, or creates the file, which only its owner can read.
pub(super) fn open(file: &Path) -> Result<Connection, TaskStoreError> {
    database::open(file, &FORMAT).map_err(|problem| {
        let file = file.to_owned();
        match problem {
            Problem::Unmade(source) => TaskStoreError::Unmade { file, source },
            Problem::Database(source) => TaskStoreError::Database { file, source },
            Problem::Foreign => TaskStoreError::Foreign { file },
            Problem::Newer(found) => TaskStoreError::Newer { file, found },
        }
    })
}

/// Makes the error for a model when the list fails during a call.
pub(super) fn unavailable(error: rusqlite::Error) -> ToolError {
    let message = match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => "the disk of the task list is full; nothing changed",
        Some(rusqlite::ErrorCode::DatabaseBusy) => {
            "another process writes the task list for too long; nothing changed"
        }
        _ => "the task list cannot be used; nothing changed",
    };
    ToolError::new("tasks_unavailable", message).caused_by(error)
}
