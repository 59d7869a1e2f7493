//! The board is one SQLite file. This module opens the file and migrates it to the present schema. Each change is one
//! statement or one transaction.

mod cards;
mod claims;
mod comments;
mod criteria;
mod moves;
mod tickets;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, TransactionBehavior};
use toolwright::ToolError;

pub use self::cards::Card;
pub use self::claims::{Claim, Slice, SliceEnd};
pub use self::comments::LONGEST_COMMENT;
pub use self::moves::{AGENT, Move};
use crate::ticket::State;

/// The migrations, each from one schema version to the next.
const MIGRATIONS: [&str; 2] = [include_str!("board/1.sql"), include_str!("board/2.sql")];

/// How long a statement waits for another process to release the write lock.
const PATIENCE: Duration = Duration::from_secs(5);

/// The board, stored in one file. Every change is one transaction.
#[derive(Debug)]
pub struct Board {
    path: PathBuf,
    connection: Mutex<Connection>,
}

/// Why the board refused an operation or failed.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    #[error("the board `{}` cannot be opened; name a file in a folder that is there, or make one with `board init`", .path.display())]
    Unopened { path: PathBuf, source: rusqlite::Error },
    #[error("the board `{}` has schema {found}, expected at most {}; open it with a newer release", .path.display(), MIGRATIONS.len())]
    Newer { path: PathBuf, found: i64 },
    #[error("there is no {what} {id}; see `board list`")]
    Missing { what: &'static str, id: String },
    #[error("Invalid transition: {from} → {to}")]
    InvalidTransition { from: State, to: State },
    #[error("the ticket was in {shown} when it was shown, and is in {found} now; look at it again")]
    MovedMeanwhile { shown: State, found: State },
    #[error("not every acceptance criterion is met: {unmet}")]
    UnmetCriteria { unmet: String },
    #[error("a comment has {found} characters, expected 1 to {LONGEST_COMMENT}")]
    CommentLength { found: usize },
    #[error("ticket {ticket} is worked on by another runner since: its claim {epoch} is over")]
    ClaimLost { ticket: i64, epoch: i64 },
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
}

impl From<BoardError> for ToolError {
    fn from(error: BoardError) -> Self {
        let kind = match error {
            BoardError::Database(error) => return error.into(),
            BoardError::InvalidTransition { .. } | BoardError::MovedMeanwhile { .. } => {
                "invalid_transition"
            }
            BoardError::UnmetCriteria { .. } => "criteria_not_met",
            BoardError::Missing { .. } => "not_found",
            BoardError::CommentLength { .. } => "invalid_comment",
            BoardError::ClaimLost { .. } => "claim_lost",
            BoardError::Unopened { .. } | BoardError::Newer { .. } => return Self::internal(error),
        };
        let message = error.to_string();
        let error = Self::new(kind, message);
        match kind {
            "criteria_not_met" => error.hint("run `check_criteria`, mend what it finds, and try again; where a person has to decide, ask by `comment_post`"),
            _ => error,
        }
    }
}

impl Board {
    /// Opens the file, creates it if it does not exist, and migrates it to the present schema.
    ///
    /// # Errors
    /// When it cannot be opened, was written by a newer release, or is not a board.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, BoardError> {
        let path = std::path::absolute(path.as_ref()).unwrap_or_else(|_| path.as_ref().to_owned());
        let unopened = |source| BoardError::Unopened { path: path.clone(), source };
        let mut connection = Connection::open(&path).map_err(unopened)?;
        connection.busy_timeout(PATIENCE).map_err(unopened)?;
        connection
            .execute_batch("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;")
            .map_err(unopened)?;
        let found = migrate(&mut connection).map_err(unopened)?;
        if usize::try_from(found).is_ok_and(|it| it > MIGRATIONS.len()) {
            return Err(BoardError::Newer { path, found });
        }
        Ok(Self { path, connection: Mutex::new(connection) })
    }

    /// Returns the absolute path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A transaction that a panic left open was rolled back when it was dropped.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a check and its writes as one transaction, which takes the write lock at its beginning. A deferred
    /// transaction takes the lock only at its first write, and fails without waiting if another process has it.
    fn transaction<T>(
        &self,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> Result<T, BoardError>,
    ) -> Result<T, BoardError> {
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let made = work(&transaction)?;
        transaction.commit()?;
        Ok(made)
    }
}

/// Migrates the file to the present schema, and returns its earlier version.
fn migrate(connection: &mut Connection) -> rusqlite::Result<i64> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if found < known {
        let done = usize::try_from(found).unwrap_or_default();
        for migration in &MIGRATIONS[done..] {
            transaction.execute_batch(migration)?;
        }
        transaction.pragma_update(None, "user_version", known)?;
        transaction.commit()?;
    }
    Ok(found)
}

/// Converts a time for storage, to milliseconds since 1970.
fn stored(time: Timestamp) -> i64 {
    time.as_millisecond()
}

/// Converts a stored time; a number out of range becomes 1970.
fn time(stored: i64) -> Timestamp {
    Timestamp::from_millisecond(stored).unwrap_or_default()
}
