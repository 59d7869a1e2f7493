//! The harness itself: short runs, each broken promise, the end of an application, faults of disk and clock.

#![expect(clippy::unwrap_used, reason = "whatever is missing here fails the test")]

mod agents;
mod boards;
mod drain;
mod faults;
mod lives;
mod pipes;
mod short;
