//! What a guard can decide.

/// What a guard decides about something that has not happened yet: what a user says, or a request to a model.
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
    /// Lets it through.
    Continue,
    /// Lets something else through in its place.
    #[non_exhaustive]
    Change {
        /// What.
        to: C,
        /// Why.
        reason: String,
    },
    /// Ends the run.
    #[non_exhaustive]
    Stop {
        /// Why.
        reason: String,
    },
}

impl<C> BeforeDecision<C> {
    /// Lets something else through, for this reason.
    pub fn change(to: impl Into<C>, reason: impl Into<String>) -> Self {
        Self::Change { to: to.into(), reason: reason.into() }
    }

    /// Ends the run, for this reason.
    pub fn stop(reason: impl Into<String>) -> Self {
        Self::Stop { reason: reason.into() }
    }
}

/// What a guard decides about something that the model has said: an answer, or the end of a run.
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
    /// Lets it through.
    Continue,
    /// Lets something else through in its place.
    #[non_exhaustive]
    Change {
        /// What.
        to: C,
        /// Why.
        reason: String,
    },
    /// Sends it back: the model reads these words as the user's and answers again. Its answer counts as a turn, and no call of it
    /// runs.
    #[non_exhaustive]
    AskAgain {
        /// What the model reads.
        words: String,
    },
    /// Ends the run.
    #[non_exhaustive]
    Stop {
        /// Why.
        reason: String,
    },
}

impl<C> AfterDecision<C> {
    /// Lets something else through, for this reason.
    pub fn change(to: impl Into<C>, reason: impl Into<String>) -> Self {
        Self::Change { to: to.into(), reason: reason.into() }
    }

    /// Sends it back with these words.
    pub fn ask_again(words: impl Into<String>) -> Self {
        Self::AskAgain { words: words.into() }
    }

    /// Ends the run, for this reason.
    pub fn stop(reason: impl Into<String>) -> Self {
        Self::Stop { reason: reason.into() }
    }
}
