//! Converts a status other than success to the error of a call. The functions are pure.

use std::time::{Duration, SystemTime};

use reqwest::StatusCode;
use reqwest::header::{LOCATION, RETRY_AFTER};
use serde_json::Value;
use toolwright::retry::retry_after;
use toolwright::{ErrorClass, ToolError, printable};

use super::Response;

/// The maximum number of characters of the server's message that a model sees.
const LONGEST: usize = 2000;
/// The maximum size of a JSON body that becomes the details of an error, in bytes.
const LARGEST_DETAILS: usize = 8192;

pub(super) fn of(title: &str, response: &Response, now: SystemTime) -> ToolError {
    let status = response.status;
    let pause = response.header(RETRY_AFTER).and_then(|it| retry_after(it, now));
    let (kind, class) = classify(status, pause);
    let mut words = format!("{title} answered {}", status.as_u16());
    if let Some(reason) = status.canonical_reason() {
        words.push_str(&format!(" ({reason})"));
    }
    if status.is_redirection() {
        let target = response.header(LOCATION).map(printable::line).unwrap_or_default();
        words.push_str(&format!(
            ", a redirect to `{target}`, which is not followed: it leads to another server, or too many came before"
        ));
    }
    let body: Option<Value> = serde_json::from_slice(&response.body).ok();
    if let Some(said) = read_message(body.as_ref(), &response.body) {
        words.push_str(": ");
        words.push_str(&printable::lines(&said));
    }
    let error = ToolError::new(kind, words).class(class);
    match body
        .filter(|it| (it.is_object() || it.is_array()) && response.body.len() <= LARGEST_DETAILS)
    {
        Some(body) => error.details(body),
        None => error,
    }
}

/// Returns the kind of the failure, and the error class, which says whether the call may be repeated.
fn classify(status: StatusCode, pause: Option<Duration>) -> (&'static str, ErrorClass) {
    match status {
        StatusCode::TOO_MANY_REQUESTS => {
            ("rate_limited", ErrorClass::NotStarted { retry_after: pause })
        }
        StatusCode::SERVICE_UNAVAILABLE if pause.is_some() => {
            ("unavailable", ErrorClass::NotStarted { retry_after: pause })
        }
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            ("permission_denied", ErrorClass::Final)
        }
        StatusCode::NOT_FOUND | StatusCode::GONE => ("not_found", ErrorClass::Invalid),
        StatusCode::REQUEST_TIMEOUT => ("no_response", ErrorClass::Transient),
        status if status.is_client_error() => ("refused_by_server", ErrorClass::Invalid),
        status if status.is_server_error() => ("server_error", ErrorClass::Transient),
        status if status.is_redirection() => ("redirected", ErrorClass::Final),
        _ => ("http_error", ErrorClass::Final),
    }
}

/// Returns the server's message: title and detail of problem details (RFC 9457), the message of other JSON, or the
/// text.
fn read_message(body: Option<&Value>, raw: &[u8]) -> Option<String> {
    let text = |key: &str| body?.get(key)?.as_str().map(str::trim).filter(|it| !it.is_empty());
    let said = match (text("title"), text("detail")) {
        (Some(title), Some(detail)) => Some(format!("{title}: {detail}")),
        (title, detail) => title.or(detail).map(str::to_owned),
    };
    let said = said.or_else(|| text("message").map(str::to_owned));
    let said = said.or_else(|| text("error").map(str::to_owned));
    let said = said.or_else(|| {
        let text = std::str::from_utf8(raw).ok()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    })?;
    match said.char_indices().nth(LONGEST) {
        Some((end, _)) => Some(format!("{}…", &said[..end])),
        None => Some(said),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_says_whether_the_call_may_be_made_again() {
        let pause = Some(Duration::from_secs(7));
        let waits = ErrorClass::NotStarted { retry_after: pause };
        for (status, pause, class) in [
            (429, pause, waits),
            (429, None, ErrorClass::NotStarted { retry_after: None }),
            (503, pause, waits),
            (503, None, ErrorClass::Transient),
            (500, pause, ErrorClass::Transient),
            (504, None, ErrorClass::Transient),
            (400, None, ErrorClass::Invalid),
            (404, None, ErrorClass::Invalid),
            (409, None, ErrorClass::Invalid),
            (401, None, ErrorClass::Final),
            (403, None, ErrorClass::Final),
            (302, None, ErrorClass::Final),
        ] {
            let status = StatusCode::from_u16(status).expect("a status");
            assert_eq!(classify(status, pause).1, class, "{status}");
        }
    }

    #[test]
    fn what_a_server_says_is_found_in_its_usual_places() {
        for (body, expected) in [
            (r#"{"title":"No credit","detail":"30 of 50"}"#, Some("No credit: 30 of 50")),
            (r#"{"detail":"gone"}"#, Some("gone")),
            (r#"{"message":"Not Found"}"#, Some("Not Found")),
            (r#"{"error":"bad"}"#, Some("bad")),
            (r#"{"error":{"code":1}}"#, Some(r#"{"error":{"code":1}}"#)),
            ("<h1>no</h1>", Some("<h1>no</h1>")),
            ("", None),
        ] {
            let value = serde_json::from_str(body).ok();
            assert_eq!(read_message(value.as_ref(), body.as_bytes()).as_deref(), expected);
        }
    }
}
