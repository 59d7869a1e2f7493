//! Agents that a run is handed off to: the run continues as another agent, with its whole history. Nothing here gives a
//! right: such an agent has a part of the tools of the agent with which the run began, under the same policy and more
//! rules.
//!
//! ```text
//!   turn n ──▶ call of `hand_off`, alone in its turn ──▶ its answer, in the history ──▶ turn n + 1 as the other agent
//! ```
//!
//! Which agent continues the run follows from the history (`run/handing.rs`), so that nothing else is recorded.

mod description;
mod ready;
mod tool;

pub use self::description::HandOff;
pub(crate) use self::ready::HandOffs;
pub(crate) use self::tool::hand_off_tool;
