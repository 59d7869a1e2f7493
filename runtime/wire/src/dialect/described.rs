//! The input and the result of writing a tool in a dialect.

use serde_json::Value;
use toolwright_core::tool::{Definition, Effect};

use super::finding::Finding;

/// A tool that is to be written in a dialect.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct DescribedTool<'a> {
    /// The name of the tool in the application.
    pub name: &'a str,
    /// A name that people read, if the tool has one.
    pub title: Option<&'a str>,
    /// What the tool does.
    pub description: &'a str,
    /// The schema of the tool's input: an object whose references point only into its own `$defs`.
    pub input_schema: &'a Value,
    /// The schema of the tool's output, if it has one.
    pub output_schema: Option<&'a Value>,
    /// The effect of the tool, if that is known.
    pub effect: Option<Effect>,
    /// The order of the input's properties; the other properties follow in alphabetical order.
    pub order: &'a [&'a str],
    /// Whether the provider shows the tool only after its model has searched for it; see
    /// [`Dialect::has_tool_search`](super::Dialect::has_tool_search).
    pub deferred: bool,
}

impl<'a> DescribedTool<'a> {
    /// Describes a tool by the three fields that every provider needs.
    #[must_use]
    pub fn new(name: &'a str, description: &'a str, input_schema: &'a Value) -> Self {
        Self {
            name,
            title: None,
            description,
            input_schema,
            output_schema: None,
            effect: None,
            order: &[],
            deferred: false,
        }
    }

    /// Defers the tool, so that a model sees it only after a search.
    #[must_use]
    pub fn deferred(self) -> Self {
        Self { deferred: true, ..self }
    }

    #[doc(hidden)]
    pub fn of(definition: &'a Definition, order: &'a [&'a str]) -> Self {
        Self {
            name: &definition.name,
            title: definition.title.as_deref(),
            description: &definition.description,
            input_schema: &definition.input_schema,
            output_schema: definition.output_schema.as_ref(),
            effect: Some(definition.effect),
            order,
            deferred: false,
        }
    }
}

/// A tool in the form of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenderedTool {
    /// The name that the model calls.
    pub name: String,
    /// One element of the request's list of tools, as JSON text.
    pub json: String,
    /// Constraints that the description states, because the form has no keyword for them.
    pub notes: Vec<Finding>,
    /// The number of optional properties in the schema.
    pub(crate) optional: usize,
    /// The number of values with several types in the schema.
    pub(crate) unions: usize,
}
