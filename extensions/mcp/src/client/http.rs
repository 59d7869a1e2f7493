//! A server at a URL: how its messages are sent, and with which token.

mod sessions;

use std::collections::HashMap;
#[cfg(feature = "oauth")]
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use self::sessions::Sessions;
use super::config::Http;
use super::handler::Handler;
#[cfg(feature = "oauth")]
use super::oauth::authorization::Authorization;
#[cfg(feature = "oauth")]
use super::oauth::transport::Authorized;

/// What sends the requests.
#[cfg(feature = "oauth")]
pub(super) type HttpClient = Sessions<Authorized>;
/// What sends the requests.
#[cfg(not(feature = "oauth"))]
pub(super) type HttpClient = Sessions<reqwest::Client>;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);

/// Begins without a session, as the revision 2026-07-28 has it. A server of an earlier revision says in many ways that it
/// does not know that; then a session begins, by the second transport where the first was given up.
pub(super) async fn begin(
    handler: Handler,
    [first, second]: [StreamableHttpClientTransport<HttpClient>; 2],
) -> Result<RunningService<RoleClient, Handler>, ClientInitializeError> {
    let mode = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    };
    match serve_client_with_lifecycle(handler.clone(), first, mode).await {
        Ok(running) => Ok(running),
        Err(_) => rmcp::serve_client(handler, second).await,
    }
}

/// The transport to a server, or why there is none.
pub(super) fn transport(
    http: &Http,
    #[cfg(feature = "oauth")] authorization: Option<Arc<Authorization>>,
) -> Result<StreamableHttpClientTransport<HttpClient>, String> {
    let config = StreamableHttpClientTransportConfig::with_uri(&*http.url);
    let config = match &http.token_env {
        None => config,
        Some(variable) => match std::env::var(variable) {
            Ok(token) if !token.is_empty() => config.auth_header(token),
            _ => return Err(format!("found no token in {variable}, expected its bearer token")),
        },
    };
    let config = config.custom_headers(headers(http)?);
    // A redirect could lead the token and what a model says to another server.
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let client = client.connect_timeout(CONNECT).build().map_err(|error| error.to_string())?;
    #[cfg(feature = "oauth")]
    let client = Authorized { client, authorization };
    Ok(StreamableHttpClientTransport::with_client(Sessions(client), config))
}

/// What the configuration adds to every request. No message names a value, which may be a secret.
fn headers(http: &Http) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let read = |(name, value): (&String, &String)| {
        let header = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("`{name}` is no name of a header"))?;
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| format!("the header `{name}` has a character that no header may have"))?;
        value.set_sensitive(true);
        Ok((header, value))
    };
    http.headers.iter().map(read).collect()
}
