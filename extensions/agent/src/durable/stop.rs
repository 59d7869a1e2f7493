//! What ends the work on a run from outside: somebody cancels it, its time is up, or its lease is lost.

use std::pin::pin;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::RunError;
use super::head::{Cancelled, read};
use super::keys;
use super::recorded::Recorded;
use crate::Event;

/// How often a driver looks whether somebody has cancelled its run.
const LOOK: Duration = Duration::from_millis(250);

/// Why a run ends before it is done.
#[derive(Debug, Clone)]
pub(super) enum Stop {
    Cancelled(Cancelled),
    TimeIsUp,
}

impl Stop {
    pub(super) fn event(&self) -> Event {
        match self {
            Self::Cancelled(_) => Event::Cancelled,
            Self::TimeIsUp => Event::TimeIsUp,
        }
    }
}

/// What comes between a driver and its work.
pub(super) enum Trouble {
    Stop(Stop),
    Lost(RunError),
}

/// Completes when the work has to end; renews the lease until then. May be dropped at any time.
pub(super) async fn trouble(recorded: &mut Recorded) -> Trouble {
    come_between(recorded, true).await
}

/// Completes when the work is done, and renews the lease until then, unless it is lost.
pub(super) async fn renewing<T>(
    recorded: &mut Recorded,
    lost: &mut Option<RunError>,
    work: impl Future<Output = T>,
) -> T {
    let mut work = pin!(work);
    tokio::select! {
        biased;
        done = &mut work => return done,
        trouble = come_between(recorded, false) => if let Trouble::Lost(error) = trouble {
            *lost = Some(error);
        }
    }
    work.await
}

async fn come_between(recorded: &mut Recorded, looks: bool) -> Trouble {
    let lease = recorded.access().lease;
    let mut renewed = Instant::now();
    loop {
        sleep(LOOK.min(lease / 3)).await;
        // Where the journal cannot be read, the lease says how long that may last.
        if looks && let Ok(Some(stop)) = recorded.stop().await {
            return Trouble::Stop(stop);
        }
        if renewed.elapsed() < lease / 3 {
            continue;
        }
        match recorded.renew().await {
            Ok(()) => renewed = Instant::now(),
            Err(RunError::Store(error)) if error.is_unavailable() && renewed.elapsed() < lease => {}
            Err(error) => return Trouble::Lost(error),
        }
    }
}

impl Recorded {
    /// Why the run has to end, if it has to.
    pub(super) async fn stop(&self) -> Result<Option<Stop>, RunError> {
        let key = keys::cancel(&self.head.run);
        if let Some(document) = self.access().store.document(&key).await? {
            let cancelled = read("cancellation of a run", &document.text)
                .map_err(|error| RunError::damaged(&key, error))?;
            return Ok(Some(Stop::Cancelled(cancelled)));
        }
        let is_late = self.head.deadline.is_some_and(|deadline| deadline <= self.access().now());
        Ok(is_late.then_some(Stop::TimeIsUp))
    }
}
