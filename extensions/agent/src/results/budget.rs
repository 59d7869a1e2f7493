//! Limits how much of a tool's answer is sent to a model.

use std::collections::{BTreeMap, BTreeSet};

use super::tools::{READ, SEARCH};

/// The maximum number of characters of an answer that are sent, unless the application sets a limit.
const CHARACTERS: usize = 30_000;

/// A limit on how much of a tool's answer is sent to a model: 30,000 characters by default. Of a longer answer, the
/// model gets only the beginning and the end, or the shape if the answer is JSON. It also gets a handle by which it can
/// read, search and pass on the whole answer. The whole answer stays in the history, in events and in the journal.
///
/// ```
/// use toolwright_agent::{Agent, AnswerBudget, ScriptedModel};
///
/// let budget = AnswerBudget::characters(20_000).tool("read_file", 100_000).whole("ask_user").without_references("run_shell");
/// let agent = Agent::builder(ScriptedModel::new()).answer_budget(budget).build()?;
/// # let _ = agent;
/// # Ok::<(), toolwright_agent::AgentError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerBudget {
    characters: Option<usize>,
    tools: BTreeMap<String, Option<usize>>,
    without_references: BTreeSet<String>,
}

impl AnswerBudget {
    /// Sets how many characters of an answer are sent. If the limit is shorter than the note about a longer answer,
    /// only the note is sent.
    #[must_use]
    pub fn characters(characters: usize) -> Self {
        Self { characters: Some(characters), ..Self::unlimited() }
    }

    /// Makes a budget with which every answer is sent whole.
    #[must_use]
    pub fn unlimited() -> Self {
        Self { characters: None, tools: BTreeMap::new(), without_references: BTreeSet::new() }
    }

    /// Sets how many characters of one tool's answers are sent.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>, characters: usize) -> Self {
        self.tools.insert(name.into(), Some(characters));
        self
    }

    /// Makes the answers of one tool exempt, so that they are sent whole.
    #[must_use]
    pub fn whole(mut self, name: impl Into<String>) -> Self {
        self.tools.insert(name.into(), None);
        self
    }

    /// Turns off references in the arguments of one tool: for it, `{"$result":"lr_3"}` is an argument like any other.
    #[must_use]
    pub fn without_references(mut self, name: impl Into<String>) -> Self {
        self.without_references.insert(name.into());
        self
    }

    /// Returns the names of the tools that a run shows to the model once an answer is too long; no names if every
    /// answer is sent whole.
    pub(crate) fn tools(&self) -> Vec<&'static str> {
        let is_limited = self.characters.is_some() || self.tools.values().any(Option::is_some);
        if is_limited { vec![READ, SEARCH] } else { Vec::new() }
    }

    /// Returns how many characters of a tool's answers are sent; `None` if they have no limit.
    pub(crate) fn of(&self, tool: &str) -> Option<usize> {
        self.tools.get(tool).copied().unwrap_or(self.characters)
    }

    /// Reports whether arguments of a tool may contain references to earlier answers.
    pub(super) fn refers(&self, tool: &str) -> bool {
        !self.without_references.contains(tool)
    }
}

impl Default for AnswerBudget {
    fn default() -> Self {
        Self::characters(CHARACTERS)
    }
}
