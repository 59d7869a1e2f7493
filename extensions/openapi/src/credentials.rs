//! Sources of credentials for requests. A credential is added to a request only when the request is sent, so it does
//! not appear in arguments, previews or events. If a server repeats the credential, it is hidden in the answer, unless
//! it has fewer than 7 bytes.

mod fixed;
mod hide;
mod oauth;

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use toolwright::{ToolContext, ToolError};

use crate::security::SecurityScheme;

pub use fixed::FixedCredentials;
pub(crate) use hide::{hide, without_beginning};
pub use oauth::{OAuthCredentials, TokenUrlError};

/// A source of credentials for requests, by the names of the document's security schemes.
///
/// ```
/// use futures::future::BoxFuture;
/// use toolwright::{ToolContext, ToolError};
/// use toolwright_openapi::{Credential, Credentials, SecurityScheme};
///
/// /// Gives each run the token of its user.
/// struct OfUsers;
///
/// impl Credentials for OfUsers {
///     fn gives(&self, scheme: &SecurityScheme) -> bool {
///         scheme.name == "user_token"
///     }
///
///     fn credential<'a>(
///         &'a self,
///         _: &'a SecurityScheme,
///         context: &'a ToolContext,
///     ) -> BoxFuture<'a, Result<Credential, ToolError>> {
///         Box::pin(async move {
///             let run = context.run_id().unwrap_or_default();
///             Ok(Credential::token(format!("the token of the user of {run}")))
///         })
///     }
/// }
/// ```
pub trait Credentials: Send + Sync + 'static {
    /// Reports whether this source has credentials for the scheme. The executor asks when it is built, and fails if there are
    /// no credentials for an operation's schemes.
    fn gives(&self, scheme: &SecurityScheme) -> bool;

    /// Returns the credential of one call.
    ///
    /// # Errors
    /// When there is no credential for this call; the model sees the error.
    fn credential<'a>(
        &'a self,
        scheme: &'a SecurityScheme,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Credential, ToolError>>;

    /// Notes that a server answered 401 to a credential. Returns whether [`credential`](Self::credential) may now give
    /// a different credential, with which the request is sent once more.
    fn refused<'a>(
        &'a self,
        scheme: &'a SecurityScheme,
        refused: &'a Credential,
    ) -> BoxFuture<'a, bool> {
        let _ = (scheme, refused);
        Box::pin(async { false })
    }
}

/// Returns the header value for the scheme `basic`.
pub(crate) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", encode_basic(user, password))
}

fn encode_basic(user: &str, password: &str) -> String {
    STANDARD.encode(format!("{user}:{password}"))
}

/// A secret that authorizes a request. `Debug` does not show the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential(Secret);

#[derive(Clone, PartialEq, Eq)]
enum Secret {
    Token(Arc<str>),
    Basic { user: Arc<str>, password: Arc<str> },
}

impl Credential {
    /// Makes a token or an API key, for every scheme but `basic`.
    pub fn token(token: impl AsRef<str>) -> Self {
        Self(Secret::Token(token.as_ref().into()))
    }

    /// Makes a credential of a user and a password, for the scheme `basic`.
    pub fn basic(user: impl AsRef<str>, password: impl AsRef<str>) -> Self {
        Self(Secret::Basic { user: user.as_ref().into(), password: password.as_ref().into() })
    }

    pub(crate) fn as_token(&self) -> Option<&str> {
        match &self.0 {
            Secret::Token(token) => Some(token),
            Secret::Basic { .. } => None,
        }
    }

    pub(crate) fn as_basic(&self) -> Option<(&str, &str)> {
        match &self.0 {
            Secret::Basic { user, password } => Some((user, password)),
            Secret::Token(_) => None,
        }
    }

    /// Returns the texts that are hidden in answers. A text of fewer than 7 bytes is not hidden, because it is probably
    /// a placeholder for a local server and no secret.
    pub(crate) fn secrets(&self) -> Vec<String> {
        const SHORTEST: usize = 7;
        let candidates = match &self.0 {
            Secret::Token(token) => vec![token.to_string()],
            Secret::Basic { user, password } => {
                let mut texts = vec![password.to_string(), encode_basic(user, password)];
                // Some APIs take the key as the user, with an empty or a fixed password.
                if password.len() < SHORTEST {
                    texts.push(user.to_string());
                }
                texts
            }
        };
        candidates.into_iter().filter(|it| it.len() >= SHORTEST).collect()
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.0 {
            Secret::Token(_) => "Credential(token)",
            Secret::Basic { .. } => "Credential(basic)",
        })
    }
}
