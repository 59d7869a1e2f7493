//! The calls that a tool makes while its own call runs. Its own call is their parent, and they are the children. Tools
//! make such calls with [`Calls`].
//!
//! - A child is a call like any other. It is made in a run of its own, which is a copy of its parent's run with a
//!   [`Lineage`]. It therefore passes the same stages, and a tool has no other way to call a tool.
//! - [`Family`] is the state that all attempts of a parent share: for how long children have been running, and their
//!   answers. [`Attempt`] is one attempt, which makes the calls.
//! - [`Delegation`] is for a call that works as an agent, such as a sub-agent. The calls of this agent can use only
//!   some of the tools.

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
