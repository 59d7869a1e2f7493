//! A board of tickets on which agents work: a person writes a ticket with criteria, an agent takes it from research to
//! verification in a worktree of its own, and the person decides what becomes of it.
//!
//! [`Board`] is the SQLite file, [`tools`] are the agent's tools on it, [`assembly`] is what an agent gets by its profile,
//! [`executables`] are the programs `bonsai-…`, and [`runner`] picks tickets and drives their runs.

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
