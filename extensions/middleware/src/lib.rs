//! Ready-made middleware for Toolwright, for agents of one process that work on the same resources.
//!
//! - [`Reservations`] prevents two runs from touching a resource at the same time if one of them writes it.
//! - [`ReadCache`] answers a repeated read without running its tool again.
#![warn(missing_docs)]

mod read_cache;
mod reservations;

pub use read_cache::{CacheStatistics, ReadCache};
pub use reservations::{Reservation, Reservations, Reserved};
