//! Prompts, which the agent reads before every conversation.

use serde::Deserialize;

use super::{Kind, Others, Refusal};

/// The front matter of a prompt.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prompt {
    #[serde(rename = "title")]
    _title: String,
    loading: Loading,
    /// Whether an agent may edit the prompt.
    #[serde(rename = "agent-modification")]
    agent_modification: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Loading {
    Always,
    Contextual,
}

impl Prompt {
    /// Returns whether every conversation begins with the prompt.
    pub fn is_always_loaded(&self) -> bool {
        self.loading == Loading::Always
    }
}

impl Kind for Prompt {
    const FOLDER: &'static str = "prompts";
    const INVALID: &'static str = "invalid_frontmatter";

    fn may_be_edited(&self, name: &str) -> Result<(), Refusal> {
        match self.agent_modification {
            true => Ok(()),
            false => {
                let message = format!(
                    "`{name}` is not to be edited by an agent: `agent-modification` is false"
                );
                Err(Refusal("agent_modification_disabled", message))
            }
        }
    }

    fn accept(&self, _: &Self, name: &str, _: &dyn Others) -> Result<(), Refusal> {
        // Refuse an edit that would forbid all later edits.
        self.may_be_edited(name)
    }
}
