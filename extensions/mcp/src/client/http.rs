//! A server at a URL: how its messages are sent, and with which token.

use std::time::Duration;

use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::config::Http;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);

/// The transport to a server, or why there is none.
pub(super) fn transport(
    http: &Http,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    let config = StreamableHttpClientTransportConfig::with_uri(&*http.url);
    let config = match &http.token_env {
        None => config,
        Some(variable) => match std::env::var(variable) {
            Ok(token) if !token.is_empty() => config.auth_header(token),
            _ => return Err(format!("found no token in {variable}, expected its bearer token")),
        },
    };
    // A redirect could lead the token and what a model says to another server.
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let client = client.connect_timeout(CONNECT).build().map_err(|error| error.to_string())?;
    Ok(StreamableHttpClientTransport::with_client(client, config))
}
