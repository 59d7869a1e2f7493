//! The differences between the APIs: path, headers, body of requests, and reading of responses.

use std::fmt::Display;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use toolwright::dialect::Listing;
use toolwright::provider::{MediaSupport, MessageError, Provider};

use super::fault::Fault;
use super::key::Secret;
use super::{anthropic, gemini, openai_chat, openai_responses, settings};
use crate::limits::Usage;
use crate::model::{ModelAnswer, ModelError, ModelRequest, ModelSettings};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    Anthropic,
    OpenAiChat,
    OpenAiResponses,
    Gemini,
}

/// The parts of a model that the body of a request depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestTarget<'a> {
    pub(super) model: &'a str,
    /// The origin of the verbatim content that the server can read.
    pub(super) origin: &'a str,
    pub(super) max_tokens: Option<u32>,
    pub(super) media: MediaSupport,
    /// Whether the server knows `max_tokens` but not `max_completion_tokens`.
    pub(super) knows_max_tokens_alone: bool,
    /// Whether the request lets the server compact the history.
    pub(super) compacts: bool,
}

#[cfg(test)]
impl Api {
    /// Makes the target of a model on the vendor's own server. The model reads every kind of media.
    pub(super) fn asked(self, model: &str, max_tokens: Option<u32>) -> RequestTarget<'_> {
        let origin = self.provider().name();
        RequestTarget {
            model,
            origin,
            max_tokens,
            media: MediaSupport::Full,
            knows_max_tokens_alone: false,
            compacts: false,
        }
    }
}

impl Api {
    pub(super) fn provider(self) -> Provider {
        match self {
            Self::Anthropic => Provider::Anthropic,
            Self::OpenAiChat => Provider::OpenAiChat,
            Self::OpenAiResponses => Provider::OpenAiResponses,
            Self::Gemini => Provider::Gemini,
        }
    }

    /// Returns the address of the vendor's own server.
    pub(super) fn base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAiChat | Self::OpenAiResponses => "https://api.openai.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com",
        }
    }

    /// Returns the path below the base URL.
    pub(super) fn path(self, model: &str) -> String {
        match self {
            Self::Anthropic => "/v1/messages".to_owned(),
            Self::OpenAiChat => "/chat/completions".to_owned(),
            Self::OpenAiResponses => "/responses".to_owned(),
            Self::Gemini => {
                format!("/v1beta/models/{}:generateContent", model.trim_start_matches("models/"))
            }
        }
    }

    /// Returns the path below the base URL of a streaming request, and its query.
    pub(super) fn stream_path(self, model: &str) -> (String, Option<&'static str>) {
        match self {
            Self::Anthropic | Self::OpenAiChat | Self::OpenAiResponses => (self.path(model), None),
            Self::Gemini => {
                let path = self.path(model).replace(":generateContent", ":streamGenerateContent");
                (path, Some("alt=sse"))
            }
        }
    }

    /// Reports whether a request can contain this name of a model. Gemini's requests contain the name in their URL.
    pub(super) fn takes_name(self, model: &str) -> bool {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "-._".contains(it);
        self != Self::Gemini || model.trim_start_matches("models/").chars().all(is_plain)
    }

    /// Returns the media that the model reads, judged by the model's name.
    pub(super) fn media(self, model: &str) -> MediaSupport {
        match self {
            Self::Gemini if gemini::is_before_signatures(model) => MediaSupport::Messages,
            _ => MediaSupport::Full,
        }
    }

    /// Returns the headers of every request; `None` if a header cannot hold the key.
    pub(super) fn headers(
        self,
        key: Option<&Secret>,
        key_header: Option<&HeaderName>,
    ) -> Option<HeaderMap> {
        let mut headers = HeaderMap::new();
        let own = match self {
            Self::Anthropic => {
                let version = HeaderName::from_static("anthropic-version");
                headers.insert(version, HeaderValue::from_static("2023-06-01"));
                key.map(|key| (HeaderName::from_static("x-api-key"), key.header("")))
            }
            Self::OpenAiChat | Self::OpenAiResponses => {
                key.map(|key| (AUTHORIZATION, key.header("Bearer ")))
            }
            Self::Gemini => {
                key.map(|key| (HeaderName::from_static("x-goog-api-key"), key.header("")))
            }
        };
        match (key_header, key, own) {
            (Some(name), Some(key), _) => _ = headers.insert(name.clone(), key.header("")?),
            (None, _, Some((name, value))) => _ = headers.insert(name, value?),
            _ => {}
        }
        Some(headers)
    }

    /// Refuses settings that the API does not support.
    pub(super) fn check(
        self,
        settings: &ModelSettings,
        max_tokens: Option<u32>,
    ) -> Result<(), ModelError> {
        settings::known(self.provider(), max_tokens.or(self.least_tokens()), settings)
    }

    /// Returns the limit on an answer's tokens for APIs that require one, which applies if no limit is set.
    fn least_tokens(self) -> Option<u32> {
        (self == Self::Anthropic).then_some(anthropic::MAX_TOKENS)
    }

    pub(super) fn body(
        self,
        to: &RequestTarget<'_>,
        request: &ModelRequest<'_>,
    ) -> Result<String, ModelError> {
        settings::checked(self.provider(), to.max_tokens.or(self.least_tokens()), request)?;
        let body = match self {
            Self::Anthropic => anthropic::body(to, request),
            Self::OpenAiChat => openai_chat::body(to, request),
            Self::OpenAiResponses => openai_responses::body(to, request),
            Self::Gemini => gemini::body(to, request),
        };
        body.map_err(|error| {
            let message = format!("the request to {} cannot be written: {error}", self.provider());
            ModelError::new("invalid_history", message).caused_by(error)
        })
    }

    /// Names the expected body of a response, for messages.
    fn response(self) -> &'static str {
        match self {
            Self::Anthropic => "an Anthropic message",
            Self::OpenAiChat => "an OpenAI chat completion",
            Self::OpenAiResponses => "an OpenAI response",
            Self::Gemini => "a Gemini response",
        }
    }

    /// Parses the JSON in which the provider reports a usage.
    pub(super) fn usage(self, text: &str) -> Option<Usage> {
        match self {
            Self::Anthropic => anthropic::usage(text),
            Self::OpenAiChat => openai_chat::usage(text),
            Self::OpenAiResponses => openai_responses::usage(text),
            Self::Gemini => gemini::usage(text),
        }
    }

    /// Reads the usage of a response that has no usable answer.
    pub(super) fn usage_in(self, response: &str) -> Option<Usage> {
        let response: Value = serde_json::from_str(response).ok()?;
        let key = if self == Self::Gemini { "usageMetadata" } else { "usage" };
        self.usage(&response.get(key)?.to_string())
    }

    /// Reads a response with status 200.
    pub(super) fn answer(self, text: &str, listing: &Listing) -> Result<ModelAnswer, Fault> {
        let wrong = |why: &dyn Display| Fault::unexpected(text, self.response(), why);
        let calls = match listing.tool_calls(text) {
            // An answer that was cut in the middle of a call still counts as an answer.
            Err(error) if !matches!(error, MessageError::CutShort { .. }) => {
                return Err(wrong(&error));
            }
            calls => calls,
        };
        match self {
            Self::Anthropic => anthropic::answer(text, calls, wrong),
            Self::OpenAiChat => openai_chat::answer(text, calls, wrong),
            Self::OpenAiResponses => openai_responses::answer(text, calls, wrong),
            Self::Gemini => gemini::answer(text, calls, wrong),
        }
    }
}
