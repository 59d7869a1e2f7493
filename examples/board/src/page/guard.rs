//! Checks every request, and adds security headers to every response.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::Page;
use super::problem::Problem;

/// Allows only the page's own scripts, styles and pictures, no frame around it, and no form that goes elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Refuses requests from other sites and for other host names, and adds headers that protect the page in the browser.
pub async fn guard(State(page): State<Arc<Page>>, request: Request, next: Next) -> Response {
    let mut response = match check(&page.origin, request.method(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // A browser must not show a stored copy of a page, because the forms of the copy may be outdated.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

fn check(origin: &str, method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    let text = |name| headers.get(name).and_then(|it: &HeaderValue| it.to_str().ok());
    let host = origin.split_once("://").map_or(origin, |(_, host)| host);
    if !text(header::HOST).is_some_and(|it| it.eq_ignore_ascii_case(host)) {
        let message = format!("This page is reached as {origin} alone.");
        return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, message));
    }
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    if !is_read && text(header::ORIGIN) != Some(origin) {
        let message = "This was posted from elsewhere; nothing was done.";
        return Err(Problem::new(StatusCode::FORBIDDEN, message));
    }
    Ok(())
}
