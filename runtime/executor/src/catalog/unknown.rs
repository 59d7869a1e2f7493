//! The error for the name of a tool that does not exist.

use std::fmt;

/// The error for a name that no tool has.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownTool {
    /// The name.
    pub name: String,
    /// The registered names that are similar to the unknown name.
    pub near: Vec<String>,
}
toolwright_core::debug_as_sentence!(UnknownTool);

impl fmt::Display for UnknownTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "no tool is called `{}`", self.name)?;
        match self.near.as_slice() {
            [] => Ok(()),
            near => write!(formatter, "; did you mean `{}`?", near.join("`, `")),
        }
    }
}

impl std::error::Error for UnknownTool {}
