//! Decisions of guards.

/// A guard's decision about something that has not happened yet: a message of the user, or a request to a model.
///
/// ```
/// use toolwright_agent::{BeforeDecision, Prompt, UserPrompt};
///
/// fn in_english(prompt: &UserPrompt) -> BeforeDecision<Prompt> {
///     match prompt.text.is_ascii() {
///         true => BeforeDecision::Continue,
///         false => BeforeDecision::stop("the shop reads English alone"),
///     }
/// }
/// # let _ = in_english;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub enum BeforeDecision<C> {
    /// Lets the value through.
    Continue,
    /// Lets another value through instead.
    #[non_exhaustive]
    Change {
        /// The replacement, or the change of the request.
        to: C,
        /// The reason for the change.
        reason: String,
    },
    /// Ends the run.
    #[non_exhaustive]
    Stop {
        /// The reason for the end.
        reason: String,
    },
}

impl<C> BeforeDecision<C> {
    /// Lets `to` through in place of the value, for this reason.
    pub fn change(to: impl Into<C>, reason: impl Into<String>) -> Self {
        Self::Change { to: to.into(), reason: reason.into() }
    }

    /// Ends the run, for this reason.
    pub fn stop(reason: impl Into<String>) -> Self {
        Self::Stop { reason: reason.into() }
    }
}

/// A guard's decision about something that the model has said: an answer, or the end of a run.
///
/// ```
/// use toolwright_agent::{AfterDecision, EndingRun};
///
/// fn is_signed(run: &EndingRun) -> AfterDecision<String> {
///     match run.text().ends_with("Yours, the shop.") {
///         true => AfterDecision::Continue,
///         false => AfterDecision::ask_again("End with: Yours, the shop."),
///     }
/// }
/// # let _ = is_signed;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub enum AfterDecision<C> {
    /// Lets the value through.
    Continue,
    /// Lets another value through instead.
    #[non_exhaustive]
    Change {
        /// The replacement, or the change of the answer.
        to: C,
        /// The reason for the change.
        reason: String,
    },
    /// Sends the value back: the model reads the words as a message of the user, and answers again. An answer that is
    /// sent back counts as a turn, and none of its calls runs. If the end of a run by a terminal tool is sent back, the
    /// tool has run already. If more values are sent back than
    /// [`max_corrections`](crate::AgentBuilder::max_corrections) allows, the run ends.
    #[non_exhaustive]
    AskAgain {
        /// The message that the model reads.
        words: String,
    },
    /// Ends the run.
    #[non_exhaustive]
    Stop {
        /// The reason for the end.
        reason: String,
    },
}

impl<C> AfterDecision<C> {
    /// Lets `to` through in place of the value, for this reason.
    pub fn change(to: impl Into<C>, reason: impl Into<String>) -> Self {
        Self::Change { to: to.into(), reason: reason.into() }
    }

    /// Sends the value back to the model with this message.
    pub fn ask_again(words: impl Into<String>) -> Self {
        Self::AskAgain { words: words.into() }
    }

    /// Ends the run, for this reason.
    pub fn stop(reason: impl Into<String>) -> Self {
        Self::Stop { reason: reason.into() }
    }
}
