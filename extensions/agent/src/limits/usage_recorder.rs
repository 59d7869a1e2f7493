//! What the requests for an answer take while it comes, so that it is known also of an answer that is not awaited any more.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::limits::TotalUsage;

/// What the requests for one answer have taken so far: for who may give the answer up before it is there. An answer and an
/// error say themselves what they took.
///
/// ```
/// use toolwright_agent::{UsageRecorder, TotalUsage, Usage};
///
/// let meter = UsageRecorder::default();
/// meter.begin();
/// meter.ended(TotalUsage::default()); // It was refused, which costs nothing; another request is made.
/// meter.begin();
/// meter.so_far(TotalUsage::of(Some(Usage::new(1_200, 1)), None)); // The begin of the answer says so.
/// let given_up = meter.taken();
/// assert_eq!((given_up.usage.total(), given_up.lost), (1_201, 1));
/// ```
#[derive(Debug, Default)]
pub struct UsageRecorder(Mutex<Reading>);

#[derive(Debug, Default)]
struct Reading {
    /// What requests took that have failed.
    failed: TotalUsage,
    /// What the request takes that is under way.
    current: Option<TotalUsage>,
}

impl UsageRecorder {
    /// Notes that a request goes out. Until more is known it may have cost something.
    pub fn begin(&self) {
        self.reading().current = Some(TotalUsage::lost());
    }

    /// Notes what is known so far of the request that is under way. It may take more.
    pub fn so_far(&self, spent: TotalUsage) {
        self.reading().current = Some(spent.plus(TotalUsage::lost()));
    }

    /// Notes that the request that was under way has failed, and took this.
    pub fn ended(&self, spent: TotalUsage) {
        let mut reading = self.reading();
        (reading.failed, reading.current) = (reading.failed.plus(spent), None);
    }

    /// What requests took that have failed.
    pub(crate) fn failed(&self) -> TotalUsage {
        self.reading().failed
    }

    /// All requests so far have failed, and took this together.
    pub(crate) fn all_failed(&self, spent: TotalUsage) {
        *self.reading() = Reading { failed: spent, current: None };
    }

    /// Returns what the request has taken that is under way.
    #[must_use]
    pub fn under_way(&self) -> TotalUsage {
        self.reading().current.unwrap_or_default()
    }

    /// Returns what all of them have taken.
    #[must_use]
    pub fn taken(&self) -> TotalUsage {
        let reading = self.reading();
        reading.failed.plus(reading.current.unwrap_or_default())
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
