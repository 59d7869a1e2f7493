//! The SQLite file of a change log: how it is created, and its errors.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use toolwright::ToolError;

use crate::database::{self, Format, Problem};

const VERSION: i32 = FORMAT.version();

const FORMAT: Format = Format {
    // The letters `twcl` in ASCII.
    application: 0x7477_636c,
    tables: include_str!("1.sql"),
    changes: &[],
};

/// Why a change log cannot be opened.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ChangeLogError {
    /// The file cannot be created.
    #[error("the change log `{}` cannot be made; its folder has to exist and to be writable", file.display())]
    Unmade {
        /// The path of the file.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// SQLite cannot use the file.
    #[error("the change log `{}` cannot be opened", file.display())]
    Database {
        /// The path of the file.
        file: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The file is not a change log.
    #[error("`{}` is not a change log, expected one or an unused name; name another file", file.display())]
    Foreign {
        /// The path of the file.
        file: PathBuf,
    },
    /// A later version of this crate has written the file.
    #[error("the change log `{}` has version {found}, expected at most {VERSION}; update the program", file.display())]
    Newer {
        /// The path of the file.
        file: PathBuf,
        /// The version of the file's format.
        found: i32,
    },
}
toolwright::unstable::debug_as_sentence!(ChangeLogError);

/// Opens a log, or creates the file, which only its owner can read.
pub(super) fn open(file: &Path) -> Result<Connection, ChangeLogError> {
    database::open(file, &FORMAT).map_err(|problem| {
        let file = file.to_owned();
        match problem {
            Problem::Unmade(source) => ChangeLogError::Unmade { file, source },
            Problem::Database(source) => ChangeLogError::Database { file, source },
            Problem::Foreign => ChangeLogError::Foreign { file },
            Problem::Newer(found) => ChangeLogError::Newer { file, found },
        }
    })
}

/// Makes the error for a model when the log fails during a call.
pub(super) fn unavailable(error: rusqlite::Error) -> ToolError {
    let message = "the log of changes cannot be used, so nothing could be undone";
    ToolError::new("change_log_unavailable", message).caused_by(error)
}
