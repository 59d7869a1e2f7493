//! Checks which URLs a server may have, and to which URLs a secret may be sent. The functions are pure.

/// Checks the URL of a server. A token may be sent unencrypted only to this machine.
pub(super) fn check(url: &str, has_token: bool) -> Result<(), String> {
    if !cfg!(feature = "http-client") {
        return Err("it has a `url`, and this application is built without HTTP (feature `http-client` of toolwright-mcp)".into());
    }
    if url.starts_with("https://") {
        return match cfg!(feature = "tls") {
            true => Ok(()),
            false => Err("its URL begins with `https://`, and this application is built without TLS (feature `tls` of toolwright-mcp)".into()),
        };
    }
    let Some(rest) = url.strip_prefix("http://") else {
        return Err(format!("its URL is `{url}`, expected `http://…` or `https://…`"));
    };
    match has_token && !is_local(rest) {
        true => {
            Err("its token would go to another machine in the clear; expected `https://…`".into())
        }
        false => Ok(()),
    }
}

/// Reports whether a secret may be sent to this URL.
pub(in crate::client) fn is_encrypted_or_local(url: &str) -> bool {
    url.starts_with("https://") || url.strip_prefix("http://").is_some_and(is_local)
}

/// Reports whether a URL, without its scheme, points to this machine.
fn is_local(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|host| {
        let port = authority.strip_prefix(host);
        // A `:` without a port after it may separate a user from a password before an `@`, as in `localhost:x@host`.
        let is_port = |it: &str| it.bytes().all(|digit| digit.is_ascii_digit());
        port.is_some_and(|it| it.is_empty() || it.strip_prefix(':').is_some_and(is_port))
    })
}
