//! What is recorded of plugins: the changes of each turn, and what these add up to.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is recorded of the plugins with one turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PluginTurn {
    /// The states that changed in the turn, by the ids of their plugins.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, Value>,
    /// The tools that the model was shown because a plugin added them for the turn.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub added: BTreeSet<String>,
    /// The tools that it was not shown because a plugin left them out.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub left_out: BTreeSet<String>,
}

impl PluginTurn {
    /// Whether there is nothing to record.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What the plugins of a run remember. A host that stores a run itself stores it with the run's
/// [`State`](crate::State) and history, and gives it to [`AgentRunBuilder::plugins`](crate::AgentRunBuilder::plugins).
///
/// ```
/// use toolwright_agent::PluginStates;
///
/// let stored = serde_json::to_string(&PluginStates::default())?;
/// assert_eq!(serde_json::from_str::<PluginStates>(&stored)?, PluginStates::default());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginStates {
    /// By the ids of the plugins. One of a plugin that the agent has not got stays as it is.
    pub(crate) states: BTreeMap<String, Value>,
    /// Every tool that a plugin has added for a turn.
    pub(crate) shown: BTreeSet<String>,
    /// What is recorded of the last turn.
    pub(crate) turn: PluginTurn,
}

impl PluginStates {
    /// Adds what is recorded of a turn; the turns come in their order.
    pub(crate) fn add(&mut self, turn: PluginTurn) {
        self.states.extend(turn.states.clone());
        self.shown.extend(turn.added.iter().cloned());
        self.turn = turn;
    }
}

/// Without the states, which are the application's.
impl std::fmt::Debug for PluginStates {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plugins: Vec<&String> = self.states.keys().collect();
        formatter.debug_struct("PluginStates").field("plugins", &plugins).finish_non_exhaustive()
    }
}
