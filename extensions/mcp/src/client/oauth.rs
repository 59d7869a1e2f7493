//! Gets the tokens of servers that require OAuth: signs a person in, and stores tokens.

pub(super) mod authorization;
mod loopback;
mod stored;
mod tokens;

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use toolwright::ToolError;

pub use self::loopback::Loopback;
pub use self::tokens::{EncryptedTokens, MemoryTokens, TokenStore};

/// The source of tokens for servers that require them: OAuth 2.1 with PKCE, separately for each server.
///
/// A server that answers 401 names its authorization server, whose metadata the client discovers (RFC 9728, RFC 8414 or
/// `OpenID`). The client registers there, unless the configuration has a `client_id`. A person then signs in through
/// the application's [`SignIn`]. The token is bound to the server (RFC 8707) and stored. After a 403 for a missing
/// scope, the client asks the person for that scope too. A server whose configuration has the grant
/// `client_credentials` needs no person.
///
/// ```
/// use toolwright_mcp::{MemoryTokens, OAuth};
///
/// let oauth = OAuth::new(MemoryTokens::default()); // without a `SignIn`: client credentials alone
/// # let _ = oauth;
/// ```
#[derive(Clone)]
pub struct OAuth {
    pub(super) sign_in: Option<Arc<dyn SignIn>>,
    pub(super) tokens: Arc<dyn TokenStore>,
}

impl OAuth {
    /// Makes a source of tokens with this store. Without [`sign_in`](Self::sign_in), only the grant
    /// `client_credentials` works.
    #[must_use]
    pub fn new(tokens: impl TokenStore + 'static) -> Self {
        Self { sign_in: None, tokens: Arc::new(tokens) }
    }

    /// Sets how a person signs in at an authorization server.
    ///
    /// ```
    /// use futures::future::BoxFuture;
    /// use toolwright::ToolError;
    /// use toolwright_mcp::{MemoryTokens, OAuth, SignIn, SignInRequest};
    ///
    /// struct Browser;
    ///
    /// impl SignIn for Browser {
    ///     fn redirect_uri(&self) -> &str {
    ///         "http://127.0.0.1:3030/callback"
    ///     }
    ///
    ///     fn sign_in(&self, request: SignInRequest) -> BoxFuture<'_, Result<String, ToolError>> {
    ///         Box::pin(async move {
    ///             println!("open {} to use {}", request.url, request.server);
    ///             Err(ToolError::new("refused", "no listener waits for the browser's redirect"))
    ///         })
    ///     }
    /// }
    ///
    /// let oauth = OAuth::new(MemoryTokens::default()).sign_in(Browser);
    /// # let _ = oauth;
    /// ```
    #[must_use]
    pub fn sign_in(mut self, sign_in: impl SignIn + 'static) -> Self {
        self.sign_in = Some(Arc::new(sign_in));
        self
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signs_in = self.sign_in.is_some();
        formatter.debug_struct("OAuth").field("signs_in", &signs_in).finish_non_exhaustive()
    }
}

/// The page on which a person allows this application to use a server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignInRequest {
    /// The server's name in the configuration.
    pub server: String,
    /// The page of the authorization server. The URL holds no token and no client secret.
    pub url: String,
}

/// Sends a person to an authorization server, and waits for the answer. There is an example at [`OAuth::sign_in`].
pub trait SignIn: Send + Sync {
    /// Returns the URL to which the authorization server sends the browser afterwards: a page on this machine, or an HTTPS page
    /// of the application.
    fn redirect_uri(&self) -> &str;

    /// Shows the page to a person, and returns the whole URL to which the browser was redirected afterwards.
    ///
    /// # Errors
    /// When the person refuses, or does not answer.
    fn sign_in(&self, request: SignInRequest) -> BoxFuture<'_, Result<String, ToolError>>;
}
