//! The input and the result of rendering a tool in a dialect.

use serde_json::Value;
use toolwright_core::tool::{Definition, Effect};

use super::finding::Finding;

/// A tool to render in a dialect.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct DescribedTool<'a> {
    /// The name of the tool in the application.
    pub name: &'a str,
    /// A title for people, if the tool has one.
    pub title: Option<&'a str>,
    /// What the tool does.
    pub description: &'a str,
    /// The schema of the tool's input: an object schema whose references lead only to its own `$defs`.
    pub input_schema: &'a Value,
    /// The schema of the tool's output, if it has one.
    pub output_schema: Option<&'a Value>,
    /// The effect of the tool, if that is known.
    pub effect: Option<Effect>,
    /// The order of the input's properties. Properties that are not listed follow in alphabetical order.
    pub order: &'a [&'a str],
    /// Whether the model sees the tool only after a search: see
    /// [`Dialect::has_tool_search`](super::Dialect::has_tool_search).
    pub deferred: bool,
}

impl<'a> DescribedTool<'a> {
    /// Makes a description from the three fields that every provider needs.
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

/// A tool in the form that one provider expects.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenderedTool {
    /// The name by which the model calls the tool.
    pub name: String,
    /// One element of the request's list of tools, as JSON text.
    pub json: String,
    /// Notes about changes to the tool, such as constraints that are written into the description because the form has
    /// no keyword for them.
    pub notes: Vec<Finding>,
    /// The number of optional properties in the schema.
    pub(crate) optional: usize,
    /// The number of values in the schema that may have several types.
    pub(crate) unions: usize,
}
