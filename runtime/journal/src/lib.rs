//! Part of `toolwright`, without a public interface of its own: the record of a call, its states, the trait of stores,
//! and the statements by which people decide.
#![warn(missing_docs)]

pub mod approval;
pub mod arguments;
pub mod journal;
mod owned_file;
mod stored_answer;

/// This type is re-exported so that the macros of this crate can name it.
#[doc(hidden)]
pub use toolwright_core::context::CallId;
