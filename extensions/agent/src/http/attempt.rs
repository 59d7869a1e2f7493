//! One attempt: sends a request, and receives a status, headers and a body of limited size. Only this module talks to
//! the server of a model.

use std::time::{Duration, SystemTime};

use reqwest::header::{
    ACCEPT, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER,
};
use reqwest::{Client, Response, Url};
use toolwright::ErrorClass;
use toolwright::provider::StreamError;

use super::api::Api;
use super::fault::{Fault, clock, pause_in, wanted_pause};
use super::key::{Keys, Secret};
use super::streamed::Pieces;
use crate::model::ModelError;
use crate::recording::{Exchange, RecordedRequest, RecordedResponse};

/// The header by which vendors ask for a pause in milliseconds.
const RETRY_AFTER_MS: &str = "retry-after-ms";

/// The content type of a streamed answer.
const EVENT_STREAM: &str = "text/event-stream";

/// How many times larger than its answer a stream may be. A piece of a few letters may come with the names of the model
/// and of the response, and with the reasoning in two forms.
const SURROUNDING: u64 = 64;

/// The URL to which requests are sent, the key, and the limits.
pub(super) struct Endpoint {
    pub(super) api: Api,
    pub(super) client: Client,
    pub(super) url: Url,
    /// The path below the base URL.
    pub(super) path: String,
    /// The URL of requests whose answer is streamed.
    pub(super) stream_url: Url,
    pub(super) stream_path: String,
    pub(super) keys: Keys,
    /// The name of the header that carries the key; `None` for the API's own header.
    pub(super) key_header: Option<HeaderName>,
    /// Headers of the application that are added to those of the API.
    pub(super) headers: HeaderMap,
    /// How long a streamed answer may pause before the request counts as failed.
    pub(super) idle_timeout: Duration,
    pub(super) body_limit: usize,
    pub(super) timeout: Duration,
}

/// A response with its whole body.
pub(super) struct WholeResponse {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl Endpoint {
    /// Returns the origin and path of the URL, without user, password and query, which may be secret.
    pub(super) fn place(&self) -> String {
        format!("{}{}", self.url.origin().ascii_serialization(), self.url.path())
    }

    /// Sends a request and receives its response, as a stream if the request has a listener and the server streams.
    pub(super) async fn post(
        &self,
        body: &str,
        key: Option<&Secret>,
        pieces: Option<&mut Option<Pieces<'_>>>,
    ) -> Result<WholeResponse, Fault> {
        let url = if pieces.is_some() { &self.stream_url } else { &self.url };
        let headers = self.api.headers(key, self.key_header.as_ref()).ok_or_else(|| {
            let message = "cannot be asked: the key holds characters that no header can hold";
            Fault::new("no_key", ErrorClass::Final, message)
        })?;
        let json = HeaderValue::from_static("application/json");
        let mut request = self.client.post(url.clone()).headers(headers).header(CONTENT_TYPE, json);
        if pieces.is_some() {
            request = request.header(ACCEPT, HeaderValue::from_static(EVENT_STREAM));
        }
        // Headers of the application replace headers of the API with the same name.
        let request = request.headers(self.headers.clone()).body(body.to_owned());
        let response = request.send().await.map_err(|error| self.lost(error))?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let is_stream = status == 200 && is_event_stream(&headers);
        let mut pieces = pieces.filter(|_| status == 200);
        let body = if is_stream && let Some(pieces) = pieces.as_mut().and_then(|it| it.take()) {
            self.read_stream(response, key, pieces).await?
        } else if status != 200 {
            self.explanation(response, key).await
        } else {
            let body = self.at_once(response).await?;
            // Some servers send a stream with another content type.
            match pieces.filter(|_| is_events(&body)).and_then(Option::take) {
                Some(mut pieces) => {
                    let pushed = pieces.push(body.as_bytes());
                    let whole = pushed.and_then(|_| pieces.finish());
                    whole.map_err(|error| broken(key, error).in_the_middle())?
                }
                None => body,
            }
        };
        // The key is removed before the whole text of the server is parsed, cut or recorded. `Pieces` removes the key
        // from what a listener gets.
        let body = without_key(key, body);
        let shows_key = |value: &HeaderValue| {
            value.to_str().is_ok_and(|it| key.is_some_and(|key| key.is_in(it)))
        };
        let names: Vec<_> =
            headers.iter().filter(|(_, it)| shows_key(it)).map(|(name, _)| name.clone()).collect();
        let mut headers = headers;
        for name in names {
            headers.remove(name);
        }
        Ok(WholeResponse { status, headers, body })
    }

