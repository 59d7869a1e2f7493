//! Checks a call again when it has received its places, immediately before its tool begins.

use std::sync::PoisonError;

use super::stages::Stages;
use crate::retry::unavailable;
use toolwright_core::error::{Done, ErrorClass, ToolError};

impl Stages<'_> {
    /// Records that the tool is about to begin; fails if the lease or the circuit breaker no longer allows it.
    #[inline]
    pub(super) fn begins(self) -> Result<(), ToolError> {
        match (self.claimed, self.entered, self.watch) {
            (None, None, None) => Ok(()),
            _ => self.begins_if_it_may(),
        }
    }

    pub(super) fn begins_if_it_may(self) -> Result<(), ToolError> {
        if let Some(claim) = self.claimed {
            // The lease may have expired while the call waited for a place.
            let journal = self.run.core.journal.as_ref();
            if journal.is_some_and(|journal| claim.has_lapsed(journal.now())) {
                return Err(lapsed(self.call.name()));
            }
        }
        if let (Some(circuit), Some(entered)) = (&self.plan.circuit, self.entered) {
            let through = circuit.enter().map_err(|it| unavailable(self.call.name(), it))?;
            *entered.lock().unwrap_or_else(PoisonError::into_inner) = Some(through);
        }
        if let Some(claim) = self.claimed {
            claim.begins();
        }
        if let Some(watch) = self.watch {
            watch.executing();
        }
        Ok(())
    }
}

/// Makes the error of a call whose lease expired before its tool began.
#[cold]
fn lapsed(tool: &str) -> ToolError {
    let message = format!("`{tool}` was not begun: the right to run it had lapsed");
    ToolError::new("lease_lapsed", message)
        .class(ErrorClass::NotStarted { retry_after: None })
        .by_executor(Done::NotBegun)
}
