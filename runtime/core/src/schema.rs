//! Shared code for everything that reads schemas: it finds the schemas inside a schema, and describes in words which
//! values a schema accepts.

mod docs;
mod preset;
pub mod texts;
pub mod walk;
#[doc(hidden)]
pub mod words;

use std::fmt;

use crate::json::pointer::below;

pub use docs::unwrap_docs;
pub use preset::json as preset_json;
pub use words::expected as in_words;

/// Why the schema of a tool cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaProblem {
    /// The location of the problem in the schema, as a JSON pointer.
    pub pointer: String,
    /// What the schema contains there, and what it should contain.
    pub message: String,
}

impl SchemaProblem {
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }

    /// Converts the pointer, which refers to the schema of one parameter, to a pointer into the schema of the whole
    /// input.
    #[doc(hidden)]
    pub fn within(mut self, parameter: &str) -> Self {
        if !self.pointer.starts_with("/$defs/") {
            self.pointer = format!("{}{}", below("/properties", parameter), self.pointer);
        }
        self
    }
}

impl fmt::Display for SchemaProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.pointer, self.message)
    }
}
