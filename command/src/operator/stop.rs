//! Why a command ends early, and with which exit code.

use std::error::Error;
use std::fmt::Display;
use std::io;

use toolwright::approval::{ApprovalError, KeyError};
use toolwright::journal::StoreError;

use crate::shown::printable;
use crate::{Exit, complain};

/// A command ends, for a reason that is printed.
#[derive(Debug)]
pub(crate) struct Stop {
    exit: Exit,
    /// None where all has been printed, or the reader has gone.
    words: Option<String>,
    /// Whether it was done, and could not be printed.
    is_unprinted: bool,
}

impl Stop {
    pub(crate) fn new(exit: Exit, words: impl Display) -> Self {
        Self { exit, words: Some(words.to_string()), is_unprinted: false }
    }

    /// What was asked for makes no sense.
    pub(crate) fn usage(words: impl Display) -> Self {
        Self::new(Exit::Usage, words)
    }

    /// Ends without a word, because all has been printed.
    pub(crate) fn after(exit: Exit) -> Self {
        Self { exit, words: None, is_unprinted: false }
    }

    /// The journal failed, so that it helps nothing to go on.
    pub(crate) fn is_the_end(&self) -> bool {
        self.exit == Exit::Failed && !self.is_unprinted
    }

    /// Whether it was done, and could not be printed.
    pub(crate) fn is_unprinted(&self) -> bool {
        self.is_unprinted
    }

    /// Prints why, and returns the exit code.
    pub(crate) fn report(self) -> Exit {
        match self.words {
            Some(words) => complain(self.exit, printable::lines(&words)),
            None => self.exit,
        }
    }

    /// What became of output that could not be written. Who reads may have had enough, as `head` has.
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

/// An error and what caused it.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_words = cause.to_string();
        // An error may repeat its cause for those who read no sources.
        if !words.ends_with(&cause_words) {
            words = format!("{words}: {cause_words}");
        }
        next = cause.source();
    }
    words
}
