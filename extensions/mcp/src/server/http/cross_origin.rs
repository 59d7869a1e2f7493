//! Lets pages of allowed sites call the server and read its answers: the CORS headers for browsers. The functions are
//! pure.

use hyper::Uri;
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

/// The port that an allowed entry ends in if the site may have any port.
const ANY_PORT: &str = ":*";

/// Returns the site of the page that sends the request, if the site is allowed.
pub(super) fn allowed(headers: &HeaderMap, origins: &[String]) -> Option<HeaderValue> {
    let origin = headers.get(ORIGIN)?;
    let text = origin.to_str().ok()?;
    origins.iter().any(|allowed| is_of(allowed.trim(), text)).then(|| origin.clone())
}

/// Reports whether an entry allows this origin. As `rmcp` does, compares scheme, host and port, because browsers leave
/// out the default port of a scheme. An entry without a port allows every port.
fn is_of(allowed: &str, origin: &str) -> bool {
    let (entry, has_any_port) = match allowed.strip_suffix(ANY_PORT) {
        Some(entry) => (entry, true),
        None => (allowed, false),
    };
    let (Some(entry), Some(site)) = (Site::read(entry), Site::read(origin)) else {
        return allowed.eq_ignore_ascii_case(origin);
    };
    let is_port =
        has_any_port || entry.port.is_none_or(|port| site.port_or_default() == Some(port));
    entry.scheme == site.scheme && entry.host == site.host && is_port
}

/// The parts of an origin, in lower case.
struct Site {
    scheme: String,
    host: String,
    port: Option<u16>,
}

impl Site {
    fn read(origin: &str) -> Option<Self> {
        let uri = origin.parse::<Uri>().ok()?;
        let (scheme, host) = (uri.scheme_str()?.to_lowercase(), uri.host()?.to_lowercase());
        Some(Self { scheme, host, port: uri.port_u16() })
    }

    fn port_or_default(&self) -> Option<u16> {
        self.port.or(match &*self.scheme {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_allowed_with_and_without_the_default_port_of_its_scheme() {
        for (allowed, origin, is_allowed) in [
            ("https://app.example:443", "https://app.example", true),
            ("https://App.example", "https://app.example", true),
            ("https://app.example", "https://app.example:8443", true),
            ("http://localhost:*", "http://localhost:5173", true),
            ("http://[::1]:80", "http://[::1]", true),
            ("null", "null", true),
            ("https://app.example:443", "http://app.example", false),
            ("https://app.example:443", "https://app.example:8443", false),
            ("https://app.example:443", "https://app.example.evil", false),
            ("http://localhost:*", "http://localhost.evil:5173", false),
            ("https://app.example", "null", false),
        ] {
            assert_eq!(is_of(allowed, origin), is_allowed, "{allowed} {origin}");
        }
    }
}
