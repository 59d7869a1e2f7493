//! The calls of one answer.

use std::sync::Arc;

use toolwright::provider::ToolCall;

/// The calls of one answer of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Turn {
    /// The number of the answer, counted from 1 over the whole run.
    pub number: u64,
    /// Every call, in call order.
    pub calls: Arc<[ToolCall]>,
    /// How many of the calls are run, counted from the first. A last call that was cut short is not run. If a call
    /// gives the final value beside other calls, neither it nor the calls after it are run.
    pub run: usize,
}
