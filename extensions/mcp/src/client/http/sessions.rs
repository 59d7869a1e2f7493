//! Sends messages to a server, and takes notice where it no longer knows the session: by 404, as the protocol has it, or by
//! 400, as many servers do after a restart. The library then begins a session anew, and sends the message once more.

use std::collections::HashMap;
use std::sync::Arc;

use futures::stream::BoxStream;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};
use sse_stream::Sse;

type Failure = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// The codes with which servers refuse a session that they do not know.
const REFUSALS: [i32; 3] = [-32_600, -32_000, -32_001];

/// A client that knows by which answers a session has ended.
#[derive(Clone)]
pub(in crate::client) struct Sessions<C>(pub(in crate::client) C);

/// A request that a server refuses for its session was not worked on: the error answers no request of ours then.
fn check_session(
    answer: Result<StreamableHttpPostResponse, Failure>,
    request: Option<RequestId>,
) -> Result<StreamableHttpPostResponse, Failure> {
    let Some(request) = request else { return answer };
    match answer {
        Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), _))
            if error.id.as_ref() != Some(&request) =>
        {
            // Another error may come after the call has run, which is not sent once more then.
            match REFUSALS.contains(&error.error.code.0) {
                true => Err(StreamableHttpError::SessionExpired),
                false => Err(StreamableHttpError::UnexpectedServerResponse(
                    format!("the error {} of another request", error.error.code.0).into(),
                )),
            }
        }
        Err(StreamableHttpError::UnexpectedServerResponse(words))
            if words.starts_with("HTTP 400") =>
        {
            Err(StreamableHttpError::SessionExpired)
        }
        answer => answer,
    }
}

impl<C> StreamableHttpClient for Sessions<C>
where
    C: StreamableHttpClient<Error = reqwest::Error> + Sync,
{
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
        let request = match &message {
            JsonRpcMessage::Request(request) => session.as_ref().map(|_| request.id.clone()),
            _ => None,
        };
        let answer = self
            .0
            .post_message_with_response_limits(uri, message, session, token, headers, limits)
            .await;
        check_session(answer, request)
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        self.0.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, Failure> {
        self.0.get_stream(uri, session, last, token, headers).await
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
        self.0.get_stream_with_max_sse_event_size(uri, session, last, token, headers, most).await
    }
}
