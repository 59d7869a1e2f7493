//! The table `oauth` of a server: how the client gets its access tokens.

use serde::Deserialize;

/// How the tokens of a server are requested.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::client) struct OAuthConfig {
    /// The client id that the authorization server has assigned; without it, the client registers itself.
    pub(in crate::client) client_id: Option<String>,
    /// The environment variable of this process that holds the client's secret.
    pub(in crate::client) client_secret_env: Option<String>,
    /// The URL of a page that describes the client, for authorization servers that support such pages.
    pub(in crate::client) client_metadata_url: Option<String>,
    /// The scopes to request, in place of those that the server names.
    #[serde(default)]
    pub(in crate::client) scopes: Vec<String>,
    /// Whether the application is authorized by its own credentials (client credentials), without a person.
    #[serde(default)]
    pub(in crate::client) client_credentials: bool,
}

impl OAuthConfig {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.client_credentials && (self.client_id.is_none() || self.client_secret_env.is_none())
        {
            let words = "`client_credentials` needs `client_id` and `client_secret_env`";
            return Err(words.to_owned());
        }
        if self.client_secret_env.is_some() && self.client_id.is_none() {
            return Err("`client_secret_env` goes with `client_id`".to_owned());
        }
        Ok(())
    }
}