    /// Reads the body of a response with another status than 200. The body only explains the status, so it is read as
    /// far as possible if it is too long, is not text, or breaks off.
    async fn explanation(&self, mut response: Response, key: Option<&Secret>) -> String {
        let mut whole = Vec::new();
        let is_whole = loop {
            match response.chunk().await {
                Ok(Some(piece)) if self.is_too_large((whole.len() + piece.len()) as u64) => {
                    let left = self.body_limit - whole.len();
                    whole.extend_from_slice(&piece[..left]);
                    break false;
                }
                Ok(Some(piece)) => whole.extend_from_slice(&piece),
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        let mut text = String::from_utf8_lossy(&whole).into_owned();
        // The end may be the beginning of the key, which could not be removed later.
        if let Some(key) = key.filter(|_| !is_whole) {
            text.truncate(key.may_begin_in(&text));
        }
        text
    }

    async fn at_once(&self, mut response: Response) -> Result<String, Fault> {
        if self.is_too_large(response.content_length().unwrap_or_default()) {
            return Err(self.too_large());
        }
        let mut whole = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| self.lost(error))? {
            if self.is_too_large((whole.len() + piece.len()) as u64) {
                return Err(self.too_large());
            }
            whole.extend_from_slice(&piece);
        }
        String::from_utf8(whole).map_err(|error| {
            let message = "answered a body that is not UTF-8, expected JSON; check the base URL";
            Fault::new("invalid_response", ErrorClass::Final, message).caused_by(error.utf8_error())
        })
    }

    /// Reads the whole stream, and stops when the provider has marked its end.
    async fn read_stream(
        &self,
        mut response: Response,
        key: Option<&Secret>,
        pieces: Pieces<'_>,
    ) -> Result<String, Fault> {
        let (mut pieces, mut length) = (pieces, 0_u64);
        loop {
            let piece = match tokio::time::timeout(self.idle_timeout, response.chunk()).await {
                Ok(Ok(Some(piece))) => piece,
                Ok(Ok(None)) => break,
                Ok(Err(error)) => return Err(self.lost(error).in_the_middle()),
                Err(_) => return Err(self.silent()),
            };
            length += piece.len() as u64;
            let is_whole =
                pieces.push(&piece).map_err(|error| broken(key, error).in_the_middle())?;
            if self.is_too_large(length / SURROUNDING) || self.is_too_large(pieces.size() as u64) {
                return Err(self.too_large().in_the_middle());
            }
            if is_whole {
                break;
            }
        }
        pieces.finish().map_err(|error| broken(key, error).in_the_middle())
    }

    /// Returns the fault of a stream whose server sends nothing more.
    fn silent(&self) -> Fault {
        let message = format!(
            "sent nothing of its answer for {} s, expected the next piece; ask again, or set a longer `idle_timeout`",
            self.idle_timeout.as_secs_f64()
        );
        Fault::new("no_response", ErrorClass::Transient, message).in_the_middle()
    }

    fn is_too_large(&self, length: u64) -> bool {
        length > self.body_limit as u64
    }

    fn too_large(&self) -> Fault {
        let message = format!(
            "answered more than {} bytes, the most that is read; set a larger `body_limit` where that is right",
            self.body_limit
        );
        Fault::new("response_too_large", ErrorClass::Final, message)
    }

    /// Returns the fault of a request that got no response.
    fn lost(&self, error: reqwest::Error) -> Fault {
        let error = error.without_url();
        let not_started = ErrorClass::NotStarted { retry_after: None };
        if error.is_connect() {
            let why = cause(&error);
            let message = format!(
                "could not be reached ({why}), expected a server there; check the base URL and that it runs"
            );
            Fault::new("unreachable", not_started, message)
        } else if error.is_timeout() {
            let message = format!(
                "gave no whole answer within {} s; ask again, or set a longer `timeout`",
                self.timeout.as_secs_f64()
            );
            Fault::new("no_response", ErrorClass::Transient, message).in_the_middle()
        } else if error.is_builder() {
            let message = "cannot be sent this request; check the base URL and the key";
            Fault::new("invalid_request", ErrorClass::Final, message).caused_by(error)
        } else {
            let message = format!(
                "cut the connection before its answer was whole ({}), expected an answer; ask again",
                cause(&error)
            );
            Fault::new("connection_lost", ErrorClass::Transient, message).in_the_middle()
        }
    }

    /// Describes a fault with the provider and its address, and without the key.
    pub(super) fn words(&self, fault: &Fault, key: Option<&Secret>) -> String {
        let (provider, place) = (self.api.provider(), self.place());
        without_key(key, format!("{provider} at {place} {}", fault.message))
    }

    /// Converts a fault into the error for the caller of the model.
    pub(super) fn error(&self, fault: Fault, key: Option<&Secret>, attempts: u32) -> ModelError {
        let often = if attempts > 1 { format!("; asked {attempts} times") } else { String::new() };
        let said = format!("{}{often}", self.words(&fault, key));
        let error = ModelError::new(fault.kind, said).class(fault.class);
        let error = match fault.retry_after {
            Some(delay) => error.after(delay),
            None => error,
        };
        let error = match fault.too_long {
            Some(size) => error.too_long(*size),
            None => error,
        };
        // The source of the error may also contain text of the server, and thus the key.
        let holds_key = |text: String| key.is_some_and(|key| key.is_in(&text));
        match fault.source {
            Some(source) if !holds_key(format!("{source} {source:?}")) => error.caused_by(source),
            _ => error,
        }
    }
}

impl WholeResponse {
    /// Returns the exchange for a recording; `None` if the request is not JSON, which no API accepts anyway.
    pub(super) fn exchange(&self, path: &str, request: &str) -> Option<Exchange> {
        let request = RecordedRequest::new("POST", path, request).ok()?;
        let mut response = RecordedResponse::new(self.status, &self.body);
        for name in [RETRY_AFTER.as_str(), RETRY_AFTER_MS] {
            if let Some(value) = self.header(name) {
                response.headers.insert(name.to_owned(), value.to_owned());
            }
        }
        Some(Exchange { request, response })
    }

    /// Returns the body of a response with status 200, or the fault of any other response.
    pub(super) fn whole(self) -> Result<String, Fault> {
        if self.status == 200 {
            return Ok(self.body);
        }
        let now = clock(self.header(DATE.as_str()), SystemTime::now());
        let pause =
            wanted_pause(self.header(RETRY_AFTER_MS), self.header(RETRY_AFTER.as_str()), now);
        let pause = pause.or_else(|| pause_in(&self.body));
        Err(Fault::of_status(self.status, pause, &self.body))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Returns the fault of a stream that gives no complete answer.
fn broken(key: Option<&Secret>, error: StreamError) -> Fault {
    match error {
        StreamError::Provider { body, .. } => Fault::reported(&without_key(key, body)),
        error => Fault::of_stream(error),
    }
}

fn without_key(key: Option<&Secret>, text: String) -> String {
    match key {
        Some(key) => key.removed_from(text),
        None => text,
    }
}

/// Reports whether a body that arrived in one piece is the text of an event stream.
fn is_events(body: &str) -> bool {
    ["data:", "event:", ":"].iter().any(|it| body.trim_start().starts_with(it))
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case(EVENT_STREAM)
}

/// Returns the innermost cause of an error.
fn cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
