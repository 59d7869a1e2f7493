//! Converts errors of rusqlite.

use rusqlite::{Error, ErrorCode};

use super::{ErrorClass, ToolError};

/// Only operators see the database's messages, because they may describe its tables. Needs the feature `rusqlite`.
#[cfg_attr(docsrs, doc(cfg(feature = "rusqlite")))]
impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        let (kind, message, class) = match (&error, error.sqlite_error_code()) {
            (Error::QueryReturnedNoRows, _) => {
                ("not_found", "nothing was found", ErrorClass::Final)
            }
            (_, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)) => (
                "busy",
                "another connection is using the database at the moment",
                ErrorClass::NotStarted { retry_after: None },
            ),
            (_, Some(ErrorCode::ConstraintViolation)) => (
                "constraint_violation",
                "the database refuses a value, such as one that exists already",
                ErrorClass::Invalid,
            ),
            _ => return Self::internal(error),
        };
        Self::new(kind, message).class(class).caused_by(error)
    }
}
