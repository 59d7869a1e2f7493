//! A server that wants a token of an authorization server: how one is had, by OAuth 2.1. The protocol of it is rmcp's: discovery,
//! PKCE, registration, refresh.
//!
//! ```text
//!   connect ──▶ 401 or 403 with a challenge ──▶ the authorization server is found ──▶ a person agrees, or the client's own
//!      ▲                                                                                secret does
//!      └────────────────────────────────── the token, sealed in the store ◀──────────────────┘
//! ```

pub(super) mod authorizer;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::service::RunningService;
use rmcp::transport::auth::{
    AuthClient, AuthError, AuthorizationManager, AuthorizationRequest, ClientCredentialsConfig,
    CredentialStore as _, OAuthState, WWWAuthenticateParams,
};
use rmcp::transport::streamable_http_client::{AuthRequiredError, InsufficientScopeError};
use toolwright::journal::{SealingKey, Store};

pub use self::authorizer::{Authorizer, AuthorizerError, Loopback};
use self::tokens::Tokens;
use super::config::{Grant, Http, OAuth};
use super::handler::Handler;

/// How often a connection is begun again with a new token before it is given up: for a token, and for more rights.
const MOST: usize = 3;

/// What [`McpServers`](super::McpServers) needs to sign in at servers: who asks a person, and where tokens stay.
///
/// Without a store, tokens live as long as the process. In a store they are documents, sealed with a key of the application's;
/// no error, event or log has one.
///
/// ```
/// use toolwright::Registry;
/// use toolwright::journal::{MemoryStore, SealingKey};
/// use toolwright_mcp::{Authorization, Loopback, McpConfig, McpServers};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let config = McpConfig::from_toml(r#"
///     [servers.tracker]
///     url = "http://127.0.0.1:8000/mcp"
///     [servers.tracker.oauth]
///     scopes = ["issues:read"]
/// "#)?;
/// let authorizer = Loopback::bind(0, |server, url| println!("to use `{server}`, open {url}")).await?;
/// let authorization = Authorization::new().authorizer(authorizer).tokens(MemoryStore::new(), SealingKey::generate()?);
/// let servers = McpServers::authorized(config, &Registry::empty(), authorization);
/// # let _ = servers;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Authorization {
    authorizer: Option<Arc<dyn Authorizer>>,
    kept: Option<(Arc<dyn Store>, SealingKey)>,
    secrets: BTreeMap<String, String>,
}

impl Authorization {
    /// Without anybody who asks a person, and with tokens in memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Who asks a person to sign in.
    #[must_use]
    pub fn authorizer(self, authorizer: impl Authorizer + 'static) -> Self {
        Self { authorizer: Some(Arc::new(authorizer)), ..self }
    }

    /// The secret of the client as which the application signs in at this server, where it stands in no variable.
    #[must_use]
    pub fn client_secret(mut self, server: impl Into<String>, secret: impl Into<String>) -> Self {
        self.secrets.insert(server.into(), secret.into());
        self
    }

    /// Where tokens stay when the process ends, and the key that seals them there.
    #[must_use]
    pub fn tokens(self, store: impl Store, key: SealingKey) -> Self {
        Self { kept: Some((Arc::new(store), key)), ..self }
    }
}

impl fmt::Debug for Authorization {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Authorization")
            .field("asks", &self.authorizer.is_some())
            .field("keeps", &self.kept.is_some())
            .finish_non_exhaustive()
    }
}

/// Signs in at one server.
#[derive(Clone)]
pub(super) struct SignIn {
    server: String,
    url: String,
    oauth: OAuth,
    authorizer: Option<Arc<dyn Authorizer>>,
    secret: Option<String>,
    tokens: Tokens,
}

/// Why a server cannot be used.
pub(super) type Failed = Box<dyn Error + Send + Sync>;

impl SignIn {
    pub(super) fn new(server: &str, http: &Http, with: &Authorization) -> Option<Self> {
        let oauth = http.oauth.clone()?;
        let (server, url) = (server.to_owned(), http.url.clone());
        let tokens = Tokens::new(&server, &url, with.kept.clone());
        let (authorizer, secret) = (with.authorizer.clone(), with.secrets.get(&server).cloned());
        Some(Self { server, url, oauth, authorizer, secret, tokens })
    }

