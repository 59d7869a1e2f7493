//! Agents to which a run can be handed off: the run continues with another agent and its whole history. A hand-off
//! gives no rights: the other agent has some tools of the agent with which the run began, under the same policy and
//! additional rules.
//!
//! ```text
//!   turn n ──▶ call of `hand_off`, alone in its turn ──▶ its answer, in the history ──▶ turn n + 1 as the other agent
//! ```
//!
//! The history determines which agent continues the run (`run/handing.rs`), so nothing else is recorded.

mod description;
mod ready;
mod tool;

pub use self::description::HandOff;
pub(crate) use self::ready::HandOffs;
pub(crate) use self::tool::hand_off_tool;
