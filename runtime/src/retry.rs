//! When a failed call is tried again, and when the circuit breaker of a tool opens.
//!
//! - Decisions are pure: [`RetryPolicy`] takes the attempt, its error, the tool's effect and a random number, and
//!   returns the delay or why to stop. [`CircuitBreaker`] counts failures by times that its caller passes.
//! - Only the [`ErrorClass`](crate::ErrorClass) of an error counts, never its message.
//! - A call whose effect is `once` is repeated only if its tool says that nothing happened.

pub use toolwright_executor::retry::{CircuitBreaker, Jitter, RetryPolicy, Stop, retry_after};
