//! Chooses the server of an operation, and replaces the variables in its URL. The functions are pure.

use std::collections::BTreeMap;

use reqwest::Url;

use crate::document::{Document, LocatedValue};
use crate::operation::FoundOperation;
use crate::refusal::Refusal;

/// The application's settings for servers.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerChoice {
    /// The server that the application has set, which replaces all servers of the document.
    pub(crate) base: Option<String>,
    pub(crate) variables: BTreeMap<String, String>,
    /// Servers that get credentials besides the first server of the document.
    pub(crate) credential_servers: Vec<String>,
}

/// Returns the server of an operation: a URL without a query or a fragment.
pub(crate) fn server(
    document: &Document,
    found: &FoundOperation<'_>,
    choice: &ServerChoice,
) -> Result<Url, Refusal> {
    if let Some(base) = &choice.base {
        return url(base, "").map_err(|why| Refusal::new("", why));
    }
    first(found.servers().or_else(|| of_document(document)), choice)
}

/// Checks that a server may get credentials: it is the application's, on the first server of the document, or named by
/// the application. A document could otherwise lead credentials to any server by naming it at one operation.
pub(crate) fn may_get_credentials(
    document: &Document,
    server: &Url,
    choice: &ServerChoice,
) -> Result<(), String> {
    if choice.base.is_some() {
        return Ok(());
    }
    let named = choice.credential_servers.iter().map(|it| url(it, ""));
    let named = named.collect::<Result<Vec<_>, _>>()?;
    let main = first(of_document(document), choice).ok();
    match main.iter().chain(&named).any(|it| it.origin() == server.origin()) {
        true => Ok(()),
        false => {
            let server = server.origin().ascii_serialization();
            Err(format!(
                "a credential would go to `{server}`, which is not the document's first server; allow it with `.credential_server(\"{server}\")`"
            ))
        }
    }
}

fn of_document(document: &Document) -> Option<LocatedValue<'_>> {
    LocatedValue { value: &document.root, place: String::new() }.get("servers")
}

fn first(servers: Option<LocatedValue<'_>>, choice: &ServerChoice) -> Result<Url, Refusal> {
    let Some(first) = servers.and_then(|it| it.items().next()) else {
        return Err(Refusal::new(
            "/servers",
            "the document names no server; give one with `.server(…)`",
        ));
    };
    let written = first.text("url").unwrap_or_default();
    let filled = fill(written, &first, choice)?;
    url(&filled, written).map_err(|why| Refusal::new(format!("{}/url", first.place), why))
}

fn fill(
    written: &str,
    server: &LocatedValue<'_>,
    choice: &ServerChoice,
) -> Result<String, Refusal> {
    let mut filled = written.to_owned();
    for (name, variable) in server.get("variables").map(|it| it.entries()).unwrap_or_default() {
        let given = choice.variables.get(name).map(String::as_str);
        let Some(value) = given.or_else(|| variable.text("default")) else {
            let reason =
                format!("it has no default; give the variable with `.variable(\"{name}\", …)`");
            return Err(Refusal::new(variable.place, reason));
        };
        let choices = variable.value.get("enum").and_then(serde_json::Value::as_array);
        if let Some(choices) =
            choices.filter(|it| given.is_some() && !it.iter().any(|it| it == value))
        {
            let choices = serde_json::Value::Array(choices.clone());
            return Err(Refusal::new(variable.place, format!("`{value}` is not one of {choices}")));
        }
        filled = filled.replace(&format!("{{{name}}}"), value);
    }
    match filled.contains(['{', '}']) {
        true => Err(Refusal::new(
            &server.place,
            format!("`{written}` has variables that are not described"),
        )),
        false => Ok(filled),
    }
}

fn url(text: &str, written: &str) -> Result<Url, String> {
    let shown = shown(if written.is_empty() { text } else { written });
    let url = Url::parse(text.trim()).map_err(|error| {
        format!("`{shown}` is not a URL with a host ({error}); give the server with `.server(…)`")
    })?;
    if has_user(&url) {
        return Err(
            "the server's URL has a user in it; give credentials with `.credentials(…)`".to_owned()
        );
    }
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("`{shown}` is not HTTP; give the server with `.server(…)`"));
    }
    if url.scheme() == "https" && cfg!(not(feature = "tls")) {
        return Err(format!("`{shown}` needs the feature `tls`; switch it on"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!(
            "`{shown}` has more than a path in it, expected a URL without `?` and `#`"
        ));
    }
    Ok(url)
}

/// Returns whether a URL contains a user or a password.
pub(crate) fn has_user(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// Returns the URL as errors show it: a placeholder if it may contain a password.
pub(crate) fn shown(text: &str) -> &str {
    if text.contains('@') { "a URL with `@`, which is not shown" } else { text }
}

/// Returns whether a server is on this machine.
pub(crate) fn is_local(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}
