//! How much of an answer a model reads.

use std::collections::{BTreeMap, BTreeSet};

use super::tools::{READ, SEARCH};

/// The characters of an answer that a model reads, unless something else is set.
const CHARACTERS: usize = 30_000;

/// How much of the answer of a tool a model reads: 30,000 characters unless set. A longer answer is sent as its beginning and its
/// end, or, where it is JSON, as its shape, with a handle by which the model reads the rest, searches it, and passes it on. The
/// whole answer stays in the history, in events and in the journal.
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
    /// Sets how many characters of an answer a model reads. Where that is less than the words by which a longer answer is
    /// named, these are sent, and nothing of the answer.
    #[must_use]
    pub fn characters(characters: usize) -> Self {
        Self { characters: Some(characters), ..Self::unlimited() }
    }

    /// Sends every answer whole.
    #[must_use]
    pub fn unlimited() -> Self {
        Self { characters: None, tools: BTreeMap::new(), without_references: BTreeSet::new() }
    }

    /// Sets how many characters of the answers of one tool a model reads.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>, characters: usize) -> Self {
        self.tools.insert(name.into(), Some(characters));
        self
    }

    /// Sends the answers of one tool whole.
    #[must_use]
    pub fn whole(mut self, name: impl Into<String>) -> Self {
        self.tools.insert(name.into(), None);
        self
    }

    /// Takes no references in the arguments of one tool: `{"$result":"lr_3"}` is an argument like any other there.
    #[must_use]
    pub fn without_references(mut self, name: impl Into<String>) -> Self {
        self.without_references.insert(name.into());
        self
    }

    /// The names of the tools that a run is shown once it has an answer that is too long: none where every answer is sent whole.
    pub(crate) fn tools(&self) -> Vec<&'static str> {
        let is_limited = self.characters.is_some() || self.tools.values().any(Option::is_some);
        if is_limited { vec![READ, SEARCH] } else { Vec::new() }
    }

    /// How many characters of the answers of a tool are sent; all where that has no limit.
    pub(crate) fn of(&self, tool: &str) -> Option<usize> {
        self.tools.get(tool).copied().unwrap_or(self.characters)
    }

    /// Whether references are looked for in the arguments of a tool.
    pub(super) fn refers(&self, tool: &str) -> bool {
        !self.without_references.contains(tool)
    }
}

impl Default for AnswerBudget {
    fn default() -> Self {
        Self::characters(CHARACTERS)
    }
}
