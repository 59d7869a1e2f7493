//! Lets pages of allowed sites call the server and read its answers: the CORS headers for browsers. The functions are
//! pure.

use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HeaderMap, HeaderValue, ORIGIN, VARY,
};

const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");

const SENT: HeaderValue = HeaderValue::from_static(
    "Accept, Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id",
);

const READ: HeaderValue =
    HeaderValue::from_static("Mcp-Protocol-Version, Mcp-Session-Id, WWW-Authenticate");

/// How long a browser may cache the answer, in seconds: two hours, the longest time that every browser accepts.
const AGE: HeaderValue = HeaderValue::from_static("7200");

/// Returns the site of the page that sends the request, if the site is allowed.
pub(super) fn allowed(headers: &HeaderMap, origins: &[String]) -> Option<HeaderValue> {
    let origin = headers.get(ORIGIN)?;
    let is_it = |allowed: &String| allowed.as_bytes().eq_ignore_ascii_case(origin.as_bytes());
    origins.iter().any(is_it).then(|| origin.clone())
}

/// Allows the page of this site to read the answer.
pub(super) fn readable(headers: &mut HeaderMap, site: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, site);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, READ);
    headers.append(VARY, HeaderValue::from_static("origin"));
}

/// Lists the methods and the headers that a page may send.
pub(super) fn sendable(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, SENT);
    headers.insert(ACCESS_CONTROL_MAX_AGE, AGE);
}
