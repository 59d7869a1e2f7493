//! Reads an answer that the library cannot parse, for instance because it is nested too deep. Of a list, only the tools
//! that cannot be parsed are left out, as over pipes.

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

/// Replaces each answer in a stream that cannot be parsed by what can be read of it. The library skips such an event.
/// The request would then fail when the stream ends, or wait until its time is over.
pub(super) fn events(
    events: BoxStream<'static, Result<Sse, SseError>>,
) -> BoxStream<'static, Result<Sse, SseError>> {
    let read = |event: Sse| match &event.data {
        Some(data) if serde_json::from_str::<ServerJsonRpcMessage>(data).is_err() => {
            let text = read(data.as_bytes()).and_then(|it| serde_json::to_string(&it).ok());
            Sse { data: text.or(event.data), ..event }
        }
        _ => event,
    };
    events.map(move |event| event.map(read)).boxed()
}
