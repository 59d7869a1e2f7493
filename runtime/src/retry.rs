//! Decides when a failed call is tried again, and when the circuit breaker of a tool opens.
//!
//! - Decisions read no clock: [`RetryPolicy`] takes the attempt, its error, the tool's effect and a random number, and
//!   returns the delay or the reason to stop. [`CircuitBreaker`] counts failures at the times that its caller passes.
//! - Only the [`ErrorClass`](crate::ErrorClass) of an error counts, never its message.
//! - A call whose effect is `once` is repeated only if its error says that nothing happened.

pub use toolwright_executor::retry::{CircuitBreaker, Jitter, RetryPolicy, Stop, retry_after};
