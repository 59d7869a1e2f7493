//! Counts how many calls of the run waited for another call, and the most calls that ran at the same time. The program
//! prints both numbers at the end.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use toolwright::{CallId, ToolEvent, ToolEventKind};

/// Counts the events of the run's calls.
#[derive(Debug, Default, Clone)]
pub struct Counted(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    running: HashSet<CallId>,
    at_once: usize,
    waited: u64,
}

impl Counted {
    pub fn event(&self, event: &ToolEvent<'_>) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match event.kind {
            ToolEventKind::Waited { .. } => counts.waited += 1,
            ToolEventKind::Executing => {
                counts.running.insert(event.call);
                counts.at_once = counts.at_once.max(counts.running.len());
            }
            ToolEventKind::Completed { .. }
            | ToolEventKind::Failed { .. }
            | ToolEventKind::Suspended { .. }
            | ToolEventKind::Retrying { .. }
            | ToolEventKind::Abandoned { .. } => {
                counts.running.remove(&event.call);
            }
            _ => {}
        }
    }

    /// Returns how many calls waited for another call of their turn, and the most that ran at the same time.
    pub fn total(&self) -> (u64, usize) {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (counts.waited, counts.at_once)
    }
}
