//! A clock that a test moves.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// A clock for the journal in a test. It determines the deadlines of decisions and of recorded runs, and the leases of
/// calls and runs. The clock does not move until the test moves it. Clones share one clock. Time-outs of calls and
/// limits of runs in memory use tokio's time instead; to test these, pause tokio's time.
///
/// ```
/// use std::time::Duration;
/// use toolwright::journal::{Journal, MemoryStore};
/// use toolwright::{Executor, OnNoApprover, Registry};
/// use toolwright_agent::testing::VirtualClock;
///
/// let clock = VirtualClock::at("2026-07-01T12:00:00Z".parse()?);
/// let executor = Executor::builder(Registry::empty())
///     .journal(Journal::new(MemoryStore::new()).on_no_approver(OnNoApprover::Park).clock(clock.reader()))
///     .build()?;
/// # let _ = executor;
/// clock.advance(Duration::from_secs(3600));
/// assert_eq!(clock.now().to_string(), "2026-07-01T13:00:00Z");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct VirtualClock(Arc<Mutex<Timestamp>>);

impl VirtualClock {
    /// Makes a clock that shows this time.
    #[must_use]
    pub fn at(time: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(time)))
    }

    /// Returns the time that the clock shows.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the clock forward, at most to the latest time that can be represented.
    pub fn advance(&self, by: Duration) {
        let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
        let mut time = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *time = time.saturating_add(by).unwrap_or(Timestamp::MAX);
    }

    /// Returns a function for the `clock` option of a journal.
    pub fn reader(&self) -> impl Fn() -> Timestamp + Send + Sync + 'static {
        let clock = self.clone();
        move || clock.now()
    }
}
