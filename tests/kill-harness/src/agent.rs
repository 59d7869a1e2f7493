//! The application `agent`: runs of an agent that are recorded, killed before and after each commit of a run, within the model's
//! answer and inside tools, and taken up again. Some are spoken to again, some while they work, some are cancelled, of some the time is
//! up, and of some the user goes back to an earlier turn. They give tasks to sub-agents, their plugin counts turns, and their histories
//! outgrow the window of their model.
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
