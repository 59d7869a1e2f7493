//! Interrupts the work on a run: the run is cancelled, its time is up, its lease is lost, or an urgent message arrives.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::RunError;
use super::head::{Cancelled, read};
use super::keys;
use super::patience::may_pass;
use super::record::RunRecord;
use super::recorded::LeasedRun;
use crate::run::{Interruption, Recorder as _, Work, cancellation};

/// The pause between two checks of whether the run was cancelled.
const LOOK: Duration = Duration::from_millis(250);

impl RunRecord {
    /// Completes when the work has to end, an urgent message arrives or the lease is lost, and renews the lease until
    /// then. Without `work`, watches only the lease. May be dropped at any time.
    pub(super) async fn come_between(&mut self, work: Option<Work>) -> Interruption<RunError> {
        let looks = work.is_some();
        let lease = self.recorded.access().lease;
        let mut renewed = Instant::now();
        loop {
            let mut pause = LOOK.min(lease / 3);
            if looks && let Some(left) = self.time_left() {
                pause = pause.min(left);
            }
            tokio::select! {
                () = sleep(pause) => {}
                () = cancellation(self.token.as_ref()), if looks => {}
            }
            // If the journal cannot be read, the driver continues; it stops at the latest when its lease is lost.
            if looks && let Ok(Some(stop)) = self.stop().await {
                return Interruption::Stop(stop);
            }
            if work == Some(Work::Asking) && self.recorded.is_urgent().await.unwrap_or(false) {
                return Interruption::Said;
            }
            if renewed.elapsed() < lease / 3 {
                continue;
            }
            match self.recorded.renew().await {
                Ok(()) => renewed = Instant::now(),
                // Another process may take the run meanwhile. The work in progress was paid for, and counts if no
                // process has taken the run.
                Err(RunError::Store(error)) if may_pass(&error) => {}
                Err(error) => return Interruption::Lost(error),
            }
        }
    }
}

impl LeasedRun {
    /// Returns who has requested the end of the run, if it was requested.
    pub(super) async fn find_cancellation(&self) -> Result<Option<Cancelled>, RunError> {
        let key = keys::cancel(&self.head.run);
        let Some(document) = self.access().store.document(&key).await? else { return Ok(None) };
        let cancelled = read("cancellation of a run", &document.text);
        cancelled.map(Some).map_err(|error| RunError::damaged(&key, error))
    }
}
