//! Gives another crate access to an executor's journal, clock and encryption key, so that it can store records other
//! than calls.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::Executor;
use crate::call::Clock;
use toolwright_journal::arguments::SealingKey;
use toolwright_journal::journal::Store;

/// Access to the journal of an executor, for records other than those of calls.
#[doc(hidden)]
#[derive(Clone)]
pub struct JournalAccess {
    /// The store that contains the records of the calls.
    pub store: Arc<dyn Store>,
    /// Whether the executor made the store itself, in memory. Waiting calls in it are lost when the process ends.
    pub is_own: bool,
    /// The key that encrypts secrets, if the application set one.
    pub sealing: Option<SealingKey>,
    /// How long a lease is valid unless its owner renews it.
    pub lease: Duration,
    clock: Clock,
}

impl JournalAccess {
    /// Returns the present time, by the clock of the executor.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }
}

impl Executor {
    /// Returns access to the journal; `None` if the executor has no journal.
    #[doc(hidden)]
    #[must_use]
    pub fn journal_access(&self) -> Option<JournalAccess> {
        let journal = self.state.core.journal.as_ref()?;
        Some(JournalAccess {
            store: Arc::clone(&journal.store),
            is_own: journal.is_own,
            sealing: journal.sealing.clone(),
            lease: journal.lease,
            clock: Arc::clone(&journal.clock),
        })
    }
}

impl fmt::Debug for JournalAccess {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("JournalAccess").field("lease", &self.lease).finish_non_exhaustive()
    }
}
