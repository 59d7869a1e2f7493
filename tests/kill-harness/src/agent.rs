//! The application `agent`: recorded runs of an agent. The harness kills it before and after each commit of a run,
//! within the model's answer and inside tools, and starts it again. Some runs get another message, some are
//! cancelled, and some run out of time.
//!
//! ```text
//!  parent ── worlds ── lives: killed, killed, …, settles ──► check: histories, marks, requests
//!                        │
//!            Runner ► fatal store ► the store under test
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
mod user;

pub use check::{Finding, Played, check};
pub use life::{AgentLife, live};
pub use play::{AgentSetting, kill_agents};
pub use point::{AgentPoint, Step};
pub use tally::AgentTally;
