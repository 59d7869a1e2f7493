//! One attempt: a request goes out, a status, headers and a bounded body come in. The only I/O of a model.

use std::time::{Duration, SystemTime};

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Url};
use toolwright::Class;

use super::api::Api;
use super::fault::{Fault, pause_in, wanted_pause};
use super::key::Key;
use crate::ModelError;
use crate::recording::{Exchange, RecordedRequest, RecordedResponse};

/// The vendors' header for a pause that is no whole number of seconds.
const RETRY_AFTER_MS: &str = "retry-after-ms";

/// Where requests go, and how.
pub(super) struct Endpoint {
    pub(super) api: Api,
    pub(super) client: Client,
    pub(super) url: Url,
    /// The path below the base URL.
    pub(super) path: String,
    pub(super) key: Option<Key>,
    pub(super) headers: HeaderMap,
    pub(super) body_limit: usize,
    pub(super) timeout: Duration,
}

/// A response with its whole body.
pub(super) struct Received {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl Endpoint {
    /// The address without what may be secret in it.
    pub(super) fn place(&self) -> String {
        format!("{}{}", self.url.origin().ascii_serialization(), self.url.path())
    }

    pub(super) async fn post(&self, body: &str) -> Result<Received, Fault> {
        let request = self.client.post(self.url.clone()).headers(self.headers.clone());
        let json = HeaderValue::from_static("application/json");
        let request = request.header(CONTENT_TYPE, json).body(body.to_owned());
        let mut response = request.send().await.map_err(|error| self.lost(error))?;
        let mut whole = Vec::new();
        if self.is_too_large(response.content_length().unwrap_or_default()) {
            return Err(self.too_large());
        }
        while let Some(piece) = response.chunk().await.map_err(|error| self.lost(error))? {
            if self.is_too_large((whole.len() + piece.len()) as u64) {
                return Err(self.too_large());
            }
            whole.extend_from_slice(&piece);
        }
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = String::from_utf8(whole).map_err(|error| {
            let message = "answered a body that is not UTF-8, expected JSON; check the base URL";
            Fault::new("invalid_response", Class::Final, message).caused_by(error.utf8_error())
        })?;
        // Before anything reads, cuts or records what the server says.
        let body = match &self.key {
            Some(key) => key.removed_from(body),
            None => body,
        };
        Ok(Received { status, headers, body })
    }

    fn is_too_large(&self, length: u64) -> bool {
        length > self.body_limit as u64
    }

    fn too_large(&self) -> Fault {
        let message = format!(
            "answered more than {} bytes, the most that is read; set a larger `body_limit` where that is right",
            self.body_limit
        );
        Fault::new("response_too_large", Class::Final, message)
    }

    /// The error of a request that has no response.
    fn lost(&self, error: reqwest::Error) -> Fault {
        let error = error.without_url();
        let not_started = Class::NotStarted { retry_after: None };
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
            Fault::new("no_response", Class::Transient, message)
        } else if error.is_builder() {
            let message = "cannot be sent this request; check the base URL and the key";
            Fault::new("invalid_request", Class::Final, message).caused_by(error)
        } else {
            let message = format!(
                "cut the connection before its answer was whole ({}), expected an answer; ask again",
                cause(&error)
            );
            Fault::new("connection_lost", Class::Transient, message)
        }
    }

    /// What went wrong, with who was asked and without the key.
    pub(super) fn words(&self, fault: &Fault) -> String {
        let words = format!("{} at {} {}", self.api.provider(), self.place(), fault.message);
        match &self.key {
            Some(key) => key.removed_from(words),
            None => words,
        }
    }

    /// A fault as the caller of the model reads it.
    pub(super) fn error(&self, fault: Fault, attempts: u32) -> ModelError {
        let often = if attempts > 1 { format!("; asked {attempts} times") } else { String::new() };
        let said = format!("{}{often}", self.words(&fault));
        let error = ModelError::new(fault.kind, said).class(fault.class);
        let error = match fault.retry_after {
            Some(delay) => error.after(delay),
            None => error,
        };
        match fault.source {
            Some(source) => error.caused_by(source),
            None => error,
        }
    }
}

impl Received {
    /// The exchange as it is recorded. Nothing where the request is no JSON, which no API takes.
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

    /// The body of a response whose status is 200.
    pub(super) fn whole(self) -> Result<String, Fault> {
        if self.status == 200 {
            return Ok(self.body);
        }
        let pause = wanted_pause(
            self.header(RETRY_AFTER_MS),
            self.header("retry-after"),
            SystemTime::now(),
        );
        let pause = pause.or_else(|| pause_in(&self.body));
        Err(Fault::of_status(self.status, pause, &self.body))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// The innermost reason.
fn cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
