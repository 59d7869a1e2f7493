//! Agents: the loop of model and tools, the models, limits, events and history.
//!
//! Begin with [`Agent`] and [`AgentBuilder`]. [`RunRequest`] is what `agent.run(…)` returns, [`RunResult`] and [`RunError`] what
//! awaiting it gives, [`RunEvent`] what `.stream()` gives; [`Chat`] is a conversation. Models over HTTPS are in [`http`], recorded
//! runs and their workers in [`durable`], scripted models in `testing`.

pub use toolwright_agent::*;
