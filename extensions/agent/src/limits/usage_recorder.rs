//! Counts the usage of the requests for an answer while the answer arrives, so that the usage is known even if the
//! answer is abandoned.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::limits::TotalUsage;

/// A recorder of the usage of the requests for one answer, for a caller that may abandon the answer. A complete answer
/// and an error carry their usage themselves.
///
/// ```
/// use toolwright_agent::{UsageRecorder, TotalUsage, Usage};
///
/// let meter = UsageRecorder::default();
/// meter.begin();
/// meter.ended(TotalUsage::default()); // It was refused, which costs nothing; another request is made.
/// meter.begin();
/// meter.so_far(TotalUsage::of(Some(Usage::new(1_200, 1)), None)); // The answer begins with this usage.
/// let given_up = meter.taken();
/// assert_eq!((given_up.usage.total(), given_up.lost), (1_201, 1));
/// ```
#[derive(Debug, Default)]
pub struct UsageRecorder(Mutex<Reading>);

#[derive(Debug, Default)]
struct Reading {
    failed: TotalUsage,
    /// The usage of the request in progress.
    current: Option<TotalUsage>,
}

impl UsageRecorder {
    /// Notes that a request is sent. Until its usage is known, the request counts as one that may have cost something.
    pub fn begin(&self) {
        self.reading().current = Some(TotalUsage::lost());
    }

    /// Notes the known part of the usage of the request under way. The final usage may be higher.
    pub fn so_far(&self, spent: TotalUsage) {
        self.reading().current = Some(spent.plus(TotalUsage::lost()));
    }

    /// Notes that the request in progress has failed, with this usage.
    pub fn ended(&self, spent: TotalUsage) {
        let mut reading = self.reading();
        (reading.failed, reading.current) = (reading.failed.plus(spent), None);
    }

    pub(crate) fn failed(&self) -> TotalUsage {
        self.reading().failed
    }

    /// Notes that all requests so far have failed, with this usage in total.
    pub(crate) fn all_failed(&self, spent: TotalUsage) {
        *self.reading() = Reading { failed: spent, current: None };
    }

    /// Returns the usage that is known so far of the request in progress.
    #[must_use]
    pub fn under_way(&self) -> TotalUsage {
        self.reading().current.unwrap_or_default()
    }

    /// Returns the usage of the failed requests and of the request in progress.
    #[must_use]
    pub fn taken(&self) -> TotalUsage {
        let reading = self.reading();
        reading.failed.plus(reading.current.unwrap_or_default())
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