    /// Begins a session, and signs in where the server asks for that.
    pub(super) async fn begin(
        self,
        handler: Handler,
        client: reqwest::Client,
    ) -> Result<RunningService<RoleClient, Handler>, Failed> {
        let mut tried = 0;
        loop {
            let mut manager = self.manager().await?;
            manager.initialize_from_store().await?;
            let client = AuthClient::new(client.clone(), manager);
            let transports = [(); 2].map(|()| super::http::with_client(&self.url, client.clone()));
            let error = match super::http::begin(handler.clone(), transports).await {
                Ok(running) => return Ok(running),
                Err(error) => error,
            };
            match error.auth_challenge() {
                Some(challenge) if tried < MOST => self.sign_in(challenge).await?,
                _ => return Err(error.into()),
            }
            tried += 1;
        }
    }

    /// Gets a token that has what the server asks for.
    pub(super) async fn sign_in(&self, challenge: &str) -> Result<(), Failed> {
        let manager = self.manager().await?;
        let mut state = OAuthState::Unauthorized(manager);
        match self.oauth.grant {
            Grant::ClientCredentials => {
                let config = self.client_credentials()?;
                state.authenticate_client_credentials(config).await?;
            }
            Grant::AuthorizationCode => {
                let authorizer = self.authorizer.as_ref().ok_or(
                    "a person has to sign in there, and the application has nobody who asks one; give `McpServers` an `Authorizer`",
                )?;
                let request = self.request(&authorizer.redirect_uri(), challenge).await?;
                state.start_authorization(request).await?;
                let url = state.get_authorization_url().await?;
                let came_back = authorizer.authorize(&self.server, &url).await?;
                state.handle_callback_url(&came_back).await?;
            }
        }
        Ok(())
    }

    async fn manager(&self) -> Result<AuthorizationManager, AuthError> {
        let mut manager = AuthorizationManager::new(&*self.url).await?;
        manager.set_credential_store(self.tokens.clone());
        Ok(manager)
    }

    async fn request(
        &self,
        redirect_uri: &str,
        challenge: &str,
    ) -> Result<AuthorizationRequest, Failed> {
        let mut request = AuthorizationRequest::new(redirect_uri)
            .with_client_name("Toolwright")
            .with_initial_scope_selection()
            .with_challenge(challenge);
        if let Some(id) = &self.oauth.client_id {
            request = request.with_preregistered_client(id);
            if let Some(secret) = self.secret()? {
                request = request.with_client_secret(secret);
            }
        }
        if let Some(url) = &self.oauth.client_metadata_url {
            request = request.with_client_metadata_url(url);
        }
        // What was granted before is asked for again: a new token takes the place of the old one.
        let base = reqwest::Url::parse(&self.url)?;
        let wanted = WWWAuthenticateParams::parse(challenge, &base);
        let granted = self.tokens.load().await?.map(|it| it.granted_scopes).unwrap_or_default();
        let mut scopes: BTreeSet<String> = self.oauth.scopes.iter().cloned().collect();
        if wanted.is_insufficient_scope() {
            let more = wanted.scope.as_deref().unwrap_or_default().split_whitespace();
            scopes.extend(granted.into_iter().chain(more.map(str::to_owned)));
        }
        Ok(request.with_scopes(scopes))
    }

    fn client_credentials(&self) -> Result<ClientCredentialsConfig, Failed> {
        let (Some(client_id), Some(client_secret)) = (self.oauth.client_id.clone(), self.secret()?)
        else {
            return Err("`client_credentials` needs `client_id`, and a secret by `client_secret_env` or `Authorization::client_secret`".into());
        };
        let (scopes, resource) = (self.oauth.scopes.clone(), Some(self.url.clone()));
        Ok(ClientCredentialsConfig::ClientSecret { client_id, client_secret, scopes, resource })
    }

    fn secret(&self) -> Result<Option<String>, Failed> {
        let Some(variable) = &self.oauth.client_secret_env else { return Ok(self.secret.clone()) };
        match std::env::var(variable) {
            Ok(secret) if !secret.is_empty() => Ok(Some(secret)),
            _ => Err(format!("found no secret in {variable}, expected that of the client").into()),
        }
    }
}

/// What a server asks for that refused a request: nothing was done then.
pub(super) fn challenge_in<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a str> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(it) = error.downcast_ref::<AuthRequiredError>() {
            return Some(&it.www_authenticate_header);
        }
        if let Some(it) = error.downcast_ref::<InsufficientScopeError>() {
            return Some(&it.www_authenticate_header);
        }
        next = error.source();
    }
    None
}
