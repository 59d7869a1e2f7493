//! Describes SQLite's errors, and says what an operator has to do about them. Messages repeat no text of a row.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::ErrorCode;

use super::identity::Identity;
use toolwright_journal::journal::{StoreError, StoreErrorKind};

/// The path of a journal's file, which error messages name, and the identity of the file.
#[derive(Debug, Clone)]
pub struct JournalFile(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    /// The identity of the file when this process opened it.
    identity: Option<Identity>,
}

impl JournalFile {
    pub fn new(path: PathBuf) -> Self {
        let identity = Identity::of(&path);
        Self(Arc::new(Inner { path, identity }))
    }

    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Fails if the file was deleted or replaced since it was opened. This only looks up the path, which costs little
    /// compared with a commit or a query.
    pub fn refuse_replaced(&self) -> Result<(), StoreError> {
        let now = Identity::of(self.path());
        if now == self.0.identity {
            return Ok(());
        }
        let found = match now {
            None => "was deleted or moved away",
            Some(_) => "was replaced by another file",
        };
        Err(self.says(StoreErrorKind::Invalid, format_args!(
            "{found} while this process has it open: what is written now would be lost, so that nothing is written or read. Put \
             the file back, or start the process again on the journal that counts"
        )))
    }

    /// Makes an error with the journal's file name, followed by `words`.
    pub fn says(&self, kind: StoreErrorKind, words: impl std::fmt::Display) -> StoreError {
        StoreError::new(kind, format!("journal `{}` {words}", self.path().display()))
    }

    /// Makes the error of an operation that failed; `attempt` names it, such as `be written`.
    pub fn failure(&self, attempt: &str, error: rusqlite::Error) -> StoreError {
        let words = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                "is locked: another program held it for too long. End what keeps it open for writing, and try again"
            }
            Some(ErrorCode::DiskFull) => {
                "has no room left: nothing of the change was written. Make room on its disk, and try again"
            }
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                "is read-only: the user who runs the program must be allowed to write the file and its folder"
            }
            Some(ErrorCode::DatabaseCorrupt) => {
                "is damaged. Restore it from a backup, or move it and the files beside it away to begin another"
            }
            Some(ErrorCode::NotADatabase) => {
                "is no SQLite file, or is damaged at its beginning. Name another file, or move this one away"
            }
            Some(ErrorCode::CannotOpen) => {
                "cannot be opened: the folder must be there, and file and folder must be writable"
            }
            _ => {
                let words = format!("cannot {attempt}: {error}");
                return self.says(kind(&error), words).with_source(error);
            }
        };
        self.says(kind(&error), words).with_source(error)
    }
}

/// Classifies an error of SQLite by what a caller can do about it.
fn kind(error: &rusqlite::Error) -> StoreErrorKind {
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::OutOfMemory
            | ErrorCode::OperationInterrupted
            | ErrorCode::OperationAborted
            | ErrorCode::SchemaChanged
            | ErrorCode::FileLockingProtocolFailed,
        ) => StoreErrorKind::Unavailable,
        Some(ErrorCode::DiskFull) => StoreErrorKind::Full,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreErrorKind::Corrupt,
        Some(_) => StoreErrorKind::Invalid,
        // The error does not come from SQLite: a row contains a value that no row of a journal can have.
        None => StoreErrorKind::Corrupt,
    }
}
