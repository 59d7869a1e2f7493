//! Credentials that do not differ between calls.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use toolwright::{ToolContext, ToolError};

use super::{Credential, Credentials};
use crate::security::SecurityScheme;

/// Credentials of the application, the same for every call: a token, or a user with a password, for each security scheme by its
/// name.
///
/// ```
/// use toolwright_openapi::FixedCredentials;
///
/// let credentials = FixedCredentials::new().token("api_key", "s3cr3t-token").basic("admin", "ada", "pa55word");
/// assert_eq!(format!("{credentials:?}"), r#"FixedCredentials({"admin": Credential(basic), "api_key": Credential(token)})"#);
/// ```
#[derive(Debug, Clone, Default)]
pub struct FixedCredentials(BTreeMap<String, Credential>);

impl FixedCredentials {
    /// Makes an empty set of credentials.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a token or an API key for the scheme of this name.
    #[must_use]
    pub fn token(mut self, scheme: impl Into<String>, token: impl AsRef<str>) -> Self {
        self.0.insert(scheme.into(), Credential::token(token));
        self
    }

    /// Adds the token from this environment variable. If the variable is not set or is empty, no token is added.
    /// Building the executor then fails if an operation needs this token.
    #[must_use]
    pub fn token_from_env(self, scheme: impl Into<String>, variable: &str) -> Self {
        match std::env::var(variable) {
            Ok(token) if !token.is_empty() => self.token(scheme, token),
            _ => self,
        }
    }

    /// Adds a user with a password for the scheme of this name.
    #[must_use]
    pub fn basic(
        mut self,
        scheme: impl Into<String>,
        user: impl AsRef<str>,
        password: impl AsRef<str>,
    ) -> Self {
        self.0.insert(scheme.into(), Credential::basic(user, password));
        self
    }
}

impl Credentials for FixedCredentials {
    fn gives(&self, scheme: &SecurityScheme) -> bool {
        self.0.contains_key(&scheme.name)
    }

    fn credential<'a>(
        &'a self,
        scheme: &'a SecurityScheme,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Credential, ToolError>> {
        let found = self.0.get(&scheme.name).cloned();
        let none = || {
            ToolError::new("no_credential", format!("there is no credential for `{}`", scheme.name))
        };
        Box::pin(async move { found.ok_or_else(none) })
    }
}
