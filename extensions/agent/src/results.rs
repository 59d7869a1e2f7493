//! Large answers of tools: limits how much of such an answer is sent to a model, and lets the model read the rest and
//! pass it to other tools.
//!
//! - The history of a run, the journal and the host have every answer in full. Only the copy of the history for a model
//!   is shortened.
//! - A model names an answer by a handle: `lr_3` is the third answer in the history of the run. So handles are the same
//!   after a restart and in a fork, even if the budget changes. A handle is valid only within its run.
//! - Everything except [`run`](self::run) and [`tools`](self::tools) is pure.

mod budget;
mod excerpt;
mod page;
mod reference;
mod run;
mod search;
mod shape;
mod text;
mod tools;

pub use self::budget::AnswerBudget;
pub(crate) use self::reference::has_reference;
pub(crate) use self::run::Results;
