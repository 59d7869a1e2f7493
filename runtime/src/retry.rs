//! When a failed call is tried again, and when a tool is left alone for a while.
//!
//! - Deciding is pure: [`RetryPolicy`] takes the attempt, what failed, the tool's effect and a random number, and gives
//!   the delay or why to stop. [`CircuitBreaker`] counts failures with times that its caller gives.
//! - What an error means is its [`ErrorClass`](crate::ErrorClass), never its words.
//! - A call whose effect is `once` is repeated only where its tool says that nothing happened.

pub use toolwright_executor::retry::{CircuitBreaker, Jitter, RetryPolicy, Stop, retry_after};
