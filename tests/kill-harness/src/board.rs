//! The application `board`: two runners on one board. The harness kills them at random instants and within the
//! model's answer, and restarts them.
//!
//! ```text
//!  parent ── boards ── two runners: killed, started again, killed, … ──► check: tickets, transitions, comments, files
//!                         │
//!            claims (board.db) · runs (calls.db) · worktrees (git) · a lock on each ticket, which the system releases
//! ```

mod check;
mod life;
mod model;
mod play;

pub use check::{Finding, check};
pub use life::{ARGUMENT, BoardLife, live};
pub use play::{BoardSetting, BoardTally, begin, kill_runners};
