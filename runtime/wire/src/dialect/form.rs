//! The dialects and their names.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The form in which a tool is described to a provider.
///
/// ```
/// use toolwright::dialect::Dialect;
///
/// let dialect: Dialect = "openai-chat-strict".parse()?;
/// assert_eq!(dialect, Dialect::OpenAiChatStrict);
/// assert_eq!(serde_json::to_string(&dialect)?, r#""openai-chat-strict""#);
/// assert_eq!(serde_json::from_str::<Dialect>(r#""openai-chat-strict""#)?, dialect);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Anthropic's Messages API.
    Anthropic,
    /// Anthropic's Messages API with `strict: true`: the arguments that the model writes follow the schema.
    AnthropicStrict,
    /// `OpenAI`'s Chat Completions API.
    OpenAiChat,
    /// `OpenAI`'s Chat Completions API with `strict: true`: the model sends every key, and `null` for an absent one.
    OpenAiChatStrict,
    /// `OpenAI`'s Responses API.
    OpenAiResponses,
    /// `OpenAI`'s Responses API with `strict: true`.
    OpenAiResponsesStrict,
    /// Google's Gemini API, with the schema in `parametersJsonSchema`.
    Gemini,
    /// Google's Gemini API, with the schema in `parameters`: an older subset of `OpenAPI` 3.0.
    GeminiOpenApi,
    /// The list of tools (`tools/list`) of the Model Context Protocol.
    Mcp,
}

impl Dialect {
    /// All dialects, in the order of their declaration.
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

    /// Returns the dialect's name in commands and findings.
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

impl<'de> Deserialize<'de> for Dialect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        name.parse().map_err(D::Error::custom)
    }
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let dialect = Self::ALL.into_iter().find(|dialect| dialect.name() == name);
        dialect.ok_or_else(|| UnknownDialect { name: name.to_owned() })
    }
}

/// The error for a name that no dialect has.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("no dialect is called `{name}`, expected one of {}", Dialect::ALL.map(Dialect::name).join(", "))]
#[non_exhaustive]
pub struct UnknownDialect {
    /// The name that was given.
    pub name: String,
}
toolwright_core::debug_as_sentence!(UnknownDialect);
