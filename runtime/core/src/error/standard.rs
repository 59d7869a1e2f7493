//! Converts errors of the standard library and of crates that are always linked. The model reads the kind of the
//! failure; only operators see paths and the system's messages.

use std::io;

use super::{ErrorClass, Source, ToolError};

/// A boxed `ToolError` is taken out of its box; any other error becomes an internal error.
impl From<Source> for ToolError {
    fn from(source: Source) -> Self {
        source.downcast().map_or_else(Self::internal, |error| *error)
    }
}

/// Derives the class from the kind of the I/O error. A busy file or too many open files do not show what the tool did
/// before the error, so the class is [`ErrorClass::Transient`]: the tool may have acted. The class of an unreachable
/// host or network is the same, because an established connection can fail with that error, after the request was sent.
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
            ErrorKind::ConnectionRefused => {
                ("unreachable", "the other side could not be reached", not_started)
            }
            ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown => {
                ("unreachable", "the other side could not be reached", ErrorClass::Transient)
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

/// Returns whether the error is `ENFILE` or `EMFILE`. The standard library has no kind for these errors. They have
/// these numbers on every Unix.
fn is_out_of_files(error: &io::Error) -> bool {
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}

/// Allows `Infallible` as the error type of a tool that cannot fail.
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
