//! The search for tools that a model is not shown until it looks for them, for the models of every provider.
//!
//! What a model has found is in its history: a run that is taken up lists the same tools, and nothing else is recorded.

mod found;
mod tools;

pub(crate) use self::found::found;
pub(crate) use self::tools::{is_searched, search_tools, unlisted};
