//! Errors of plugins.

use std::panic::Location;

use toolwright::ToolError;

/// The reason why a plugin cannot prepare a turn.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the plugin `{plugin}` cannot prepare turn {turn}: {why}")]
#[non_exhaustive]
pub struct PluginFailure {
    /// The id of the plugin.
    pub plugin: String,
    /// The number of the turn.
    pub turn: u64,
    /// The reason.
    pub why: String,
}
toolwright::unstable::debug_as_sentence!(PluginFailure);

/// The reason why a state cannot be read or set.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The agent has no plugin of the type.
    #[error("the agent has no plugin `{plugin}`; give it with `.with(…)` when you build the agent")]
    NoPlugin {
        /// The type of the plugin.
        plugin: &'static str,
    },
    /// A state does not fit its type.
    #[error(
        "the state of the plugin `{plugin}` is not what its type `{name}` asks for:\n{problems}"
    )]
    Misfit {
        /// The id of the plugin.
        plugin: String,
        /// The type of the state.
        name: String,
        /// A line for each problem, with its location as a JSON pointer.
        problems: String,
    },
}
toolwright::unstable::debug_as_sentence!(StateError);

impl From<StateError> for ToolError {
    fn from(error: StateError) -> Self {
        Self::internal(error.to_string())
    }
}

/// The reason why an agent cannot have a plugin.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the plugin `{plugin}`, given at {place}, cannot be used: {why}")]
#[non_exhaustive]
pub struct PluginProblem {
    /// The id of the plugin.
    pub plugin: String,
    /// The source location at which the application adds the plugin.
    pub place: &'static Location<'static>,
    /// Why the plugin cannot be used.
    pub why: String,
}
toolwright::unstable::debug_as_sentence!(PluginProblem);
