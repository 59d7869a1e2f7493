//! Where the tokens of one server stay: in memory, or sealed in a store.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};
use tokio::sync::Mutex;
use toolwright::journal::{DocumentWrite, SealingKey, Store, StoredText, Transaction};

/// The tokens of one server.
#[derive(Clone)]
pub(super) struct Tokens {
    /// The document, which is also what they are sealed for: another server's cannot be put in their place.
    key: String,
    url: String,
    store: Option<(Arc<dyn Store>, SealingKey)>,
    here: Arc<Mutex<Option<StoredCredentials>>>,
}

impl Tokens {
    pub(super) fn new(
        server: &str,
        url: &str,
        store: Option<(Arc<dyn Store>, SealingKey)>,
    ) -> Self {
        let key = format!("mcp/{server}/tokens");
        Self { key, url: url.to_owned(), store, here: Arc::default() }
    }

    fn bound_to(&self) -> Vec<u8> {
        format!("{}\n{}", self.key, self.url).into_bytes()
    }

    async fn write(&self, credentials: Option<&StoredCredentials>) -> Result<(), AuthError> {
        let Some((store, sealing)) = &self.store else { return Ok(()) };
        let text = match credentials {
            Some(credentials) => {
                let plain = serde_json::to_string(credentials).map_err(|it| self.failed(it))?;
                let sealed =
                    sealing.seal(&plain, &self.bound_to()).map_err(|it| self.failed(it))?;
                Some(serde_json::to_string(&sealed).map_err(|it| self.failed(it))?)
            }
            None => None,
        };
        let found = store.document(&self.key).await.map_err(|it| self.failed(it))?;
        let expects = found.map(|it| it.version);
        if expects.is_none() && text.is_none() {
            return Ok(());
        }
        let documents = vec![DocumentWrite { key: self.key.clone(), expects, text }];
        let unit = Transaction { documents, ..Transaction::default() };
        store.commit(unit, Timestamp::now()).await.map_err(|it| self.failed(it))
    }

    fn failed(&self, why: impl std::fmt::Display) -> AuthError {
        AuthError::CredentialStoreError(format!("document `{}`: {why}", self.key))
    }
}

#[async_trait]
impl CredentialStore for Tokens {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let mut here = self.here.lock().await;
        if here.is_some() {
            return Ok(here.clone());
        }
        let Some((store, sealing)) = &self.store else { return Ok(None) };
        let found = store.document(&self.key).await.map_err(|it| self.failed(it))?;
        let Some(found) = found else { return Ok(None) };
        let sealed: StoredText = serde_json::from_str(&found.text).map_err(|it| self.failed(it))?;
        // What was not sealed with the key is not believed.
        if !matches!(sealed, StoredText::Encrypted(_)) {
            return Err(self.failed("it is not sealed; remove it, and sign in again"));
        }
        let plain = sealing.open(&sealed, &self.bound_to()).map_err(|it| self.failed(it))?;
        *here = serde_json::from_str(&plain).map_err(|it| self.failed(it))?;
        Ok(here.clone())
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let mut here = self.here.lock().await;
        self.write(Some(&credentials)).await?;
        *here = Some(credentials);
        Ok(())
    }

    async fn clear(&self) -> Result<(), AuthError> {
        let mut here = self.here.lock().await;
        self.write(None).await?;
        *here = None;
        Ok(())
    }
}
