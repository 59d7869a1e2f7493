//! Errors of the standard library and of crates that are always linked. The model reads the kind of the failure; only
//! operators see paths and the system's messages.

use std::io;

use super::{ErrorClass, Source, ToolError};

/// A boxed `ToolError` is unboxed; any other error is internal.
impl From<Source> for ToolError {
    fn from(source: Source) -> Self {
        source.downcast().map_or_else(Self::internal, |error| *error)
    }
}

/// Derives the class from the kind of failure. A busy file or too many open files says nothing about what the tool did
/// before, so the tool may have acted.
impl From<io::Error> for ToolError {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind;
        let not_started = ErrorClass::NotStarted { retry_after: None };
        let (kind, message, class) = match error.kind() {
            ErrorKind::NotFound => ("not_found", "no such file or directory", ErrorClass::Final),
            ErrorKind::PermissionDenied => {
                ("permission_denied", "permission denied", ErrorClass::Final)
            }
            ErrorKind::AlreadyExists => ("already_exists", "it exists already", ErrorClass::Final),
            ErrorKind::NotADirectory => {
                ("not_a_directory", "it is not a directory", ErrorClass::Final)
            }
            ErrorKind::IsADirectory => ("is_a_directory", "it is a directory", ErrorClass::Final),
            ErrorKind::InvalidData => {
                ("invalid_data", "the data is not what it should be", ErrorClass::Final)
            }
            ErrorKind::ConnectionRefused
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NetworkDown => {
                ("unreachable", "the other side could not be reached", not_started)
            }
            ErrorKind::TimedOut
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe => {
                ("connection_lost", "the connection was lost", ErrorClass::Transient)
            }
            ErrorKind::WouldBlock | ErrorKind::ResourceBusy | ErrorKind::ExecutableFileBusy => {
                ("busy", "another process is using it at the moment", ErrorClass::Transient)
            }
            _ if is_out_of_files(&error) => (
                "too_many_open_files",
                "too many files are open at the moment",
                ErrorClass::Transient,
            ),
            _ => ("io_error", "an input or output operation failed", ErrorClass::Final),
        };
        Self::new(kind, message).class(class).caused_by(error)
    }
}

/// Whether the error is `ENFILE` or `EMFILE`, for which the standard library has no kind; they have these numbers on
/// every Unix.
fn is_out_of_files(error: &io::Error) -> bool {
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}

/// Converts the error of a function that cannot fail.
impl From<std::convert::Infallible> for ToolError {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

macro_rules! internal_errors {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for ToolError {
            fn from(error: $error) -> Self {
                Self::internal(error)
            }
        }
    )*};
}

internal_errors! {
    std::fmt::Error,
    std::num::ParseFloatError,
    std::num::ParseIntError,
    std::num::TryFromIntError,
    std::str::Utf8Error,
    std::string::FromUtf8Error,
    serde_json::Error,
    tokio::task::JoinError,
}
