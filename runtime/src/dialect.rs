//! How each provider wants a tool described: the subset of JSON Schema it takes, the request's shape
//! and the names it allows. Pure: a tool goes in, text comes out.
//!
//! - What a provider cannot take as a keyword is told in the description, or the tool is refused with
//!   a [`Finding`]; nothing is dropped in silence.
//! - The same tool gives the same text, whatever the order in which its schema was built.

mod finding;
mod limits;
mod listing;
mod mcp;
mod names;
mod node;
mod null;
mod nulls;
mod parts;
mod recursion;
mod reduce;
mod render;
mod rules;
mod words;

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use serde_json::Value;

pub use self::finding::{Finding, Rule, Severity};
pub use self::listing::{DialectError, Listing, Request};
pub use self::mcp::call_tool_result;
use crate::provider::Provider;
use crate::tool::{Definition, Effect};

/// The form in which a tool is shown.
///
/// ```
/// use toolwright::dialect::Dialect;
///
/// let dialect: Dialect = "openai-chat-strict".parse()?;
/// assert_eq!(dialect, Dialect::OpenAiChatStrict);
/// # Ok::<(), toolwright::dialect::UnknownDialect>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Anthropic's Messages API.
    Anthropic,
    /// The same with `strict: true`: what the model writes follows the schema.
    AnthropicStrict,
    /// `OpenAI`'s Chat Completions API.
    OpenAiChat,
    /// The same with `strict: true`: every key is sent, `null` for an absent one.
    OpenAiChatStrict,
    /// `OpenAI`'s Responses API.
    OpenAiResponses,
    /// The same with `strict: true`.
    OpenAiResponsesStrict,
    /// Google's Gemini API, `parametersJsonSchema`.
    Gemini,
    /// The same by `parameters`, an older subset of `OpenAPI` 3.0.
    GeminiOpenApi,
    /// The Model Context Protocol's `tools/list`.
    Mcp,
}

impl Dialect {
    /// Every dialect, in the order of their declaration.
    pub const ALL: [Self; 9] = [
        Self::Anthropic,
        Self::AnthropicStrict,
        Self::OpenAiChat,
        Self::OpenAiChatStrict,
        Self::OpenAiResponses,
        Self::OpenAiResponsesStrict,
        Self::Gemini,
        Self::GeminiOpenApi,
        Self::Mcp,
    ];

    /// The dialect's name in commands and findings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::AnthropicStrict => "anthropic-strict",
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiChatStrict => "openai-chat-strict",
            Self::OpenAiResponses => "openai-responses",
            Self::OpenAiResponsesStrict => "openai-responses-strict",
            Self::Gemini => "gemini",
            Self::GeminiOpenApi => "gemini-openapi",
            Self::Mcp => "mcp",
        }
    }

    /// The wire format of the messages in which tools of this form are called; MCP has its own.
    #[must_use]
    pub fn provider(self) -> Option<Provider> {
        match self {
            Self::Anthropic | Self::AnthropicStrict => Some(Provider::Anthropic),
            Self::OpenAiChat | Self::OpenAiChatStrict => Some(Provider::OpenAiChat),
            Self::OpenAiResponses | Self::OpenAiResponsesStrict => Some(Provider::OpenAiResponses),
            Self::Gemini | Self::GeminiOpenApi => Some(Provider::Gemini),
            Self::Mcp => None,
        }
    }

    /// One tool as the provider takes it.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::dialect::{Dialect, Described};
    ///
    /// let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    /// let shown = Dialect::Mcp.render(&Described::new("ping", "Answers.", &schema))?;
    /// assert!(shown.json.starts_with(r#"{"name":"ping""#));
    /// # Ok::<(), Vec<toolwright::dialect::Finding>>(())
    /// ```
    ///
    /// # Errors
    /// Every reason for which the provider would refuse the tool, and every note beside them.
    pub fn render(self, tool: &Described<'_>) -> Result<Rendered, Vec<Finding>> {
        render::tool(self, tool)
    }
}

/// A tool as its dialect is to show it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Described<'a> {
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
}

impl<'a> Described<'a> {
    /// A tool of which no more is known.
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
        }
    }

    pub(crate) fn of(definition: &'a Definition, order: &'a [&'a str]) -> Self {
        Self {
            name: &definition.name,
            title: definition.title.as_deref(),
            description: &definition.description,
            input_schema: &definition.input_schema,
            output_schema: definition.output_schema.as_ref(),
            effect: Some(definition.effect),
            order,
        }
    }
}

/// A tool as a provider takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rendered {
    /// The name by which the model calls it.
    pub name: String,
    /// One element of the request's list of tools, as JSON text.
    pub json: String,
    /// What is told in words.
    pub notes: Vec<Finding>,
    /// How many properties may be absent.
    pub(crate) optional: usize,
    /// How many values are of several types.
    pub(crate) unions: usize,
}

/// A provider's form without `strict`.
impl From<Provider> for Dialect {
    fn from(provider: Provider) -> Self {
        match provider {
            Provider::Anthropic => Self::Anthropic,
            Provider::OpenAiChat => Self::OpenAiChat,
            Provider::OpenAiResponses => Self::OpenAiResponses,
            Provider::Gemini => Self::Gemini,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Serialize for Dialect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let dialect = Self::ALL.into_iter().find(|dialect| dialect.name() == name);
        dialect.ok_or_else(|| UnknownDialect { name: name.to_owned() })
    }
}

/// No dialect has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no dialect is called `{name}`, expected one of {}", Dialect::ALL.map(Dialect::name).join(", "))]
pub struct UnknownDialect {
    /// The name.
    pub name: String,
}
