//! Agents: the loop, its models and limits, its events and history.

pub use toolwright_agent::*;
