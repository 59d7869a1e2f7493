//! A board of tickets on which agents work. A person writes a ticket with criteria, an agent takes it from research
//! to verification in its own worktree, and the person accepts it or returns it.
//!
//! [`Board`] is the SQLite file, [`tools`] are the agent's tools on it, [`assembly`] gives an agent the tools of its
//! profile, [`executables`] are the programs `bonsai-…`, and [`runner`] picks tickets and drives their runs.

pub mod assembly;
pub mod board;
pub mod executables;
pub mod git;
pub mod offline;
pub mod page;
pub mod people;
pub mod runner;
pub mod ticket;
pub mod tools;

pub use board::{Board, BoardError};
