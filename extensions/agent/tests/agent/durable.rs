//! Runs that are recorded: killed at every commit, taken up by other processes, waiting for people, cancelled.

mod documents;
mod draining;
mod failing;
mod kills;
mod leases;
mod process;
mod secrets;
mod waiting;
