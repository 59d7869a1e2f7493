//! The authorization at one server: which token is sent, and how a new token is obtained after the server has refused
//! it.
//!
//! Only one task at a time requests a token; the others wait and use the same token. After a refusal of the person or of
//! the authorization server, no more tokens are requested until the server is connected again. Otherwise the person might
//! be asked in a loop. After a failure that may be temporary, the next request tries again.

use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, AuthorizationMetadataSource,
    AuthorizationRequest, AuthorizationSession, ClientCredentialsConfig, CredentialStore as _,
    WWWAuthenticateParams,
};
use tokio::sync::Mutex;

use super::stored::Credentials;
use super::{OAuth, SignInRequest};
use crate::client::config::{OAuthConfig, is_encrypted_or_local};

/// How many times a server may ask for one more scope before the client gives up.
const MOST_STEP_UPS: u32 = 2;

/// The pauses between attempts to refresh a token while the authorization server fails temporarily.
const REFRESH_PAUSES: [Duration; 3] =
    [Duration::from_millis(250), Duration::from_secs(1), Duration::from_secs(4)];

pub(in crate::client) struct Authorization {
    server: String,
    url: String,
    config: OAuthConfig,
    oauth: OAuth,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    manager: Option<AuthorizationManager>,
    has_looked: bool,
    step_ups: u32,
    refused: Option<String>,
}

impl Authorization {
    pub(in crate::client) fn new(
        server: &str,
        url: &str,
        config: OAuthConfig,
        oauth: OAuth,
    ) -> Self {
        let (server, url) = (server.to_owned(), url.to_owned());
        Self { server, url, config, oauth, state: Mutex::default() }
    }

    /// Returns the token to send, if there is one.
    pub(in crate::client) async fn token(&self) -> Result<Option<String>, AuthError> {
        let mut state = self.state.lock().await;
        if !state.has_looked {
            state.manager = self.restore().await?;
            state.has_looked = true;
        }
        self.current(&state).await
    }

    /// Restores the tokens of an earlier connection, if the authorization server that is discovered now has issued
    /// them. The tokens are not used if that server was only guessed, or if its endpoints are not encrypted.
    async fn restore(&self) -> Result<Option<AuthorizationManager>, AuthError> {
        let tokens = Arc::clone(&self.oauth.tokens);
        let Some(stored) = (Credentials { tokens, key: self.key() }).load().await? else {
            return Ok(None);
        };
        let mut manager = self.manager().await?;
        let found = manager.resolve_metadata().await?;
        let is_guessed = found.source == AuthorizationMetadataSource::LegacyEndpointFallback;
        let is_other = stored.issuer.is_none() || stored.issuer != found.metadata.issuer;
        if is_guessed || is_other || check_metadata(&found.metadata).is_err() {
            tracing::warn!(server = %self.server, "stored tokens are ignored: another authorization server issued them");
            return Ok(None);
        }
        manager.set_metadata(found.metadata);
        Ok(manager.initialize_from_store().await?.then_some(manager))
    }

