//! Guards of an agent look at input to its models and output of its models, and let it through, change it, send it back
//! or end the run.
//!
//! ```text
//!   prompt ─ before_run ─▶ history ─ before_model ─▶ model ─ after_model ─▶ answer ──▶ calls …
//!                                                   ║ beside_model            └──▶ end ─ after_run ─▶ result
//! ```
//!
//! - The guards of a stage run in the order in which they were added. Each looks at the result of the guard before it.
//!   Only the guards beside the model run at the same time.
//! - A guard that panics, takes too long or makes an impossible change ends the run, so nothing passes that a guard has
//!   not accepted. Requests for a summary are an exception: if a guard fails or refuses there, the run continues
//!   without the summary.
//! - A decision that sends something back or ends the run is an input of [`step`](crate::step). A recorded run records
//!   each decision other than to continue in one commit with the step that follows.

mod decision;
mod foreign;
mod guard;
mod look;
mod patterns;
mod secrets;
mod set;
mod sizes;
mod texts;
mod views;
mod watch;

pub use self::decision::{AfterDecision, BeforeDecision};
pub use self::foreign::ForeignInstructions;
pub(crate) use self::foreign::speaks_as_system;
pub use self::guard::{Guard, IntoGuards};
pub(crate) use self::look::Reports;
pub use self::patterns::{ForbiddenText, PatternError};
pub use self::secrets::Secrets;
pub(crate) use self::set::GuardSet;
pub use self::sizes::SizeLimit;
pub use self::views::{
    AnswerChange, EndingRun, GuardedRun, IncomingAnswer, OutgoingRequest, RequestChange, UserPrompt,
};
