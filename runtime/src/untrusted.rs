//! Text that a stranger wrote, such as a web page or a foreign server, for a model to read.

pub use toolwright_core::untrusted::{escaped, fenced, line};
