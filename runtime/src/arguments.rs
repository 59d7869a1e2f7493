//! What of a call is judged: its final arguments, and the digest that a decision is bound to.
//!
//! - [`canonical`] gives equal arguments one text, whatever spelling they came in.

mod canonical;
mod number;

pub use canonical::{ArgumentsError, canonical};
