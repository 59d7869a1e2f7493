//! The lifecycle of a call that a journal records. The functions of `decide` make each decision from plain data. One
//! driver reads the journal, commits the decisions, notifies listeners and carries the calls out.

mod ask;
mod child;
mod decide;
mod driver;
mod end;
mod follow_up;
mod foreign;
mod guard;
mod heap;
mod notify;
mod outcome;
mod pending;
mod reconcile;
mod snapshot;
mod step;
mod submit;
mod supply;
mod sweep;
pub mod trace;
mod wait;

pub use crate::call::{By, CircuitOpen, Refusal};
pub use decide::{decide, ended_key, is_accepted, last_decision};
pub use guard::{Guard, Guards};
pub use snapshot::{
    Evaluated, FinalCall, GrantNow, HandsOver, Past, Preview, Signature, Snapshot, Stored, ToolNow,
};
pub use step::{
    Attempt, AttemptError, DroppedClaim, End, Input, Need, Problem, Reconciliation, Settings,
    StageVerdict, StagedCall, Step, SuppliedResult, Suspension, Then,
};
pub use sweep::Swept;

pub(crate) use driver::Lifecycle;
pub use foreign::untrusted_key;
pub(crate) use heap::on_heap;
pub(crate) use submit::Asking;
pub(crate) use wait::WaitUntil;
