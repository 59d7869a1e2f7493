//! Marks untrusted text, such as a web page or a text from a foreign server, before a model reads it.

pub use toolwright_core::untrusted::{escaped, fenced, line};
