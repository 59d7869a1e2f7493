//! Explores the life of calls, state by state, in the code that runs: the executor's own
//! [`decide`](toolwright_executor::lifecycle::decide) decides, its transactions go to the real
//! [`MemoryStore`](toolwright_journal::journal::MemoryStore), and people's statements go through the real
//! [`ApprovalService`](toolwright_journal::approval::ApprovalService).
//!
//! The model replaces only what surrounds them.
//!
//! - Processes, whose steps ([`step`]) are the driver's actions in the driver's order: read, decide, commit, begin,
//!   perform, record the result. A process may crash between any two, and a commit may succeed without a reply. For
//!   this, `world` mirrors the executor's `lifecycle/driver.rs`, as simply as possible.
//! - What a decision reads: tools, a policy, and the trusted keys (`reading`). Tools and policies change.
//! - [`people`], who approve, grant, revoke, edit, reject, accept plans, resolve indeterminate calls, requeue and
//!   discard dead letters, and sign with untrusted keys. They answer correctly, as far as they can see.
//! - An [`adversary`], who rewrites what is plain in a record between any two steps, and cannot sign.
//! - A clock: leases lapse and deadlines pass, as often as the [`scenario`] says.
//!
//! [`properties`] says what must be true, and [`witness`] watches for it. [`switches`] removes single checks, those
//! in `decide` by its own [`Guards`](toolwright_executor::lifecycle::Guards), and the tests show which property is
//! violated then. For a violated property, the decisions that led there are printed as JSON lines, which
//! [`trace::replay`](toolwright_executor::lifecycle::trace::replay) replays.
//!
//! The stages of an application let a call through, delay it, answer it or refuse it, as a separate step.
//!
//! Not modelled are: the text of arguments beyond two versions, secrets beyond arguments that only executors can
//! read, plans of several calls that wait for each other, reads that are not recorded, circuit breakers, backoff, an
//! executor that shuts down, and several pages of a list. Workers are alike, so states that differ only in their
//! order count as one.

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
