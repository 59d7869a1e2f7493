//! The providers and their names.

use std::fmt;

/// A provider, or more precisely the format of its API. Other servers may use the same format.
///
/// ```
/// use toolwright::provider::Provider;
///
/// assert_eq!(Provider::OpenAiChat.name(), "openai-chat");
/// assert_eq!(Provider::Gemini.to_string(), "gemini");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// Anthropic's Messages API.
    Anthropic,
    /// `OpenAI`'s Chat Completions API, which many other servers implement as well.
    OpenAiChat,
    /// `OpenAI`'s Responses API.
    OpenAiResponses,
    /// Google's Gemini API, with `generateContent`.
    Gemini,
}

impl Provider {
    /// Returns the provider's name, as used in commands, records and error messages.
    ///
    /// ```
    /// # use toolwright::provider::Provider;
    /// assert_eq!(Provider::OpenAiResponses.name(), "openai-responses");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Gemini => "gemini",
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
