//! When a failed call is tried again, and when a tool is left alone for a while.
//!
//! - Deciding is pure: [`RetryPolicy`] takes the attempt, what failed, the tool's effect and a random number, and gives
//!   the delay or why to stop. [`CircuitBreaker`] counts failures with times that its caller gives.
//! - What an error means is its `ErrorClass`, never its message.
//! - A call whose effect is `once` is repeated only where its tool says that nothing happened.

mod circuit;
mod header;
mod machine;
mod policy;

pub use circuit::CircuitBreaker;
pub use header::retry_after;
pub use policy::{Jitter, RetryPolicy, Stop};

pub(crate) use machine::CircuitRefusal;
pub(crate) use policy::RetryCase;

pub(crate) use circuit::{Circuit, Circuits, Through, unavailable};
