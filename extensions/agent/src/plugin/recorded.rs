//! The records of plugins: the changes of each turn, and their sum.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The changes of the plugins for one turn, as they are recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PluginTurn {
    /// The states that changed in the turn, by the ids of their plugins.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, Value>,
    /// The tools that plugins added for the turn.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub added: BTreeSet<String>,
    /// The tools that plugins left out of the turn.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub left_out: BTreeSet<String>,
}

impl PluginTurn {
    /// Reports whether the turn has nothing to record.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The states of a run's plugins. A host that stores a run itself stores them with the run's [`State`](crate::State)
/// and history, and restores them by [`AgentRunBuilder::plugins`](crate::AgentRunBuilder::plugins).
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
    /// The states, by the ids of their plugins. A state whose plugin the agent does not have is kept unchanged.
    pub(crate) states: BTreeMap<String, Value>,
    /// Every tool that a plugin has ever added.
    pub(crate) shown: BTreeSet<String>,
    /// The record of the last turn.
    pub(crate) turn: PluginTurn,
}

impl PluginStates {
    /// Adds the record of a turn. The turns have to be added in order.
    pub(crate) fn add(&mut self, turn: PluginTurn) {
        self.states.extend(turn.states.clone());
        self.shown.extend(turn.added.iter().cloned());
        self.turn = turn;
    }
}

/// Omits the states, which belong to the application.
impl std::fmt::Debug for PluginStates {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plugins: Vec<&String> = self.states.keys().collect();
        formatter.debug_struct("PluginStates").field("plugins", &plugins).finish_non_exhaustive()
    }
}
