//! The search for deferred tools, which a model is shown only after it has found them by a search or has tried to call
//! them. This search works with every provider.
//!
//! The history contains the tools that a model has found. A resumed run therefore lists the same tools, and nothing
//! else is recorded.

mod found;
mod tools;

pub(crate) use self::found::found;
pub(crate) use self::tools::{is_searched, search_tools, unlisted};
