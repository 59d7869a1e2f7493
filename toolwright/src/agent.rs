//! Agents: the loop of model and tools, the models, limits, events and history.
//!
//! Begin with [`Agent`] and [`AgentBuilder`]. `agent.run(…)` returns a [`RunRequest`]. Awaiting it gives a
//! [`RunResult`] or a [`RunError`], and `.stream()` gives [`RunEvent`]s. A [`Chat`] is a conversation. Models over
//! HTTPS are in [`http`], recorded runs and their workers in [`durable`], scripted models in `testing`.

pub use toolwright_agent::*;
