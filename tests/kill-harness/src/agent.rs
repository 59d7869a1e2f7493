//! The application `agent`: runs of an agent that are recorded in a journal. The harness kills the process that drives
//! them before and after each commit of a run, within the model's answer and inside tools; then another process takes
//! the runs up. The user sends a message to some runs after their end and to some while they work, cancels some, and
//! takes some back to an earlier turn; some runs exceed their time limit. The runs give tasks to sub-agents, their
//! plugin counts turns, and their histories outgrow the window of their model.
//!
//! ```text
//!  parent ── worlds ── lives: killed, killed, …, settles ──► check: histories, marks, requests
//!                        │
//!            Runner ► fatal store ► the store that is tried
//! ```

mod check;
mod course;
mod life;
mod model;
mod play;
mod point;
mod requests;
mod store;
mod tally;
mod turns;
mod user;

pub use check::{Finding, Played, check};
pub use life::{AgentLife, live};
pub use play::{AgentSetting, kill_agents};
pub use point::{AgentPoint, Step};
pub use tally::AgentTally;
