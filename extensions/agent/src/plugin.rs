//! Plugins: parts of an agent that have a state of their own, and decide before each turn which tools and instructions
//! the model is shown.
//!
//! ```text
//!   NextTurn ◀── prepare: tools, instructions, state ── Plugin ── tools ──▶ registry
//!      │                                                  ▲
//!      └─▶ TurnTools: the catalog of the turn             └─ ended: state
//!   Plugins: what tools read and change ──▶ PluginTurn: what is recorded with a turn
//! ```

mod draft;
mod ended_run;
mod error;
mod hooks;
mod interface;
mod next_turn;
mod plugins;
mod reader;
mod recorded;
mod set;
mod turn_tools;

pub use self::ended_run::EndedRun;
pub use self::error::{PluginFailure, PluginProblem, StateError};
pub(crate) use self::hooks::{end_plugins, prepare, prepare_again};
pub use self::interface::{Plugin, PluginError, PluginState};
pub use self::next_turn::NextTurn;
pub use self::plugins::Plugins;
pub(crate) use self::plugins::Sink;
pub(crate) use self::reader::StateValue;
pub use self::recorded::PluginStates;
pub(crate) use self::recorded::PluginTurn;
pub(crate) use self::set::{PluginSet, ProvidedPlugin};
pub(crate) use self::turn_tools::PreparedTurn;
