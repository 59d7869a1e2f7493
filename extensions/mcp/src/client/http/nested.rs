//! Reads an answer that is nested deeper than the library parses. Of a list, only the tools that are nested too deep are
//! left out, as over pipes.

use std::collections::HashMap;

use futures::StreamExt as _;
use futures::stream::BoxStream;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::session::Failure;
use super::status;
use crate::client::lines::{LONGEST, read};

/// The deepest nesting that the library parses.
const DEEPEST: usize = 127;

/// The header with the id of a session.
const SESSION_ID: &str = "mcp-session-id";

/// One request, as the library sends it.
pub(super) struct Sent<'a> {
    pub(super) uri: &'a str,
    pub(super) message: &'a ClientJsonRpcMessage,
    pub(super) session: Option<&'a str>,
    pub(super) token: Option<&'a str>,
    pub(super) headers: &'a HashMap<HeaderName, HeaderValue>,
}

impl Sent<'_> {
    /// Returns the answer. If the library could not parse a list, the list is requested again and read here, because the
    /// library drops the text of such an answer; a list has no effect.
    pub(super) async fn read(
        self,
        client: &reqwest::Client,
        answer: Result<StreamableHttpPostResponse, Failure>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let is_unreadable = status::is_success()
            && matches!(answer, Err(StreamableHttpError::UnexpectedServerResponse(_)));
        let is_list = matches!(self.message, JsonRpcMessage::Request(request)
            if matches!(request.request, ClientRequest::ListToolsRequest(_)));
        match is_unreadable && is_list {
            true => match self.request_again(client).await {
                Some(list) => Ok(StreamableHttpPostResponse::Json(list, None)),
                None => answer,
            },
            false => answer,
        }
    }

    /// Sends the request again, and returns what can be read of its answer.
    async fn request_again(&self, client: &reqwest::Client) -> Option<ServerJsonRpcMessage> {
        let request = client.post(self.uri).header(ACCEPT, "application/json, text/event-stream");
        let request = self.headers.iter().fold(request, |it, (name, value)| it.header(name, value));
        let request = match self.session {
            Some(session) => request.header(SESSION_ID, session),
            None => request,
        };
        let request = match self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        let mut answer = request.json(self.message).send().await.ok()?;
        let is_json = answer
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|it| it.as_bytes().to_ascii_lowercase().starts_with(b"application/json"));
        if !answer.status().is_success() || !is_json {
            return None;
        }
        let mut body = Vec::new();
        while let Some(piece) = answer.chunk().await.ok()? {
            body.extend_from_slice(&piece);
            if body.len() > LONGEST {
                return None;
            }
        }
        read(&body)
    }
}

/// Replaces each answer in a stream that is nested too deep by what can be read of it. The library skips such an event.
/// The request would then fail when the stream ends, or wait until its time is over.
pub(super) fn events(
    events: BoxStream<'static, Result<Sse, SseError>>,
) -> BoxStream<'static, Result<Sse, SseError>> {
    let read = |event: Sse| match &event.data {
        Some(data) if is_too_deep(data) => {
            let text = read(data.as_bytes()).and_then(|it| serde_json::to_string(&it).ok());
            Sse { data: text.or(event.data), ..event }
        }
        _ => event,
    };
    events.map(move |event| event.map(read)).boxed()
}

/// Reports whether the JSON text is nested deeper than the library parses.
fn is_too_deep(text: &str) -> bool {
    let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match (is_string, byte) {
            (true, _) if is_escaped => is_escaped = false,
            (true, b'\\') => is_escaped = true,
            (_, b'"') => is_string = !is_string,
            (false, b'{' | b'[') => depth += 1,
            (false, b'}' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_text_is_too_deep_exactly_where_it_cannot_be_parsed() {
        let nested = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        for levels in [1, DEEPEST, DEEPEST + 1, 300] {
            let parsed = serde_json::from_str::<Value>(&nested(levels));
            assert_eq!(is_too_deep(&nested(levels)), parsed.is_err(), "{levels}");
        }
        let text = format!(r#"{{"a": "\"{}", "b": {}}}"#, "[".repeat(300), "[[]]");
        assert!(serde_json::from_str::<Value>(&text).is_ok() && !is_too_deep(&text));
        let flat = "[],".repeat(300);
        assert!(!is_too_deep(&flat));
    }
}
