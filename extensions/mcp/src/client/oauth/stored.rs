//! The credentials of one server in the token store of the application, in the form that `rmcp` reads and writes.

use std::sync::Arc;

use async_trait::async_trait;
use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};
use toolwright::ToolError;

use super::TokenStore;

/// The OAuth credentials for one server.
pub(super) struct Credentials {
    pub(super) tokens: Arc<dyn TokenStore>,
    pub(super) key: String,
}

#[async_trait]
impl CredentialStore for Credentials {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let text = self.tokens.load(&self.key).await.map_err(|error| failed(&error))?;
        let read = text.map(|text| serde_json::from_str(&text)).transpose();
        // The text holds secrets, so the error does not repeat it.
        read.map_err(|_| {
            AuthError::CredentialStoreError("the stored text is not valid credentials".into())
        })
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let text = serde_json::to_string(&credentials)
            .map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
        self.tokens.save(&self.key, Some(text)).await.map_err(|error| failed(&error))
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.tokens.save(&self.key, None).await.map_err(|error| failed(&error))
    }
}

fn failed(error: &ToolError) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}
