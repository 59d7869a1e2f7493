//! The end of a run.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::events::{GuardAction, GuardReport, GuardStage};
use crate::limits::Limit;
use crate::model::{ContextSize, ModelError};

/// How a run ended.
///
/// ```
/// use toolwright_agent::{RunEnd, Limit};
///
/// let ended = RunEnd::Limit(Limit::Turns { turns: 25 });
/// assert_eq!(serde_json::to_string(&ended)?, r#"{"ended":"limit","limit":"turns","turns":25}"#);
/// assert_eq!(ended.to_string(), "ended after 25 turns, the most that it may take");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ended", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEnd {
    /// A terminal tool succeeded: the run has done its task.
    #[non_exhaustive]
    Terminal {
        /// The name of the tool.
        tool: String,
        /// The answer of the tool, as the model would read it.
        text: String,
    },
    /// The model answered without calls.
    #[non_exhaustive]
    Text {
        /// The text of the model's last answer.
        text: String,
        /// Whether a limit on tokens cut the text short.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut_short: bool,
    },
    /// The run ended in a value of its output type.
    #[non_exhaustive]
    Output {
        /// The value, as JSON.
        value: String,
    },
    /// No answer was a value of the output type, and the limit of corrections is reached.
    #[non_exhaustive]
    InvalidOutput {
        /// How many answers were invalid.
        times: u32,
        /// The problems of the last invalid answer: one line for each problem, usually with its location as a JSON
        /// pointer.
        problems: Vec<String>,
    },
    /// A limit was reached.
    Limit(Limit),
    /// The run was cancelled.
    Cancelled,
    /// A guard ended the run, a guard failed, or guards sent back more answers than the limit of corrections allows.
    #[non_exhaustive]
    GuardStopped {
        /// The name of the guard.
        guard: String,
        /// The stage at which the guard looked.
        stage: GuardStage,
        /// The reason.
        reason: String,
        /// Whether the guard failed: it panicked, took too long or made an impossible change.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        has_failed: bool,
    },
    /// The model gave no answer or refused to answer, or the run has a limit on tokens or cost and the model does not
    /// report its usage or has no price.
    #[non_exhaustive]
    ModelFailed {
        /// The kind of the error, for programs.
        kind: String,
        /// The message of the error.
        message: String,
        /// The milliseconds after which the provider accepts another request, if it said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
        /// How large the request was, if it was too long for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_size: Option<ContextSize>,
    },
}

impl RunEnd {
    /// Whether the run ended in a value of its output type, or because no answer was such a value.
    pub(crate) fn is_of_value(&self) -> bool {
        matches!(self, Self::Output { .. } | Self::InvalidOutput { .. })
    }

    /// Whether the run ended with an answer: a text, a value or the success of a terminal tool.
    pub(crate) fn is_answer(&self) -> bool {
        matches!(self, Self::Text { .. } | Self::Terminal { .. } | Self::Output { .. })
    }

    /// Returns the name of this kind of end, as serde writes it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Terminal { .. } => "terminal",
            Self::Text { .. } => "text",
            Self::Output { .. } => "output",
            Self::InvalidOutput { .. } => "invalid_output",
            Self::Limit(_) => "limit",
            Self::Cancelled => "cancelled",
            Self::GuardStopped { .. } => "guard_stopped",
            Self::ModelFailed { .. } => "model_failed",
        }
    }

    /// Makes the end of a run that guards ended, or whose guard failed.
    pub(crate) fn guard_stopped(report: &GuardReport) -> Self {
        let GuardReport { guard, stage, action, reason } = report;
        let (guard, stage, reason) = (guard.clone(), *stage, reason.clone());
        Self::GuardStopped { guard, stage, reason, has_failed: *action == GuardAction::Failed }
    }

    pub(crate) fn model_failed(error: &ModelError) -> Self {
        let milliseconds = |it: Duration| u64::try_from(it.as_millis()).unwrap_or(u64::MAX);
        Self::ModelFailed {
            kind: error.kind().to_owned(),
            message: error.message().to_owned(),
            retry_after_ms: error.retry_after().map(milliseconds),
            context_size: error.context_size(),
        }
    }
}

impl fmt::Display for RunEnd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Terminal { tool, .. } => write!(formatter, "ended by `{tool}`"),
            Self::Text { cut_short: false, .. } => formatter.write_str("ended with a text"),
            Self::Text { cut_short: true, .. } => {
                formatter.write_str("ended with a text that a limit on tokens cut short")
            }
            Self::Output { .. } => formatter.write_str("ended in the value that was asked for"),
            Self::InvalidOutput { times: 1, problems } => write!(
                formatter,
                "ended because the answer is not the value that was asked for: {}",
                problems.join("; ")
            ),
            Self::InvalidOutput { times, problems } => write!(
                formatter,
                "ended because none of {times} answers is the value that was asked for; the last: {}",
                problems.join("; ")
            ),
            Self::Limit(limit) => write!(formatter, "ended after {limit}"),
            Self::Cancelled => formatter.write_str("cancelled"),
            Self::GuardStopped { guard, stage, reason, has_failed } => {
                let by = if *has_failed { "because of the failed guard" } else { "by the guard" };
                write!(formatter, "ended {by} `{guard}` {stage}: {reason}")
            }
            Self::ModelFailed { message, .. } => {
                write!(formatter, "ended because the model failed: {message}")
            }
        }
    }
}

/// Omits the texts, which may repeat a secret.
impl fmt::Debug for RunEnd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidOutput { times, .. } => {
                write!(formatter, "RunEnd(invalid output, {times} times)")
            }
            _ => write!(formatter, "RunEnd({self})"),
        }
    }
}
