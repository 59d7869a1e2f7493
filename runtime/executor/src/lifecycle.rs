//! The life of a journalled call: [`decide`] decides each step from plain data, and one driver reads, commits, notifies
//! and carries out.

mod decide;
mod guard;
mod snapshot;
mod step;

pub use decide::decide;
pub use guard::{Guard, Guards};
pub use snapshot::{
    CircuitOpen, Evaluated, FinalCall, GrantNow, Past, Signature, Snapshot, Stored, ToolNow,
};
pub use step::{
    Attempt, AttemptError, By, Dropped, End, Input, Need, Problem, Reconciliation, Settings, Step,
    Then,
};
