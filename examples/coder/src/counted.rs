//! Counts how many calls of the run waited, and how many ran at once. The program prints it at the end.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use toolwright::{CallId, ToolEvent, ToolEventKind};

/// Counts the calls of a run by listening to their events.
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

    /// Returns how many calls waited for another call of their turn, and how many ran at once at most.
    pub fn total(&self) -> (u64, usize) {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (counts.waited, counts.at_once)
    }
}
