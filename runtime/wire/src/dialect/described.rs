//! A tool on its way into a dialect, and as it is shown there.

use serde_json::Value;
use toolwright_core::tool::{Definition, Effect};

use super::finding::Finding;

/// A tool as its dialect is to show it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct DescribedTool<'a> {
    /// The name by which the application knows it.
    pub name: &'a str,
    /// A name for people.
    pub title: Option<&'a str>,
    /// What it does.
    pub description: &'a str,
    /// The schema of its input: an object, references only into its own `$defs`.
    pub input_schema: &'a Value,
    /// The schema of its output.
    pub output_schema: Option<&'a Value>,
    /// What it changes, where that is known.
    pub effect: Option<Effect>,
    /// The order in which to show its properties; those that are not named follow by name.
    pub order: &'a [&'a str],
    /// Whether the provider shows it once its models have searched for it; see [`Dialect::has_tool_search`](super::Dialect::has_tool_search).
    pub deferred: bool,
}

impl<'a> DescribedTool<'a> {
    /// Describes a tool by the three things that every provider takes.
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

    /// Defers the tool: a model sees it once it has searched for it.
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

/// A tool as a provider takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenderedTool {
    /// The name by which the model calls it.
    pub name: String,
    /// One element of the request's list of tools, as JSON text.
    pub json: String,
    /// What the description says in words, because the form has no keyword for it.
    pub notes: Vec<Finding>,
    /// How many properties may be absent.
    pub(crate) optional: usize,
    /// How many values are of several types.
    pub(crate) unions: usize,
}
