//! Calls that a call makes, its children: [`Calls`] as an executor provides it.
//!
//! - A child is a call like any other, made in a run of its own, which copies its parent's run and adds a [`Lineage`]:
//!   so it passes the same stages, and there is no other way to call a tool.
//! - [`Family`] is what all attempts of a parent share: its place among the running calls, its clock, and the answers
//!   of its children. [`Attempt`] is one attempt, and makes calls.
//! - [`Delegation`] is for a call that works as an agent of its own: its calls can use only some of its tools.

mod children;
mod covered;
mod delegated;
mod delegation;
mod family;
mod lineage;
mod places;
mod remembered;

pub(crate) use children::{Attempt, own_to_run};
pub(crate) use covered::check_covered;
pub(crate) use delegated::DelegatedContext;
pub use delegation::{DelegatedRun, Delegation, inherited, run_of};
pub(crate) use family::Family;
pub(crate) use lineage::{Lineage, RecordedParent};
