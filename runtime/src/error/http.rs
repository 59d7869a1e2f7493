//! Errors of reqwest. Their addresses are left out: keys have been sent as parts of one.

use reqwest::StatusCode;

use super::{Class, ToolError};

/// A server's `retry-after` is in the response, which the error does not have; where it counts, look at the response
/// with [`retry_after`](crate::retry::retry_after).
impl From<reqwest::Error> for ToolError {
    fn from(error: reqwest::Error) -> Self {
        let error = error.without_url();
        let not_started = Class::NotStarted { retry_after: None };
        let failed = |kind, message, class| ToolError::new(kind, message).class(class);
        let said = if error.is_builder() {
            failed("invalid_request", "the request could not be put together", Class::Final)
        } else if error.is_connect() {
            failed("unreachable", "the other side could not be reached", not_started)
        } else if error.is_timeout() {
            failed("no_response", "the other side did not answer in time", Class::Transient)
        } else if let Some(status) = error.status() {
            of_status(status)
        } else if error.is_redirect() {
            failed("too_many_redirects", "the other side redirects in a circle", Class::Final)
        } else if error.is_decode() {
            failed("invalid_response", "the answer could not be read", Class::Final)
        } else if error.is_request() || error.is_body() {
            failed("connection_lost", "the connection was lost", Class::Transient)
        } else {
            return Self::internal(error);
        };
        said.caused_by(error)
    }
}

fn of_status(status: StatusCode) -> ToolError {
    let (kind, words, class) = match status {
        StatusCode::TOO_MANY_REQUESTS => {
            ("rate_limited", "wants fewer requests", Class::NotStarted { retry_after: None })
        }
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            ("permission_denied", "refuses the request", Class::Final)
        }
        StatusCode::NOT_FOUND | StatusCode::GONE => {
            ("not_found", "has no such thing", Class::Final)
        }
        status if status.is_server_error() => ("server_error", "failed", Class::Transient),
        _ => ("http_error", "does not take the request", Class::Final),
    };
    let message = format!("the other side {words} (status {})", status.as_u16());
    ToolError::new(kind, message).class(class)
}
