//! A clock that does not move by itself: a test moves it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// The time of a journal in a test: deadlines of decisions, leases of calls and of runs. It does not move until the test moves it;
/// clones are one clock. Timeouts of calls and limits of runs in memory are those of tokio; pause tokio's time for them.
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

    /// Returns the time that it shows.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves it on; at the end of all time it stops.
    pub fn advance(&self, by: Duration) {
        let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
        let mut time = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *time = time.saturating_add(by).unwrap_or(Timestamp::MAX);
    }

    /// Returns what the `clock` option of a journal takes.
    pub fn reader(&self) -> impl Fn() -> Timestamp + Send + Sync + 'static {
        let clock = self.clone();
        move || clock.now()
    }
}
