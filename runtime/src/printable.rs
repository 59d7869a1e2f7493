//! Text of others, such as a model's or a file's, as a person may safely be shown it.

pub use toolwright_core::printable::{acts, json, line, lines};
