//! Policies at work: what an executor does with what they say. What they say is tested beside them.

mod declared;
mod defects;
mod exposed;
mod gate;
pub mod kept;
mod plans;
mod reloading;
mod settled;
mod support;
