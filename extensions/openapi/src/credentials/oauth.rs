//! OAuth 2.0 tokens that need no person: from client credentials, or from a refresh token of the application.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::future::BoxFuture;
use reqwest::header::{AUTHORIZATION, HeaderValue, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Mutex;
use toolwright::retry::retry_after;
use toolwright::{ErrorClass, ToolContext, ToolError};

use super::{Credential, Credentials};
use crate::security::SecurityScheme;
use crate::{send, servers};

/// How long before its expiry a token is replaced by a new one.
const EARLY: Duration = Duration::from_secs(30);
/// How long a token server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum number of bytes of a token server's answer. A longer answer is read up to this limit, and has no token.
const LONGEST_ANSWER: usize = 1024 * 1024;

/// The tokens of a client that is registered at an authorization server, for one security scheme. The first call that
/// needs a token requests it. The token is used until half a minute before it expires, and replaced when a server
/// answers 401.
///
/// ```
/// use toolwright_openapi::OAuthCredentials;
///
/// let credentials = OAuthCredentials::client("login", "https://login.example/token", "my-client", "its-secret")?.scopes(["read"]);
/// assert_eq!(format!("{credentials:?}"), "OAuthCredentials(login)");
/// assert!(OAuthCredentials::client("login", "http://login.example/token", "my-client", "its-secret").is_err());
/// # Ok::<(), toolwright_openapi::TokenUrlError>(())
/// ```
pub struct OAuthCredentials {
    scheme: String,
    token_url: Url,
    client: Client,
    id: String,
    secret: String,
    scopes: Vec<String>,
    state: Arc<Mutex<State>>,
}

/// The current tokens of the client.
#[derive(Default)]
struct State {
    refresh_token: Option<String>,
    token: Option<Token>,
}

struct Token {
    credential: Credential,
    expires: Option<SystemTime>,
}

/// The answer of the authorization server (RFC 6749, section 5).
#[derive(Deserialize)]
struct TokenResponse {
    access_token: String,
    /// The lifetime in seconds. Some servers write the number as a text.
    expires_in: Option<Value>,
    refresh_token: Option<String>,
}

impl TokenResponse {
    fn seconds(&self) -> Option<u64> {
        let lifetime = self.expires_in.as_ref()?;
        lifetime.as_u64().or_else(|| lifetime.as_str()?.trim().parse().ok())
    }
}

/// The reason why a URL cannot be used to get tokens.
#[derive(thiserror::Error)]
#[error("no token can be obtained from `{url}`: {why}")]
#[non_exhaustive]
pub struct TokenUrlError {
    /// The URL, or a placeholder if the URL may contain a password.
    pub url: String,
    /// The reason why the URL cannot be used.
    pub why: String,
}
toolwright::unstable::debug_as_sentence!(TokenUrlError);

impl OAuthCredentials {
    /// Makes credentials whose tokens are requested with the client's own id and secret.
    ///
    /// # Errors
    /// When the token URL is invalid or contains a user, when secrets would be sent over plain HTTP to another machine,
    /// or when the HTTP client cannot be made.
    pub fn client(
        scheme: impl Into<String>,
        token_url: &str,
        id: impl Into<String>,
        secret: impl Into<String>,
    ) -> Result<Self, TokenUrlError> {
        let shown = servers::shown(token_url);
        let wrong = |why: String| TokenUrlError { url: shown.to_owned(), why };
        let url = Url::parse(token_url).map_err(|error| wrong(error.to_string()))?;
        if servers::has_user(&url) {
            return Err(wrong(
                "it has a user in it, expected the client beside the URL".to_owned(),
            ));
        }
        if url.scheme() != "https" && !(url.scheme() == "http" && servers::is_local(&url)) {
            return Err(wrong("a secret would go over plain HTTP, expected https".to_owned()));
        }
        Ok(Self {
            scheme: scheme.into(),
            token_url: url,
            client: send::client().map_err(wrong)?,
            id: id.into(),
            secret: secret.into(),
            scopes: Vec::new(),
            state: Arc::default(),
        })
    }

    /// Gets tokens with a refresh token that a person has granted to the application. If the server replaces the refresh token,
    /// the new one is used until the process ends.
    #[must_use]
    pub fn refresh_token(mut self, token: impl Into<String>) -> Self {
        let refresh_token = Some(token.into());
        self.state = Arc::new(Mutex::new(State { refresh_token, token: None }));
        self
    }

    /// Sets the scopes that are requested.
    #[must_use]
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Returns the current token, or requests a new one. Calls that need a new token at the same time share one
    /// request.
    async fn token(&self, now: SystemTime) -> Result<Credential, ToolError> {
        let mut state = Arc::clone(&self.state).lock_owned().await;
        if let Some(token) = &state.token
            && token
                .expires
                .is_none_or(|expires| expires.duration_since(now).is_ok_and(|left| left > EARLY))
        {
            return Ok(token.credential.clone());
        }
        let request = self.request(state.refresh_token.as_deref())?;
        let (scheme, url) = (self.scheme.clone(), self.token_url.clone());
        // The request is a task of its own: if the call is cancelled meanwhile, the server may already have replaced the
        // refresh token, and the old one is no longer valid.
        let requested = tokio::spawn(async move {
            let granted = ask(request, &scheme, &url, now).await?;
            // An expiry beyond the range of the clock means that the token never expires.
            let expires =
                granted.seconds().and_then(|seconds| now.checked_add(Duration::from_secs(seconds)));
            let credential = Credential::token(granted.access_token);
            state.refresh_token = granted.refresh_token.or(state.refresh_token.take());
            state.token = Some(Token { credential: credential.clone(), expires });
            Ok(credential)
        });
        requested.await.map_err(ToolError::internal)?
    }

    /// Makes the request for a token (RFC 6749, sections 4.4 and 6).
    fn request(&self, refresh_token: Option<&str>) -> Result<RequestBuilder, ToolError> {
        let mut form = Url::parse("form:").map_err(ToolError::internal)?;
        let scopes = self.scopes.join(" ");
        match refresh_token {
            Some(token) => form
                .query_pairs_mut()
                .append_pair("grant_type", "refresh_token")
                .append_pair("refresh_token", token),
            None => form.query_pairs_mut().append_pair("grant_type", "client_credentials"),
        };
        if !scopes.is_empty() {
            form.query_pairs_mut().append_pair("scope", &scopes);
        }
        let mut client = HeaderValue::from_str(&super::basic(&self.id, &self.secret))
            .map_err(ToolError::internal)?;
        client.set_sensitive(true);
        let request = self.client.post(self.token_url.clone()).timeout(TIMEOUT);
        let request = request.header(AUTHORIZATION, client);
        let request =
            request.header(reqwest::header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        Ok(request.body(form.query().unwrap_or_default().to_owned()))
    }
}

/// Sends the request for a token, and reads the answer. After a failure that may pass, the call may be repeated, because
/// its operation has not been called yet.
async fn ask(
    request: RequestBuilder,
    scheme: &str,
    url: &Url,
    now: SystemTime,
) -> Result<TokenResponse, ToolError> {
    let not_started = |retry_after| ErrorClass::NotStarted { retry_after };
    let lost = |error: reqwest::Error| ToolError::from(error).class(not_started(None));
    let mut response = request.send().await.map_err(lost)?;
    let status = response.status();
    let pause =
        response.headers().get(RETRY_AFTER).and_then(|it| retry_after(it.to_str().ok()?, now));
    let mut body = Vec::new();
    while body.len() <= LONGEST_ANSWER
        && let Some(piece) = response.chunk().await.map_err(lost)?
    {
        body.extend_from_slice(&piece);
    }
    let granted = Some(body).filter(|it| it.len() <= LONGEST_ANSWER);
    match granted.and_then(|it| serde_json::from_slice(&it).ok()) {
        Some(granted) if status == StatusCode::OK => Ok(granted),
        _ => {
            let words = format!("the authorization server gives no token for `{scheme}`");
            let is_busy = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
            let class = if is_busy { not_started(pause) } else { ErrorClass::Final };
            let cause = format!("{url} answered {status}");
            Err(ToolError::new("no_credential", words).class(class).caused_by(cause))
        }
    }
}

impl Credentials for OAuthCredentials {
    fn gives(&self, scheme: &SecurityScheme) -> bool {
        scheme.name == self.scheme
    }

    fn credential<'a>(
        &'a self,
        _: &'a SecurityScheme,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Credential, ToolError>> {
        Box::pin(self.token(context.now()))
    }

    fn refused<'a>(
        &'a self,
        _: &'a SecurityScheme,
        refused: &'a Credential,
    ) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let mut state = self.state.lock().await;
            // Another call may have replaced the refused token meanwhile.
            if state.token.as_ref().is_some_and(|it| it.credential == *refused) {
                state.token = None;
            }
            true
        })
    }
}

impl fmt::Debug for OAuthCredentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "OAuthCredentials({})", self.scheme)
    }
}
