//! Records each call in a journal, so that a crash loses no call, and no call runs twice that must not.
//!
//! - [`next`] is the state machine, the only place where the next state of a call is decided.
//! - [`CallRecord`] is the record of one call, [`Entry`] an entry of its history.
//! - A [`Store`] stores records and entries: [`MemoryStore`] in memory, `SqliteStore` (feature `sqlite`) in a file on
//!   one machine. `conformance` (feature `conformance`) has tests for stores that you write yourself.

mod answered;
#[doc(hidden)]
pub mod begun;
mod copies;
mod counter;
mod ended;
mod entry;
mod error;
mod forward;
mod identity;
mod listed;
mod memory;
mod next;
mod parent;
mod record;
mod replay;
mod shown;
mod state;
mod store;
mod trace;

pub use answered::AnswerRecord;
#[doc(hidden)]
pub use begun::{begun, begun_without_a_word, may_have_happened};
#[doc(hidden)]
pub use copies::Copies;
pub use counter::{Counter, NotAdvanced};
pub use entry::{Entry, FailedAttempt, Note};
pub use error::{CommitError, StoreError, StoreErrorKind};
pub use forward::StoreFuture;
/// Used by `pass_on_leases`.
#[doc(hidden)]
pub use jiff::Timestamp;
pub use listed::{CallPage, DamagedCall};
pub use memory::MemoryStore;
pub use next::{Failure, Illegal, Transition, next};
pub use parent::ParentCall;
pub use record::{Ask, CallRecord, CallSlot, FORMAT, Requester, StoredText};
pub use replay::{Contradiction, replay};
pub use state::State;
pub use store::{
    CallSummary, CallWrite, Document, DocumentWrite, Filter, Page, Store, Transaction,
};
pub use trace::{TraceDecision, TraceInput, TraceStep, trace};
