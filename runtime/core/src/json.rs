//! JSON as text and as a tree whose numbers are exact, its pointers, and one canonical form.

mod canonical;
mod duplicates;
pub mod number;
pub mod parse;
pub mod pointer;
mod quotes;
pub mod tree;

pub use canonical::{ArgumentsError, canonical, canonical_of, read};
pub use duplicates::Duplicates;
