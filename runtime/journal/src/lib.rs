//! Part of `toolwright`, without a public interface of its own: the record of a call, the states it goes through, what a
//! store of records must do, and the statements by which people decide.
#![warn(missing_docs)]

pub mod approval;
pub mod arguments;
pub mod journal;
mod owned_file;
mod stored_answer;

/// What the macro of this crate names.
#[doc(hidden)]
pub use toolwright_core::context::CallId;
