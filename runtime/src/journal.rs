//! The life of calls, kept so that a crash loses none and repeats none.
//!
//! - [`next`] is the machine: it alone says what becomes of a call.
//! - [`CallRecord`] is what is kept of one, [`Entry`] what happened to it.
//! - A [`Store`] keeps them: [`MemoryStore`] for tests, `SqliteStore` (feature `sqlite`) for one machine. What every
//!   store must do stands in `conformance` (feature `conformance`), for stores of one's own.

mod answered;
mod begun;
#[cfg(feature = "conformance")]
#[cfg_attr(docsrs, doc(cfg(feature = "conformance")))]
pub mod conformance;
mod entry;
#[cfg(feature = "conformance")]
mod forward;
mod memory;
mod next;
mod record;
mod replay;
#[cfg(feature = "sqlite")]
mod sqlite;
mod state;
mod store;

pub(crate) use begun::{begun, begun_without_a_word, may_have_happened};
pub use entry::{Entry, FailedAttempt, Note};
#[cfg(feature = "conformance")]
#[cfg_attr(docsrs, doc(cfg(feature = "conformance")))]
pub use forward::Asked;
pub use memory::MemoryStore;
pub use next::{Event, Failure, Illegal, next};
pub use record::{Answered, Ask, CallRecord, FORMAT, Kept, Place, Requester};
pub use replay::{Contradiction, replay};
#[cfg(feature = "sqlite")]
#[cfg_attr(docsrs, doc(cfg(feature = "sqlite")))]
pub use sqlite::SqliteStore;
pub use state::State;
pub use store::{
    CallWrite, CommitError, Document, DocumentWrite, Filter, Page, Store, StoreError, Unit,
};
