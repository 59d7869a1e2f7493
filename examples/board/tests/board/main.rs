//! The board from outside: its file, the tools of agents, the executables, the runner, the commands of people.
#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

mod adding;
mod claims;
mod executables;
mod offline;
mod page;
mod people;
mod profiles;
mod readme;
mod runner;
mod serve;
mod support;
mod tools;
mod worktrees;
