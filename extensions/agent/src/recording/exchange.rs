//! One request and its response.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One request and its response.
///
/// ```
/// use toolwright_agent::recording::{Exchange, RecordedRequest, RecordedResponse};
///
/// let request = RecordedRequest::new("POST", "/v1/messages", "{\n  \"model\": \"m\"\n}")?;
/// let exchange = Exchange { request, response: RecordedResponse::new(503, "<html>") };
/// assert_eq!(
///     serde_json::to_string(&exchange)?,
///     concat!(
///         r#"{"request":{"method":"POST","path":"/v1/messages","body":{"model":"m"}},"#,
///         r#""response":{"status":503,"text":"<html>"}}"#,
///     )
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// The request, as the client sent it.
    pub request: RecordedRequest,
    /// The response, as the provider sent it.
    pub response: RecordedResponse,
}

/// A request of a client, without its headers.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedRequest {
    /// The HTTP method, in capitals.
    pub method: String,
    /// The path relative to the base URL.
    pub path: String,
    /// The body of the request, as JSON.
    pub body: Box<RawValue>,
}

/// A response of a provider.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedResponse {
    /// The HTTP status.
    pub status: u16,
    /// The headers that clients use, by their names in lower case.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl RecordedRequest {
    /// Makes a request with a body of JSON.
    ///
    /// # Errors
    /// When the body is not JSON.
    pub fn new(method: &str, path: &str, body: &str) -> serde_json::Result<Self> {
        let body = raw(body)?;
        Ok(Self { method: method.to_owned(), path: path.to_owned(), body })
    }
}

impl RecordedResponse {
    /// Makes a response whose body is JSON or any other text.
    #[must_use]
    pub fn new(status: u16, body: &str) -> Self {
        let (body, text) = match raw(body) {
            Ok(body) => (Some(body), None),
            Err(_) => (None, Some(body.to_owned())),
        };
        Self { status, headers: BTreeMap::new(), body, text }
    }

    /// Returns the body's text.
    #[must_use]
    pub fn body(&self) -> &str {
        match (&self.body, &self.text) {
            (Some(body), _) => body.get(),
            (None, Some(text)) => text,
            (None, None) => "",
        }
    }
}

/// Omits bodies, which hold the conversation of a person and a model.
impl fmt::Debug for RecordedRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RecordedRequest")
            .field("method", &self.method)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for RecordedResponse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RecordedResponse")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

/// Puts JSON on one line, and leaves everything else unchanged.
fn raw(text: &str) -> serde_json::Result<Box<RawValue>> {
    let whole: &RawValue = serde_json::from_str(text)?;
    RawValue::from_string(without_space(whole.get()))
}

/// Removes the white space between tokens, but not within strings.
fn without_space(json: &str) -> String {
    let (mut is_text, mut is_escaped) = (false, false);
    let stays = |character: &char| {
        let stays = is_text || !character.is_ascii_whitespace();
        match (is_text, *character) {
            (true, _) if is_escaped => is_escaped = false,
            (true, '\\') => is_escaped = true,
            (_, '"') => is_text = !is_text,
            _ => {}
        }
        stays
    };
    json.chars().filter(stays).collect()
}
