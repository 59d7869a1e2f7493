//! Decides when a failed call is tried again, and when the circuit breaker of a tool opens.
//!
//! - Decisions are pure. [`RetryPolicy`] takes the attempt, its error, the tool's effect and a random number, and
//!   returns the delay or the reason to stop. A circuit breaker counts failures, and its callers pass the time.
//! - Decisions depend on the class of an error and on what the executor did with the call, and never on the message of
//!   the error.
//! - A call whose effect is `once` is repeated only if its error says that nothing happened.

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
