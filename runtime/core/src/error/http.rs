//! Converts errors of reqwest. Their URLs are left out, because a URL may contain a key.

use std::error::Error as _;
use std::io;

use reqwest::StatusCode;

use super::{ErrorClass, ToolError};

/// The error does not contain a server's `retry-after`. To use it, read the response with
/// `toolwright::retry::retry_after`.
///
/// A failed connection gets the class [`ErrorClass::NotStarted`], even after a redirect from a server that has acted.
/// So a tool that must not be repeated needs a client that follows no redirects. Needs the feature `reqwest`.
#[cfg_attr(docsrs, doc(cfg(feature = "reqwest")))]
impl From<reqwest::Error> for ToolError {
    fn from(error: reqwest::Error) -> Self {
        let error = error.without_url();
        let not_started = ErrorClass::NotStarted { retry_after: None };
        let failed = |kind, message, class| ToolError::new(kind, message).class(class);
        let said = if error.is_builder() {
            failed("invalid_request", "the request could not be put together", ErrorClass::Final)
        } else if error.is_connect() {
            failed("unreachable", "the other side could not be reached", not_started)
        } else if error.is_timeout() {
            failed("no_response", "the other side did not answer in time", ErrorClass::Transient)
        } else if let Some(status) = error.status() {
            of_status(status)
        } else if error.is_redirect() {
            failed("too_many_redirects", "the other side redirects in a circle", ErrorClass::Final)
        } else if error.is_decode() && came_whole(&error) {
            failed("invalid_response", "the answer could not be read", ErrorClass::Final)
        } else if error.is_request() || error.is_body() || error.is_decode() {
            failed("connection_lost", "the connection was lost", ErrorClass::Transient)
        } else {
            return Self::internal(error);
        };
        said.caused_by(error)
    }
}

/// Returns whether a body that could not be decoded was complete. A body that breaks off is reported as a decoding
/// error too.
fn came_whole(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(it) = cause {
        let io = it.downcast_ref::<io::Error>();
        if it.is::<serde_json::Error>()
            || io.is_some_and(|it| it.kind() == io::ErrorKind::InvalidData)
        {
            return true;
        }
        cause = it.source();
    }
    false
}

fn of_status(status: StatusCode) -> ToolError {
    let (kind, words, class) = match status {
        StatusCode::TOO_MANY_REQUESTS => {
            ("rate_limited", "wants fewer requests", ErrorClass::NotStarted { retry_after: None })
        }
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            ("permission_denied", "refuses the request", ErrorClass::Final)
        }
        StatusCode::NOT_FOUND | StatusCode::GONE => {
            ("not_found", "has no such thing", ErrorClass::Final)
        }
        status if status.is_server_error() => ("server_error", "failed", ErrorClass::Transient),
        _ => ("http_error", "does not accept the request", ErrorClass::Final),
    };
    let message = format!("the other side {words} (status {})", status.as_u16());
    ToolError::new(kind, message).class(class)
}
