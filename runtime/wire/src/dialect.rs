//! Describes a tool as each provider requires: with the subset of JSON Schema that the provider accepts, in the form of
//! its requests, and with a name that it allows. Converts a tool to text, and does no I/O.
//!
//! - A keyword that a provider does not accept is written into the description, or the tool is refused with a
//!   [`Finding`]. Only keywords that do not matter to a model are dropped without a note, such as titles and the limits
//!   of 64-bit types.
//! - The same tool always gives the same text, whatever the order of the keys in its schema is.

mod described;
mod finding;
mod form;
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

pub use self::described::{DescribedTool, RenderedTool};
pub use self::finding::{Finding, Rule, Severity};
pub use self::form::{Dialect, UnknownDialect};
pub use self::listing::{DialectError, Listing, Request};
pub use self::mcp::call_tool_result;
use crate::provider::Provider;

impl Dialect {
    /// Returns the wire format of the messages that call tools of this form. `None` for MCP, whose messages are read
    /// and written by another library.
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

    /// Returns whether the provider's API can search for deferred tools.
    #[must_use]
    pub fn has_tool_search(self) -> bool {
        matches!(self.provider(), Some(Provider::Anthropic | Provider::OpenAiResponses))
    }

    /// Renders one tool in the form that the provider accepts.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::dialect::{Dialect, DescribedTool};
    ///
    /// let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    /// let shown = Dialect::Mcp.render(&DescribedTool::new("ping", "Answers.", &schema))?;
    /// assert!(shown.json.starts_with(r#"{"name":"ping""#));
    /// # Ok::<(), Vec<toolwright::dialect::Finding>>(())
    /// ```
    ///
    /// # Errors
    /// Every reason why the provider would refuse the tool, and all notes.
    pub fn render(self, tool: &DescribedTool<'_>) -> Result<RenderedTool, Vec<Finding>> {
        render::tool(self, tool)
    }
}

/// Chooses the provider's form without `strict`.
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
