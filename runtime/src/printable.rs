//! Makes foreign text, such as a model's or a file's, safe to show to a person.

pub use toolwright_core::printable::{acts, json, line, lines};
