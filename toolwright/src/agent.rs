//! Agents: the loop of model and tools, the models, limits, events and history.

pub use toolwright_agent::*;
