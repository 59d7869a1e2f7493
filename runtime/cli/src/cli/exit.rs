//! The outcome of a command, as the exit code of the process.

use std::process::ExitCode;
use toolwright_core::error_kind;

use toolwright_core::error::{ErrorClass, ToolError};

/// The result of a command. Converts into [`ExitCode`].
///
/// ```
/// use toolwright::cli::Exit;
///
/// assert_eq!(Exit::Usage.code(), 2);
/// assert_eq!(Exit::Signal(15).code(), 143);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// Exit code 0: the command has a result.
    Success,
    /// Exit code 1: the tool failed, or there is nothing to show.
    Failed,
    /// Exit code 2: the command line or the input is invalid.
    Usage,
    /// Exit code 3: a person must approve the call first, and the tool did not run.
    Approval,
    /// Exit code 70: the application itself is configured wrongly.
    Application,
    /// Exit code 128 plus the number of a signal: 130 after an interrupt, 143 after a request to terminate.
    Signal(u8),
}

impl Exit {
    /// Returns the exit code.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Approval => 3,
            Self::Application => 70,
            Self::Signal(number) => 128_u8.saturating_add(number),
        }
    }

    /// Returns the exit code for a failed call.
    pub(super) fn of(error: &ToolError) -> Self {
        match error.classified() {
            ErrorClass::Invalid => Self::Usage,
            ErrorClass::NotStarted { .. } => match error.kind() {
                error_kind::APPROVAL_REQUIRED => Self::Approval,
                error_kind::MISSING_SERVICE => Self::Application,
                _ => Self::Failed,
            },
            _ => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