    /// Returns the current token; `None` if it has expired and cannot be refreshed. The server then refuses the
    /// request, and `replace_token` gets another token.
    async fn current(&self, state: &State) -> Result<Option<String>, AuthError> {
        let Some(manager) = &state.manager else { return Ok(None) };
        match manager.get_access_token().await {
            Ok(token) => Ok(Some(token)),
            Err(AuthError::AuthorizationRequired) => Ok(None),
            Err(AuthError::TokenRefreshFailed(error)) => {
                tracing::warn!(server = %self.server, %error, "a token was not refreshed");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Gets another token after the server has refused the token that was sent.
    pub(in crate::client) async fn replace_token(
        &self,
        challenge: &str,
        sent: Option<&str>,
    ) -> Result<String, AuthError> {
        let mut state = self.state.lock().await;
        if let Some(token) = self.current(&state).await?
            && Some(token.as_str()) != sent
        {
            return Ok(token);
        }
        if let Some(why) = &state.refused {
            return Err(AuthError::AuthorizationFailed(why.clone()));
        }
        let renewed = self.renew(&mut state, challenge).await;
        // A temporary failure does not count as a refusal: the next request tries again.
        if let Err(error) = &renewed
            && !may_be_temporary(error)
        {
            state.refused = Some(error.to_string());
        }
        renewed?;
        self.current(&state).await?.ok_or(AuthError::AuthorizationRequired)
    }

    async fn renew(&self, state: &mut State, challenge: &str) -> Result<(), AuthError> {
        let base = self.url.parse()?;
        let asked = WWWAuthenticateParams::parse(challenge, &base);
        if asked.is_insufficient_scope() {
            state.step_ups += 1;
            if state.step_ups > MOST_STEP_UPS {
                let words = format!("the server asked for another scope {MOST_STEP_UPS} times");
                return Err(AuthError::AuthorizationFailed(words));
            }
            if let (Some(scope), false) = (&asked.scope, self.config.client_credentials)
                && let Some(manager) = state.manager.take()
            {
                let (manager, upgraded) = self.step_up(manager, scope).await;
                // Even without the new scope, the token serves the tools that it has served before.
                state.manager = Some(manager);
                return upgraded;
            }
        } else if let Some(manager) = &state.manager {
            // Ask the person to sign in only if no refresh token is valid any more.
            match self.refresh(manager).await {
                Ok(()) => return Ok(()),
                Err(error) if is_dead(&error) => {}
                Err(error) => return Err(error),
            }
            state.manager = None;
        }
        let mut manager = self.manager().await?;
        let found = manager.resolve_metadata_from_challenge(Some(challenge)).await?;
        if found.source == AuthorizationMetadataSource::LegacyEndpointFallback {
            return Err(AuthError::NoAuthorizationSupport);
        }
        check_metadata(&found.metadata)?;
        manager.set_metadata(found.metadata);
        state.manager = Some(match self.config.client_credentials {
            true => self.by_credentials(manager, asked.scope.as_deref()).await?,
            false => self.by_person(manager).await?,
        });
        Ok(())
    }

    /// Asks the person for one more scope. Returns the manager also if this fails.
    async fn step_up(
        &self,
        manager: AuthorizationManager,
        scope: &str,
    ) -> (AuthorizationManager, Result<(), AuthError>) {
        let asked = match self.redirect_uri() {
            Ok(uri) => manager.request_scope_upgrade(scope).await.map(|url| (url, uri)),
            Err(error) => Err(error),
        };
        let (url, uri) = match asked {
            Ok(asked) => asked,
            Err(error) => return (manager, Err(error)),
        };
        let session = AuthorizationSession::for_scope_upgrade(manager, url.clone(), &uri);
        let upgraded = match self.ask(url, &uri).await {
            Ok(answer) => session.handle_callback_url(&answer).await.map(drop),
            Err(error) => Err(error),
        };
        (session.auth_manager, upgraded)
    }

    /// Refreshes the token, and retries after a pause while the authorization server fails temporarily.
    async fn refresh(&self, manager: &AuthorizationManager) -> Result<(), AuthError> {
        let mut pauses = REFRESH_PAUSES.into_iter();
        loop {
            let error = match manager.refresh_token().await {
                Ok(_) => return Ok(()),
                Err(error) => error,
            };
            let is_over = is_dead(&error);
            let Some(pause) = pauses.next().filter(|_| !is_over) else { return Err(error) };
            tracing::warn!(server = %self.server, %error, "a token was not refreshed; trying again");
            tokio::time::sleep(pause).await;
        }
    }

    async fn by_credentials(
        &self,
        mut manager: AuthorizationManager,
        scope: Option<&str>,
    ) -> Result<AuthorizationManager, AuthError> {
        let missing = |what: &str| AuthError::ClientCredentialsError(format!("found no {what}"));
        let mut scopes = self.config.scopes.clone();
        if scopes.is_empty() {
            scopes = manager.select_initial_scopes(&[]).await;
        }
        scopes.extend(scope.unwrap_or_default().split_whitespace().map(str::to_owned));
        scopes.sort();
        scopes.dedup();
        let config = ClientCredentialsConfig::ClientSecret {
            client_id: self.config.client_id.clone().ok_or_else(|| missing("`client_id`"))?,
            client_secret: self.secret()?.ok_or_else(|| missing("`client_secret_env`"))?,
            scopes,
            resource: Some(self.url.clone()),
        };
        manager.validate_client_credentials_metadata(&config)?;
        manager.configure_client_credentials(&config)?;
        manager.exchange_client_credentials(&config).await?;
        Ok(manager)
    }

    async fn by_person(
        &self,
        manager: AuthorizationManager,
    ) -> Result<AuthorizationManager, AuthError> {
        let uri = self.redirect_uri()?;
        let mut request = AuthorizationRequest::new(&*uri)
            .with_initial_scope_selection()
            .with_client_name("toolwright")
            .with_scopes(self.config.scopes.iter().cloned());
        if let Some(id) = &self.config.client_id {
            request = request.with_preregistered_client(id);
        }
        if let Some(secret) = self.secret()? {
            request = request.with_client_secret(secret);
        }
        if let Some(url) = &self.config.client_metadata_url {
            request = request.with_client_metadata_url(url);
        }
        let session =
            AuthorizationSession::new(manager, request).await.map_err(|(_, error)| error)?;
        let answer = self.ask(session.get_authorization_url().to_owned(), &uri).await?;
        session.handle_callback_url(&answer).await?;
        Ok(session.auth_manager)
    }

    /// Sends the person to the authorization server. The redirect has to go to this application's own page: any other
    /// redirect is refused before its parameters are used.
    async fn ask(&self, url: String, uri: &str) -> Result<String, AuthError> {
        let sign_in = self.oauth.sign_in.as_ref().ok_or(AuthError::AuthorizationRequired)?;
        let request = SignInRequest { server: self.server.clone(), url };
        let answer = sign_in.sign_in(request).await;
        let answer = answer.map_err(|error| AuthError::AuthorizationFailed(error.to_string()))?;
        let rest = answer.strip_prefix(uri);
        if !rest.is_some_and(|rest| rest.starts_with('?')) {
            let words = format!("the browser was sent to another page than `{uri}`");
            return Err(AuthError::AuthorizationFailed(words));
        }
        Ok(answer)
    }

    fn redirect_uri(&self) -> Result<String, AuthError> {
        let sign_in = self.oauth.sign_in.as_ref().ok_or_else(|| {
            let words = "a person has to sign in, and the application has no `SignIn`";
            AuthError::AuthorizationFailed(words.to_owned())
        })?;
        Ok(sign_in.redirect_uri().to_owned())
    }

    fn secret(&self) -> Result<Option<String>, AuthError> {
        let Some(variable) = &self.config.client_secret_env else { return Ok(None) };
        match std::env::var(variable) {
            Ok(secret) if !secret.is_empty() => Ok(Some(secret)),
            _ => Err(AuthError::AuthorizationFailed(format!(
                "found no client secret in {variable}, expected one"
            ))),
        }
    }

    fn key(&self) -> String {
        format!("{} {}", self.server, self.url)
    }

    async fn manager(&self) -> Result<AuthorizationManager, AuthError> {
        let mut manager = AuthorizationManager::new(&*self.url).await?;
        let tokens = Arc::clone(&self.oauth.tokens);
        manager.set_credential_store(Credentials { tokens, key: self.key() });
        Ok(manager)
    }
}

/// Reports whether the authorization server says that the refresh token, or the client that holds it, is no longer
/// valid. Other failures may be temporary.
fn is_dead(error: &AuthError) -> bool {
    match error {
        AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_) => true,
        AuthError::TokenRefreshFailed(words) => is_of_client(words),
        _ => false,
    }
}

/// Reports whether a token may be had at the next attempt: the authorization server cannot be reached, or fails, before a
/// person was asked.
fn may_be_temporary(error: &AuthError) -> bool {
    match error {
        AuthError::ClientCredentialsError(words) => {
            !is_of_client(words) && !words.contains("invalid_scope")
        }
        AuthError::TokenRefreshFailed(_)
        | AuthError::HttpError(_)
        | AuthError::DiscoveryRequestFailed { .. }
        | AuthError::AuthorizationServersUnavailable { .. }
        | AuthError::NoAuthorizationSupport => true,
        _ => false,
    }
}

/// Reports whether the authorization server refuses the client itself.
fn is_of_client(words: &str) -> bool {
    // `rmcp` reports the error code of the answer (RFC 6749, section 5.2) only within its message.
    const CODES: [&str; 3] = ["invalid_client", "unauthorized_client", "unsupported_grant_type"];
    CODES.iter().any(|code| words.contains(code))
}

/// Refuses authorization servers to which codes, secrets and tokens would be sent unencrypted over a network.
fn check_metadata(metadata: &AuthorizationMetadata) -> Result<(), AuthError> {
    let pages = [Some(&metadata.authorization_endpoint), Some(&metadata.token_endpoint)];
    let mut pages = pages.into_iter().chain([metadata.registration_endpoint.as_ref()]).flatten();
    let Some(page) = pages.find(|page| !is_encrypted_or_local(page)) else { return Ok(()) };
    let words = format!("the authorization server has the page `{page}`, expected `https://…`");
    Err(AuthError::AuthorizationFailed(words))
}
