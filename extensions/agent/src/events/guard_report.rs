//! Reports of guards.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A guard's decision, other than to let something through unchanged. Readers of events and listeners get the report at
/// once. If a guard changes several requests for the same reason, they get only the first report. A recorded run stores
/// each report with the step that follows from it.
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
    /// The stage at which the guard looked.
    pub stage: GuardStage,
    /// The action that the guard took.
    pub action: GuardAction,
    /// The reason, in the guard's words; for [`GuardAction::SentBack`], the message that the model reads.
    pub reason: String,
}

/// The stage of a run at which a guard looks: what it looks at, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GuardStage {
    /// A message of the user, before the run takes the message.
    BeforeRun,
    /// A request, before the model gets the request.
    BeforeModel,
    /// A request, while the model answers.
    BesideModel,
    /// An answer of the model, before its calls run.
    AfterModel,
    /// The end of a run, before the end counts.
    AfterRun,
}

/// How a guard intervened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GuardAction {
    /// The guard changed the message, the request, the answer or the end.
    Changed,
    /// The guard sent the answer or the end back to the model, with a message.
    SentBack,
    /// The guard ended the run.
    Stopped,
    /// The guard panicked, took too long or made an impossible change: the run ended.
    Failed,
}

impl GuardAction {
    /// Whether the action ends the run.
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
