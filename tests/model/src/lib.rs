//! The life of calls, explored state by state, as it runs: the executor's own
//! [`decide`](toolwright_executor::lifecycle::decide) decides, its transactions go to the real
//! [`MemoryStore`](toolwright_journal::journal::MemoryStore), and people's statements through the real
//! [`ApprovalService`](toolwright_journal::approval::ApprovalService).
//!
//! What is modelled is what surrounds them.
//!
//! - Processes, whose steps ([`step`]) are the actions of the driver in the driver's order: read, decide, commit, begin,
//!   perform, record the result. A process may crash between any two; a commit may stand although nobody heard of it.
//!   `world` mirrors the executor's `lifecycle/driver.rs` for that, and is kept as small as that allows.
//! - What a decision reads: tools, a policy, whose keys count (`reading`). Tools and policies change.
//! - [`people`], who approve, grant, revoke, edit, reject, accept plans, settle what is indeterminate, requeue and discard
//!   dead letters, and sign with keys that do not count. They tell the truth, as far as they can see.
//! - An [`adversary`], who rewrites what is plain in a record between any two steps, and signs nothing.
//! - A clock: leases lapse and deadlines pass, [`scenario`] says how often.
//!
//! What must hold stands in [`properties`]; who watches for it, in [`witness`]. [`switches`] takes single checks away, in
//! `decide` by its own [`Guards`](toolwright_executor::lifecycle::Guards), and the tests show which property falls then. A
//! property that falls gives the decisions that led there as JSON lines, which
//! [`trace::replay`](toolwright_executor::lifecycle::trace::replay) replays.
//!
//! Stages of an application let a call through, delay it, answer it or refuse it, between two steps of whoever looks at it.
//!
//! What is not modelled: the text of arguments but for two versions of them, secrets but for arguments that only executors
//! read, plans of several calls that wait for
//! each other, reads that are not recorded, circuits, pauses before another attempt, an executor that shuts down, several
//! pages of a list. Workers are alike, so states that differ in their order alone count as one.

pub mod adversary;
pub mod cases;
pub mod choices;
mod digest;
pub mod fair;
pub mod journal;
pub mod people;
pub mod properties;
mod reading;
pub mod report;
pub mod scenario;
pub mod scenarios;
pub mod step;
pub mod story;
pub mod switches;
pub mod system;
pub mod task;
pub mod witness;
mod world;
