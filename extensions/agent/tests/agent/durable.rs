//! Runs that are recorded: killed at every commit, taken up by other processes, waiting for people, cancelled.

mod at_once;
mod by_id;
mod clocks;
mod documents;
mod draining;
mod failing;
mod gone;
mod kills;
mod leases;
mod looking;
mod outages;
mod parked;
mod plugins;
pub mod process;
mod secrets;
mod suspects;
mod unclear;
pub mod unreadable;
mod waiting;
mod watched;
