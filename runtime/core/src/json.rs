//! JSON as text and as a tree with exact numbers, JSON pointers, and a canonical form.

mod canonical;
mod duplicates;
pub mod number;
pub mod parse;
pub mod pointer;
mod quotes;
pub mod reference;
pub(crate) mod special;
pub mod tree;

pub use canonical::{ArgumentsError, canonical, canonical_of, read};
pub use duplicates::Duplicates;

/// The maximum nesting depth of arrays and objects in a value that is read or repaired.
#[doc(hidden)]
pub const MAX_DEPTH: usize = 127;
