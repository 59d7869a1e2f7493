//! Why a command ends early, and its exit code.

use std::error::Error;
use std::fmt::Display;
use std::io;

use toolwright::approval::{ApprovalError, KeyError};
use toolwright::journal::StoreError;

use crate::shown::printable;
use crate::{Exit, complain};

/// The early end of a command, with the reason to print.
#[derive(Debug)]
pub(crate) struct Stop {
    exit: Exit,
    /// The reason to print; `None` if everything has been printed, or the reader has closed the output.
    words: Option<String>,
    /// Whether the command did its work but could not print the result.
    is_unprinted: bool,
}

impl Stop {
    pub(crate) fn new(exit: Exit, words: impl Display) -> Self {
        Self { exit, words: Some(words.to_string()), is_unprinted: false }
    }

    /// Makes the stop of a command whose command line is wrong.
    pub(crate) fn usage(words: impl Display) -> Self {
        Self::new(Exit::Usage, words)
    }

    /// Makes a stop without a message, because everything has been printed.
    pub(crate) fn after(exit: Exit) -> Self {
        Self { exit, words: None, is_unprinted: false }
    }

    /// Returns whether a command that decides about several calls ends here: the journal failed, or the decision could
    /// not be recorded.
    pub(crate) fn is_the_end(&self) -> bool {
        self.exit == Exit::Failed && !self.is_unprinted
    }

    /// Returns whether the command did its work but could not print the result.
    pub(crate) fn is_unprinted(&self) -> bool {
        self.is_unprinted
    }

    /// Prints the reason, and returns the exit code.
    pub(crate) fn report(self) -> Exit {
        match self.words {
            Some(words) => complain(self.exit, printable::lines(&words)),
            None => self.exit,
        }
    }

    /// Makes the stop after output could not be written. A reader that closes the output early, as `head` does, is no
    /// failure.
    pub(crate) fn unwritten(error: &io::Error) -> Self {
        let stop = match error.kind() {
            io::ErrorKind::BrokenPipe => Self::after(Exit::Success),
            _ => Self::new(Exit::Failed, format!("the result could not be written: {error}")),
        };
        Self { is_unprinted: true, ..stop }
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::new(Exit::Failed, error)
    }
}

impl From<KeyError> for Stop {
    fn from(error: KeyError) -> Self {
        let is_usage = matches!(
            error,
            KeyError::Name(_)
                | KeyError::NoConfiguration(_)
                | KeyError::FileName(_)
                | KeyError::Several { .. }
        );
        let exit = if is_usage { Exit::Usage } else { Exit::Key };
        Self::new(exit, chain(&error))
    }
}

impl From<ApprovalError> for Stop {
    fn from(error: ApprovalError) -> Self {
        let exit = match &error {
            ApprovalError::UnknownCall { .. } | ApprovalError::UnknownGrant { .. } => Exit::Missing,
            ApprovalError::Decided { .. }
            | ApprovalError::Generation { .. }
            | ApprovalError::Digest { .. }
            | ApprovalError::Altered { .. }
            | ApprovalError::NotShown { .. }
            | ApprovalError::OtherJournal { .. }
            | ApprovalError::Elsewhere { .. }
            | ApprovalError::Late { .. } => Exit::Lost,
            ApprovalError::OtherTool { .. }
            | ApprovalError::Terms { .. }
            | ApprovalError::Arguments { .. }
            | ApprovalError::Secrets { .. }
            | ApprovalError::Secret { .. }
            | ApprovalError::Unseen { .. }
            | ApprovalError::Subject { .. } => Exit::Usage,
            ApprovalError::Unverified(_) | ApprovalError::NotTheirs(_) => Exit::Key,
            _ => Exit::Failed,
        };
        Self::new(exit, chain(&error))
    }
}

/// Formats an error and its causes on one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_words = cause.to_string();
        // Some errors already repeat their cause in their own message.
        if !words.ends_with(&cause_words) {
            words = format!("{words}: {cause_words}");
        }
        next = cause.source();
    }
    words
}
