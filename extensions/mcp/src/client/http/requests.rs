//! Sends requests to a server, with an OAuth token if the client has one. If the server refuses the token, the request
//! is sent again with another token. By the protocol, a server that answers 401 or 403 has not worked on the request,
//! so no call runs twice.

use std::collections::HashMap;
use std::sync::Arc;

use futures::stream::BoxStream;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
#[cfg(feature = "oauth")]
use rmcp::transport::streamable_http_client::StreamableHttpError;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use sse_stream::Sse;

use super::nested::Sent;
use super::session::{self, Failure};
use super::{nested, status, too_long};
#[cfg(feature = "oauth")]
use crate::client::oauth::authorization::Authorization;

type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// The maximum number of times that one request is sent if the server refuses its tokens: without a token, with the
/// first token, and once for each of two additional scopes.
#[cfg(feature = "oauth")]
const MOST_SENT: usize = 4;

#[derive(Clone)]
pub(in crate::client) struct Requests {
    pub(super) client: reqwest::Client,
    /// The source of OAuth tokens; `None` if the client uses no OAuth for this server.
    #[cfg(feature = "oauth")]
    pub(super) authorization: Option<Arc<Authorization>>,
}

impl Requests {
    /// Sends a request with the current OAuth token; `fixed` is the token of the configuration, which is sent if OAuth
    /// is not used.
    #[cfg(feature = "oauth")]
    async fn send<T, F>(
        &self,
        fixed: Option<String>,
        send: impl Fn(Option<String>) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let Some(authorization) = &self.authorization else { return send(fixed).await };
        let mut token = authorization.token().await?;
        for _ in 1..MOST_SENT {
            let answer = send(token.clone()).await;
            let challenge = match &answer {
                Err(StreamableHttpError::AuthRequired(it)) => it.www_authenticate_header.clone(),
                Err(StreamableHttpError::InsufficientScope(it)) => {
                    it.www_authenticate_header.clone()
                }
                _ => return answer,
            };
            token = Some(authorization.replace_token(&challenge, token.as_deref()).await?);
        }
        send(token).await
    }

    #[cfg(not(feature = "oauth"))]
    async fn send<T, F>(
        &self,
        fixed: Option<String>,
        send: impl Fn(Option<String>) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        send(fixed).await
    }
}

/// Reports whether this request begins a connection. `rmcp` itself reads the refusal of such a request, to find the
/// server's revision.
fn begins(request: &ClientRequest) -> bool {
    matches!(request, ClientRequest::DiscoverRequest(_) | ClientRequest::InitializeRequest(_))
}

impl StreamableHttpClient for Requests {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session, token, headers, limits).await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let send = |token: Option<String>| {
            let (uri, message, session) = (uri.clone(), message.clone(), session.clone());
            let (client, headers) = (&self.client, headers.clone());
            async move {
                let answer = client
                    .post_message_with_response_limits(
                        uri.clone(),
                        message.clone(),
                        session.clone(),
                        token.clone(),
                        headers.clone(),
                        limits,
                    )
                    .await;
                let (session, token) = (session.as_deref(), token.as_deref());
                let sent = Sent { uri: &uri, message: &message, session, token, headers: &headers };
                sent.read(client, answer).await
            }
        };
        let (answer, status) = status::beside(self.send(token, send)).await;
        match &message {
            JsonRpcMessage::Request(request) if !begins(&request.request) => {
                session::read(too_long::read(answer, &request.id), status, &request.id)
            }
            _ => answer,
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        let send = |token| {
            self.client.delete_session(uri.clone(), session.clone(), token, headers.clone())
        };
        self.send(token, send).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, Failure> {
        let most = StreamableHttpResponseLimits::default().max_sse_event_size;
        self.get_stream_with_max_sse_event_size(uri, session, last, token, headers, most).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: Headers,
        most: usize,
    ) -> Result<Events, Failure> {
        let send = |token| {
            let (uri, session, last) = (uri.clone(), session.clone(), last.clone());
            let (client, headers) = (&self.client, headers.clone());
            client.get_stream_with_max_sse_event_size(uri, session, last, token, headers, most)
        };
        self.send(token, send).await.map(nested::events)
    }
}
