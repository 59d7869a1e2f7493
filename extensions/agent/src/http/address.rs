//! Addresses of servers: builds the URL of requests, and derives the server's identity from the host. The functions are
//! pure.

use reqwest::Url;

use super::HttpModelError;
use super::api::Api;

/// Returns the URL of a path below a base URL.
pub(super) fn url(api: Api, base: &str, path: &str) -> Result<Url, HttpModelError> {
    let wrong = |found: String, why: String| HttpModelError::BaseUrl {
        found,
        example: api.base_url(),
        why,
    };
    let (below, query) = match base.split_once('?') {
        Some((below, query)) => (below, Some(query)),
        None => (base, None),
    };
    let query = query.map_or_else(String::new, |query| format!("?{query}"));
    let whole = format!("{}{path}{query}", below.trim_end_matches('/'));
    let url = Url::parse(&whole).map_err(|error| wrong(shown(base), error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong(shown(base), format!("`{}` is not HTTP", url.scheme())));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong(shown(base), "it has a user in it; give the key apart".to_owned()));
    }
    if url.fragment().is_some() {
        return Err(wrong(shown(base), "it has more than a path and a query in it".to_owned()));
    }
    if url.scheme() == "https" && cfg!(not(feature = "tls")) {
        return Err(HttpModelError::NoTls { found: shown(base) });
    }
    Ok(url)
}

/// Returns the name under which the server's verbatim content is stored. The name has no port, because the port may
/// change between starts. A host that imitates the chat API may serve models of many vendors, and each model reads only
/// its own vendor's reasoning. For such a host, the name therefore contains the model's name.
pub(super) fn origin(api: Api, url: &Url, model: &str) -> String {
    let (provider, host) = (api.provider().name(), url.host_str().unwrap_or_default());
    let vendor = Url::parse(api.base_url());
    match vendor.is_ok_and(|vendor| vendor.host_str() == Some(host)) {
        true => provider.to_owned(),
        false if api == Api::OpenAiChat => format!("{provider}@{host}/{model}"),
        false => format!("{provider}@{host}"),
    }
}

/// Removes user, password, query and fragment from an address. A password may contain any character, so everything
/// before the last `@` counts as one.
fn shown(base: &str) -> String {
    let (before, host) = base.rsplit_once('@').unwrap_or(("", base));
    let host = host.split(['?', '#']).next().unwrap_or_default();
    match before.split_once("://") {
        Some((scheme, _)) => format!("{scheme}://{host}"),
        None => host.to_owned(),
    }
}

pub(super) fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}
