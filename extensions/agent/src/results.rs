//! Large answers of tools: what a model reads of them, how it gets at the rest, and how it passes them on.
//!
//! - The history of a run has every answer whole, and so have the journal and the host. Only the copy of the history that a
//!   model is sent is shorter.
//! - The handle `lr_3` is the third answer of the run's history. So handles are the same after a restart and in a fork,
//!   whatever the budget is by then, and are gone with the run.
//! - All but [`run`](self::run) and [`tools`](self::tools) is pure.

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
