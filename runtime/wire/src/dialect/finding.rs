//! A finding describes what a dialect changes or refuses in a tool, so that a person can correct the tool.

use std::fmt;

use serde::Serialize;

use super::Dialect;

/// One part of a tool that a provider does not accept unchanged.
///
/// ```
/// use serde_json::json;
/// use toolwright::dialect::{Dialect, DescribedTool, Rule};
///
/// let schema = json!({"type": "object", "properties": {"id": {}}});
/// let findings = Dialect::OpenAiChatStrict
///     .render(&DescribedTool::new("find", "Finds it.", &schema))
///     .unwrap_err();
/// assert_eq!(findings[0].rule, Rule::Untyped);
/// assert_eq!(findings[0].pointer, "/input_schema/properties/id");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The tool's name.
    pub tool: String,
    /// The dialect in which the tool was to be rendered.
    pub dialect: Dialect,
    /// Whether the provider would refuse the tool.
    pub severity: Severity,
    /// The rule that the finding is about.
    pub rule: Rule,
    /// The place, as a JSON pointer into `{"name", "description", "input_schema", "output_schema"}`.
    pub pointer: String,
    /// What the tool contains at that place, and what the provider accepts.
    pub message: String,
    /// How to correct the tool; empty if no correction is necessary.
    pub fix: String,
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The tool can be sent with a change. A constraint, for instance, is stated in the description because the schema
    /// cannot express it.
    Note,
    /// The tool cannot be sent to the provider.
    Error,
}

/// The rule that a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rule {
    /// The name has characters that the provider does not accept; they are replaced.
    NameMapped,
    /// The tool's name is empty or too long.
    NameLength,
    /// Two tools would have the same name.
    NameCollision,
    /// There are more tools, optional properties or values of several types than a request to the provider may contain.
    ToolCount,
    /// The name of a property is too long, or has characters that the provider does not accept. In nested objects this
    /// is only a note, because providers are known to accept such names there.
    PropertyName,
    /// A keyword is written into the description, because the provider does not accept it in a schema.
    Keyword,
    /// A keyword can neither be sent nor be written into the description.
    Unsupported,
    /// The input is not an object, or is a choice between objects. For MCP, also an output that is not an object.
    Root,
    /// A value may have any type.
    Untyped,
    /// The schema of an array does not say of which type its items are.
    ListItems,
    /// An object accepts keys that are not known in advance.
    OpenObject,
    /// A type contains itself, but the provider does not support recursion, or not at this place.
    Recursion,
    /// A reference has no target in the schema.
    Reference,
    /// `null` and an absent key mean different things, but the provider can express only one of them.
    NullOrAbsent,
    /// The schema is larger than the provider accepts.
    Size,
    /// The schema contradicts itself: no value is valid.
    Impossible,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, dialect, pointer, message, fix, .. } = self;
        write!(formatter, "{dialect}: tool `{tool}` at {pointer}: {message}")?;
        if fix.is_empty() { Ok(()) } else { write!(formatter, "; {fix}") }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}
