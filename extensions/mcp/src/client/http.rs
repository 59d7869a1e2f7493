//! The transport to a server at a URL, and the tokens that it sends.

mod nested;
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

/// The maximum time to connect to a server.
const CONNECT: Duration = Duration::from_secs(10);

/// Connects to a server. First tries to begin without a session, as in the revision 2026-07-28. Servers of earlier
/// revisions refuse this in many ways. The client then begins a session, on the second transport if the first has
/// failed.
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

/// Makes the transport to a server. The error says why this is not possible.
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
    // A new session may have other tools, so `rmcp` must not begin one by itself. The tools are listed and compared
    // before a call is repeated.
    let config = config.custom_headers(headers(http)?).reinit_on_expired_session(false);
    // A redirect could send the token and the arguments of a call to another server.
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

/// Reports whether the server refused a request before any work on it, because the server does not know the session.
pub(super) fn is_session_unknown(error: &ServiceError) -> bool {
    matches!(failure(error), Some(StreamableHttpError::SessionExpired))
}

/// Returns the text that the server sent in place of a message of the protocol; `None` for any other error.
pub(super) fn refusal(error: &ServiceError) -> Option<&str> {
    match failure(error) {
        Some(StreamableHttpError::UnexpectedServerResponse(words)) => Some(words),
        _ => None,
    }
}

/// Returns why a request was not sent with a token that the server accepts; `None` for any other error. The server has
/// not worked on the request.
pub(super) fn authorization_failure(error: &ServiceError) -> Option<String> {
    let failure = failure(error)?;
    let is_refused = matches!(
        failure,
        StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_)
    );
    #[cfg(feature = "oauth")]
    let is_refused = is_refused || matches!(failure, StreamableHttpError::Auth(_));
    is_refused.then(|| failure.to_string())
}

fn failure(error: &ServiceError) -> Option<&Failure> {
    match error {
        ServiceError::TransportSend(error) => error.error.downcast_ref(),
        _ => None,
    }
}

/// Returns the headers that the configuration adds to every request. Errors do not show the values of headers, which
/// may be secrets.
fn headers(http: &Http) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let read = |(name, value): (&String, &String)| {
        let header = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("`{name}` is not a valid header name"))?;
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| format!("the header `{name}` has a character that no header may have"))?;
        value.set_sensitive(true);
        Ok((header, value))
    };
    http.headers.iter().map(read).collect()
}
