//! What a model reads when a page cannot be fetched; pure.

use std::error::Error;
use std::time::SystemTime;

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use toolwright::untrusted::{fenced, line};
use toolwright::{ErrorClass, ToolError};

use super::client::Page;
use super::page;
use super::resolver::RefusedAddress;
use super::target::{Site, Target};

/// How much of the page that comes with an error is shown, in characters.
const SHOWN: usize = 4000;

/// A request that failed.
pub(super) fn of(site: &Site, error: reqwest::Error) -> ToolError {
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(it) = cause {
        if let Some(refused) = it.downcast_ref::<RefusedAddress>() {
            return refused_address(refused);
        }
        cause = it.source();
    }
    let words = reason(&error);
    let said = ToolError::from(error);
    let (kind, class) = (said.kind().to_owned(), said.classified());
    ToolError::new(kind, format!("`{site}` could not be fetched: {words}"))
        .class(class)
        .caused_by(said)
}

/// The last cause, which says what happened.
fn reason(error: &reqwest::Error) -> String {
    let mut last: &dyn Error = error;
    while let Some(it) = last.source() {
        last = it;
    }
    line(&last.to_string())
}

pub(super) fn refused_address(refused: &RefusedAddress) -> ToolError {
    ToolError::new("address_refused", format!("{refused}: only public addresses are fetched"))
        .class(ErrorClass::Final)
        .hint(
            "do not fetch it by another name; ask the person whether the application may permit it",
        )
}

pub(super) fn unresolved(site: &Site, error: Box<dyn Error + Send + Sync>) -> ToolError {
    if let Some(refused) = error.downcast_ref::<RefusedAddress>() {
        return refused_address(refused);
    }
    let message = format!("`{site}` could not be fetched: {}", line(&error.to_string()));
    ToolError::new("unreachable", message).class(ErrorClass::NotStarted { retry_after: None })
}

pub(super) fn too_slow() -> ToolError {
    ToolError::new("no_response", "the server did not answer in time").class(ErrorClass::Transient)
}

/// A page in a form that was not asked for, and is not unpacked: it may be a bomb.
pub(super) fn compressed(target: &Target, encoding: &str) -> ToolError {
    let message = format!(
        "`{}` sends its page as `{}`, expected one that is not compressed",
        target.site,
        line(encoding)
    );
    ToolError::new("compressed", message).class(ErrorClass::Final)
}

pub(super) fn redirected(from: &Target, why: &str) -> ToolError {
    let message = format!("`{}` redirects, and that is not followed: {}", from.site, line(why));
    ToolError::new("redirect_refused", message).class(ErrorClass::Final)
}

/// A redirect to a host to which no person has agreed.
pub(super) fn redirected_elsewhere(from: &Target, to: &Target) -> ToolError {
    let message = format!(
        "`{}` redirects to another host, `{}`: {}",
        from.site,
        to.site,
        line(to.url.as_str())
    );
    ToolError::new("redirect_refused", message)
        .class(ErrorClass::Final)
        .hint("where that address serves the task, fetch it by a call of its own")
}

/// An answer whose status is no success, with the beginning of its page.
pub(super) fn of_status(
    status: StatusCode,
    headers: &HeaderMap,
    page: &Page,
    now: SystemTime,
) -> ToolError {
    let (kind, class) = match status.as_u16() {
        429 | 503 => {
            let value = headers.get(RETRY_AFTER).and_then(|it| it.to_str().ok());
            let retry_after = value.and_then(|it| toolwright::retry::retry_after(it, now));
            ("rate_limited", ErrorClass::NotStarted { retry_after })
        }
        404 | 410 => ("not_found", ErrorClass::Final),
        401 | 403 => ("permission_denied", ErrorClass::Final),
        500..=599 => ("server_error", ErrorClass::Transient),
        _ => ("http_status", ErrorClass::Final),
    };
    let host = page.url.host_str().unwrap_or_default();
    let mut message = format!("`{host}` answered with status {}", status.as_u16());
    if let Ok(text) = page::text(page, page::Mode::Text) {
        let shown: String = text.chars().take(SHOWN).collect();
        if !shown.trim().is_empty() {
            message.push_str(&format!(":\n{}", fenced(&format!("web page of {host}"), &shown)));
        }
    }
    ToolError::new(kind, message).class(class)
}
