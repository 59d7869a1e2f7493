//! A server at a URL: how its messages are sent, and with which token.

use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig,
};

use super::config::Http;
use super::handler::Handler;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);

/// Begins without a session, as the revision 2026-07-28 has it. A server of an earlier revision says in many ways that it
/// does not know that; then a session begins, by the second transport where the first was given up.
pub(super) async fn begin<C: StreamableHttpClient + Send + 'static>(
    handler: Handler,
    [first, second]: [StreamableHttpClientTransport<C>; 2],
) -> Result<RunningService<RoleClient, Handler>, ClientInitializeError> {
    let mode = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    };
    match serve_client_with_lifecycle(handler.clone(), first, mode).await {
        Ok(running) => Ok(running),
        // It knows the protocol, and wants a token.
        Err(error) if error.auth_challenge().is_some() => Err(error),
        Err(_) => rmcp::serve_client(handler, second).await,
    }
}

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
    let client = client().map_err(|error| error.to_string())?;
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// The transport to a server by a client that has the token itself.
#[cfg(feature = "oauth")]
pub(super) fn with_client<C: StreamableHttpClient + Send + 'static>(
    url: &str,
    client: C,
) -> StreamableHttpClientTransport<C> {
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    StreamableHttpClientTransport::with_client(client, config)
}

pub(super) fn client() -> reqwest::Result<reqwest::Client> {
    // A redirect could lead the token and what a model says to another server.
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    client.connect_timeout(CONNECT).build()
}
