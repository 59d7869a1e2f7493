//! Sends messages to a server with the token of its authorization, and once more with another where the server refuses it.
//!
//! A request that is answered by 401 or 403 was not run, so sending it again repeats nothing.

use std::collections::HashMap;
use std::sync::Arc;

use futures::stream::BoxStream;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};
use sse_stream::Sse;

use super::authorization::Authorization;

type Failure = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// How often one request is sent, where the server refuses its tokens: once without, once for the first token, and once for
/// each of two scopes more.
const MOST_SENT: usize = 4;

#[derive(Clone)]
pub(in crate::client) struct Authorized {
    pub(in crate::client) client: reqwest::Client,
    /// Nothing where the configuration has a token.
    pub(in crate::client) authorization: Option<Arc<Authorization>>,
}

impl Authorized {
    async fn sent<T, F>(
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
            token = Some(authorization.renewed(&challenge, token.as_deref()).await?);
        }
        send(token).await
    }
}

impl StreamableHttpClient for Authorized {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let send = |token| {
            let (uri, message, session) = (uri.clone(), message.clone(), session.clone());
            self.client.post_message(uri, message, session, token, headers.clone())
        };
        self.sent(token, send).await
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
        let send = |token| {
            let (uri, message, session) = (uri.clone(), message.clone(), session.clone());
            let (client, headers) = (&self.client, headers.clone());
            client.post_message_with_response_limits(uri, message, session, token, headers, limits)
        };
        self.sent(token, send).await
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
        self.sent(token, send).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, Failure> {
        let send = |token| {
            let (uri, session, last) = (uri.clone(), session.clone(), last.clone());
            self.client.get_stream(uri, session, last, token, headers.clone())
        };
        self.sent(token, send).await
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
            let client = &self.client;
            client.get_stream_with_max_sse_event_size(
                uri,
                session,
                last,
                token,
                headers.clone(),
                most,
            )
        };
        self.sent(token, send).await
    }
}
