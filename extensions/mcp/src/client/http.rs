//! A server at a URL: how its messages are sent, and with which token.

mod requests;
mod session;
mod status;
mod too_long;

use std::collections::HashMap;
#[cfg(feature = "oauth")]
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::RoleClient;
use rmcp::ServiceError;
use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};

use self::requests::Requests;
use self::session::Failure;
use super::config::Http;
use super::handler::Handler;
#[cfg(feature = "oauth")]
use super::oauth::authorization::Authorization;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);

/// Begins without a session, as the revision 2026-07-28 has it. A server of an earlier revision says in many ways that it
/// does not know that; then a session begins, by the second transport where the first was given up.
pub(super) async fn begin(
    handler: Handler,
    [first, second]: [StreamableHttpClientTransport<Requests>; 2],
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
) -> Result<StreamableHttpClientTransport<Requests>, String> {
    let config = StreamableHttpClientTransportConfig::with_uri(&*http.url);
    let config = match &http.token_env {
        None => config,
        Some(variable) => match std::env::var(variable) {
            Ok(token) if !token.is_empty() => config.auth_header(token),
            _ => return Err(format!("found no token in {variable}, expected its bearer token")),
        },
    };
    // A session that begins anew may have other tools, which are listed and compared before a call is made.
    let config = config.custom_headers(headers(http)?).reinit_on_expired_session(false);
    // A redirect could lead the token and what a model says to another server.
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let client = status::note_statuses(client.connect_timeout(CONNECT))
        .build()
        .map_err(|error| error.to_string())?;
    let requests = Requests {
        client,
        #[cfg(feature = "oauth")]
        authorization,
    };
    Ok(StreamableHttpClientTransport::with_client(requests, config))
}

/// Whether a request was not worked on because the server does not know its session.
pub(super) fn is_session_unknown(error: &ServiceError) -> bool {
    matches!(failure(error), Some(StreamableHttpError::SessionExpired))
}

/// What the server answered in place of a message, where it is that.
pub(super) fn refusal(error: &ServiceError) -> Option<&str> {
    match failure(error) {
        Some(StreamableHttpError::UnexpectedServerResponse(words)) => Some(words),
        _ => None,
    }
}

fn failure(error: &ServiceError) -> Option<&Failure> {
    match error {
        ServiceError::TransportSend(error) => error.error.downcast_ref(),
        _ => None,
    }
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
