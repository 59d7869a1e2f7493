//! The harness itself: short runs, each broken promise, the end of an application, faults of disk and clock.

mod drain;
mod faults;
mod lives;
mod short;
