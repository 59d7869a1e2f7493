//! The answer of a sub-agent, made from the end of its run.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolwright::{Content, Output, ToolError};

use crate::events::RunEnd;
use crate::limits::share::SpentShare;

/// How the run of a sub-agent has ended: what the model that started it reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SubAgentAnswer {
    /// The name of the sub-agent.
    pub agent: String,
    /// How it ended: `text`, `output` or `terminal` with an answer; `limit`, `cancelled`, `guard_stopped`, `invalid_output` or
    /// `model_failed` without one.
    pub ended: String,
    /// The last answer of the sub-agent; empty if it ended without one.
    pub answer: String,
    /// The value that it ended in, where it has to end in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Why it ended without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How often models were asked for it, those of its own sub-agents included.
    pub turns: u32,
    /// How many tokens that took, as far as the providers say.
    pub tokens: u64,
    /// What that cost, where the prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
}

/// The answer of a sub-agent, and the sources of untrusted text that it has read.
pub(super) struct Answered {
    pub(super) answer: SubAgentAnswer,
    pub(super) sources: BTreeSet<String>,
}

impl Answered {
    /// Makes the output of the call that started the sub-agent. If the sub-agent has read untrusted text, that text may
    /// have dictated the answer, so the output is untrusted.
    pub(super) fn into_output(self) -> Result<Output, ToolError> {
        let Self { answer, sources } = self;
        let unwritten = |error: serde_json::Error| ToolError::internal(error);
        let text = serde_json::to_string(&answer).map_err(unwritten)?;
        let value = serde_json::to_value(&answer).map_err(unwritten)?;
        let output = Output::default().with(Content::json(text)).structured(value);
        Ok(match sources.is_empty() {
            true => output,
            false => {
                let read: Vec<&str> = sources.iter().map(String::as_str).collect();
                let source =
                    format!("agent `{}`, which has read {}", answer.agent, read.join(", "));
                // The answer names each source that the sub-agent read, because rules for the parent run check the
                // names of sources.
                sources.iter().fold(output.untrusted(&source), |it, read| it.also_untrusted(read))
            }
        })
    }
}

impl SubAgentAnswer {
    pub(super) fn of(agent: &str, end: &RunEnd, spent: SpentShare) -> Self {
        let (answer, reason) = match end {
            RunEnd::Text { text, cut_short: false } | RunEnd::Terminal { text, .. } => {
                (text.as_str(), None)
            }
            RunEnd::Text { text, .. } => (text.as_str(), Some(end.to_string())),
            RunEnd::Output { .. } => ("", None),
            _ => ("", Some(end.to_string())),
        };
        let output = match end {
            RunEnd::Output { value } => serde_json::from_str(value).ok(),
            _ => None,
        };
        Self {
            agent: agent.to_owned(),
            ended: end.name().to_owned(),
            answer: answer.to_owned(),
            output,
            reason,
            turns: spent.turns,
            tokens: spent.usage.usage.total(),
            cost: spent.usage.known_cost().map(|it| it.to_string()),
        }
    }
}
