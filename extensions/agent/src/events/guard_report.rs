//! What a guard of an agent decided, where that is not to go on.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a guard decided, where that is not to go on. Readers of events and listeners get it at once; a recorded run has it with
/// the step that it led to.
///
/// ```
/// use toolwright_agent::{GuardReport, RunEvent};
///
/// fn in_words(event: &RunEvent) -> Option<String> {
///     match event {
///         RunEvent::Guard(GuardReport { guard, reason, .. }) => Some(format!("{guard}: {reason}")),
///         _ => None,
///     }
/// }
/// # let _ = in_words;
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GuardReport {
    /// The name of the guard.
    pub guard: String,
    /// Where it looked.
    pub stage: GuardStage,
    /// What it did.
    pub action: GuardAction,
    /// Why, in its own words; for [`GuardAction::SentBack`] these are the words that the model reads.
    pub reason: String,
}

/// Where a guard looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GuardStage {
    /// At what the user says, before the run takes it.
    BeforeRun,
    /// At a request, before the model gets it.
    BeforeModel,
    /// At a request, while the model answers.
    BesideModel,
    /// At an answer of the model, before anything comes of it.
    AfterModel,
    /// At the end of a run, before it counts.
    AfterRun,
}

/// What a guard did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GuardAction {
    /// It changed what it looked at.
    Changed,
    /// It sent the answer back to the model, with words.
    SentBack,
    /// It ended the run.
    Stopped,
    /// It panicked, took too long or made a change that cannot be: the run ended.
    Failed,
}

impl GuardAction {
    /// Whether the run ends with it.
    pub(crate) fn is_end(self) -> bool {
        matches!(self, Self::Stopped | Self::Failed)
    }
}

impl fmt::Display for GuardStage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::BeforeRun => "before the run",
            Self::BeforeModel => "before the model",
            Self::BesideModel => "beside the model",
            Self::AfterModel => "after the model",
            Self::AfterRun => "after the run",
        })
    }
}

impl fmt::Display for GuardAction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Changed => "changed",
            Self::SentBack => "sent back",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        })
    }
}

impl fmt::Display for GuardReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { guard, stage, action, reason } = self;
        write!(formatter, "the guard `{guard}` {stage} {action}: {reason}")
    }
}
