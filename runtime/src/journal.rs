//! Records each call in a journal, so that a crash loses no call, and no call runs twice that must not.
//!
//! An executor records its calls in a [`Journal`], which is a store with its options. A [`CallRecord`] is the record of
//! one call, an [`Entry`] an entry of its history. A [`Store`] stores them: [`MemoryStore`] for tests, `SqliteStore`
//! (feature `sqlite`) for one machine. `conformance` (feature `conformance`) has tests for stores that you write
//! yourself. A [`SealingKey`] encrypts arguments that hold secrets.

pub use toolwright_executor::executor::{HandedOver, Journal, SupplyError};
pub use toolwright_journal::arguments::{SealingError, SealingKey};
pub use toolwright_journal::journal::{
    AnswerRecord, Ask, CallPage, CallRecord, CallSlot, CallSummary, CallWrite, CommitError,
    DamagedCall, Document, DocumentWrite, Entry, FailedAttempt, Failure, Filter, MemoryStore, Note,
    Page, ParentCall, Requester, State, Store, StoreError, StoreErrorKind, StoredText, Transaction,
    Transition,
};
#[cfg(feature = "sqlite")]
#[cfg_attr(docsrs, doc(cfg(feature = "sqlite")))]
pub use toolwright_sqlite::SqliteStore;
#[cfg(feature = "conformance")]
#[cfg_attr(docsrs, doc(cfg(feature = "conformance")))]
pub use toolwright_store_tests::conformance;
