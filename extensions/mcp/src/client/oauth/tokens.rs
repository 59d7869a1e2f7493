//! Stores the tokens of servers between calls, and between processes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use futures::future::BoxFuture;
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt as _;
use toolwright::ToolError;
use toolwright::journal::{SealingKey, StoredText};

/// Stores the credentials of each server: a text that holds secrets. The key consists of the server's name and its URL.
///
/// [`MemoryTokens`] and [`EncryptedTokens`] are stores.
pub trait TokenStore: Send + Sync {
    /// Returns the text that was saved under a key.
    ///
    /// # Errors
    /// When the store cannot be read. An implementation must not return `None` instead.
    fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<String>, ToolError>>;

    /// Saves a text in place of the earlier text; `None` deletes the earlier text.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn save<'a>(
        &'a self,
        key: &'a str,
        tokens: Option<String>,
    ) -> BoxFuture<'a, Result<(), ToolError>>;
}

/// A store in memory, whose tokens are lost when the process ends.
///
/// ```
/// let tokens = toolwright_mcp::MemoryTokens::default();
/// # let _ = tokens;
/// ```
#[derive(Default)]
pub struct MemoryTokens(Mutex<BTreeMap<String, String>>);

impl std::fmt::Debug for MemoryTokens {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("MemoryTokens").finish_non_exhaustive()
    }
}

impl TokenStore for MemoryTokens {
    fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        Box::pin(async move { Ok(found) })
    }

    fn save<'a>(
        &'a self,
        key: &'a str,
        tokens: Option<String>,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match tokens {
            Some(tokens) => all.insert(key.to_owned(), tokens),
            None => all.remove(key),
        };
        Box::pin(async { Ok(()) })
    }
}

/// A store in a folder, with a file for each server, which is encrypted and bound to that server. Store the key outside
/// of the folder.
///
/// ```
/// use toolwright::journal::SealingKey;
/// use toolwright_mcp::{EncryptedTokens, OAuth};
///
/// let folder = tempfile::tempdir()?;
/// let oauth = OAuth::new(EncryptedTokens::new(folder.path(), SealingKey::generate()?));
/// # let _ = oauth;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EncryptedTokens {
    folder: PathBuf,
    key: SealingKey,
}

impl EncryptedTokens {
    /// Makes a store in this folder, which is created if it does not exist.
    #[must_use]
    pub fn new(folder: impl AsRef<Path>, key: SealingKey) -> Self {
        Self { folder: folder.as_ref().to_owned(), key }
    }

    fn file(&self, key: &str) -> PathBuf {
        let digest = Sha256::digest(key.as_bytes());
        let name: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(name)
    }

    async fn write(&self, key: &str, tokens: &str) -> Result<(), ToolError> {
        let sealed =
            self.key.seal(tokens, &bound(key)).map_err(|error| failed("encrypted", error))?;
        let text = serde_json::to_vec(&sealed).map_err(|error| failed("written", error))?;
        let path = self.file(key);
        let mut new = path.clone();
        new.set_extension(uuid::Uuid::new_v4().simple().to_string());
        let write = async {
            tokio::fs::create_dir_all(&self.folder).await?;
            let mut options = tokio::fs::OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            options.mode(0o600);
            let mut file = options.open(&new).await?;
            file.write_all(&text).await?;
            file.sync_all().await?;
            tokio::fs::rename(&new, &path).await
        };
        write.await.map_err(|error| failed("written", error))
    }
}

impl std::fmt::Debug for EncryptedTokens {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("EncryptedTokens")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl TokenStore for EncryptedTokens {
    fn load<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        Box::pin(async move {
            let text = match tokio::fs::read(self.file(key)).await {
                Ok(text) => text,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(failed("read", error)),
            };
            let sealed = serde_json::from_slice(&text).map_err(|error| failed("read", error))?;
            // Plain text is refused, because any program could have written it.
            if !matches!(sealed, StoredText::Encrypted(_)) {
                return Err(ToolError::new("tokens", "the stored tokens are not encrypted"));
            }
            let tokens = self.key.open(&sealed, &bound(key));
            tokens.map(Some).map_err(|error| failed("decrypted", error))
        })
    }

    fn save<'a>(
        &'a self,
        key: &'a str,
        tokens: Option<String>,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move {
            match tokens {
                Some(tokens) => self.write(key, &tokens).await,
                None => match tokio::fs::remove_file(self.file(key)).await {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                        Err(failed("deleted", error))
                    }
                    _ => Ok(()),
                },
            }
        })
    }
}

fn bound(key: &str) -> Vec<u8> {
    format!("tokens of an MCP server: {key}").into_bytes()
}

fn failed(what: &str, error: impl std::error::Error + Send + Sync + 'static) -> ToolError {
    let words = format!("the tokens of an MCP server could not be {what}");
    ToolError::new("tokens", words).caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn stored_tokens_are_encrypted_and_bound_to_their_server() {
        let folder = tempfile::tempdir().unwrap();
        let key = SealingKey::from_bytes([7; 32]);
        let tokens = EncryptedTokens::new(folder.path().join("new"), key.clone());
        assert_eq!(tokens.load("a").await.unwrap(), None);
        tokens.save("a", Some("secret-token".into())).await.unwrap();
        let again = EncryptedTokens::new(folder.path().join("new"), key);
        assert_eq!(again.load("a").await.unwrap().as_deref(), Some("secret-token"));
        let stored = std::fs::read_to_string(tokens.file("a")).unwrap();
        assert!(!stored.contains("secret-token"), "{stored}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(tokens.file("a")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }

        std::fs::copy(tokens.file("a"), tokens.file("b")).unwrap();
        assert!(tokens.load("b").await.is_err(), "the tokens of one server count for another");
        std::fs::write(tokens.file("b"), r#"{"plain":"planted"}"#).unwrap();
        assert!(tokens.load("b").await.is_err(), "a text in the clear is taken");
        let other =
            EncryptedTokens::new(folder.path().join("new"), SealingKey::from_bytes([8; 32]));
        assert!(other.load("a").await.is_err());

        tokens.save("a", None).await.unwrap();
        assert_eq!(tokens.load("a").await.unwrap(), None);
        tokens.save("a", None).await.unwrap();
    }
}
