//! Untrusted text, such as that of a web page or a foreign server, for a model to read.

pub use toolwright_core::untrusted::{escaped, fenced, line};
