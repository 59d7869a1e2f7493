//! Encrypts texts that hold secrets.
//!
//! - The cipher is XChaCha20-Poly1305, with a random nonce of 24 bytes for each text. It is practically impossible that
//!   two random nonces of that length are equal.
//! - The place of a text (its call, and which text of the call it is) is authenticated with the text, so that the text
//!   cannot be moved to another place.
//! - The keys for encryption and for digests are derived from one key with different labels. No key is ever printed.

use std::fmt;
use std::path::Path;

use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use zeroize::Zeroizing;

use super::digest::hmac;
use crate::journal::StoredText;
use crate::owned_file::{self, Unread, write_new};

const SEALING: &str = "toolwright key for sealing 1";
const DIGESTS: &str = "toolwright key for digests 1";
const NONCE: usize = 24;

/// The key with which an executor encrypts arguments that hold secrets, and computes their digests. A dropped key is
/// erased from memory.
///
/// ```
/// use toolwright::journal::SealingKey;
///
/// let key = SealingKey::generate()?;
/// let kept = key.seal(r#"{"card":"4711"}"#, b"call 7, arguments")?;
/// assert_eq!(key.open(&kept, b"call 7, arguments")?, r#"{"card":"4711"}"#);
/// assert!(key.open(&kept, b"call 8, arguments").is_err());
/// # Ok::<(), toolwright::journal::SealingError>(())
/// ```
#[derive(Clone)]
pub struct SealingKey(Zeroizing<[u8; 32]>);

/// Why a key or a text cannot be used. The message repeats neither.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SealingError {
    /// The text is not a key.
    #[error(
        "a sealing key is 64 hexadecimal digits and nothing else, found {found} bytes of another text"
    )]
    Key {
        /// The length of the text in bytes.
        found: usize,
    },
    /// The file of a key cannot be read or written.
    #[error("the sealing key at `{path}` could not be {what}")]
    File {
        /// The path of the file.
        path: String,
        /// The operation that failed, in words such as `read`.
        what: &'static str,
        /// The error of the file system.
        #[source]
        source: std::io::Error,
    },
    /// Others may read or write the file of a key.
    #[error(
        "others than its owner may use the sealing key at `{path}` (mode {mode:03o}, expected 600): make a new \
         key, or run `chmod 600` on it if no other person can have read it"
    )]
    Exposed {
        /// The path of the file.
        path: String,
        /// The permissions of the file.
        mode: u32,
    },
    /// The operating system provided no random numbers.
    #[error("the operating system gave no random numbers")]
    Random(#[source] std::io::Error),
    /// A text is too long to be encrypted.
    #[error("a text of {bytes} bytes is too long to be sealed")]
    TooLong {
        /// The size of the text in bytes.
        bytes: usize,
    },
    /// The encrypted text was encrypted with another key or for another place, or it is damaged.
    #[error(
        "a sealed text cannot be opened: it was sealed with another key or for another call, or it was changed since; \
         start with the key that it was sealed with"
    )]
    Closed,
    /// The text is not stored: there was no key to encrypt it with, or an operator deleted it.
    #[error("a text that may hold secrets was not kept, because there was no key to seal it with")]
    Withheld,
}
toolwright_core::debug_as_sentence!(SealingError);

impl SealingKey {
    /// Makes a key from 32 random bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Reads a key from its 64 hexadecimal digits.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn from_hex(text: &str) -> Result<Self, SealingError> {
        let mut bytes = Zeroizing::new([0; 32]);
        match hex::decode_to_slice(text, &mut *bytes) {
            Ok(()) => Ok(Self(bytes)),
            Err(_) => Err(SealingError::Key { found: text.len() }),
        }
    }

    /// Makes a new key.
    ///
    /// # Errors
    /// When the operating system provides no random numbers.
    pub fn generate() -> Result<Self, SealingError> {
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *bytes).map_err(no_random)?;
        Ok(Self(bytes))
    }

    /// Reads the key from a file that [`save`](Self::save) has written. Keep the file outside of every workspace.
    ///
    /// # Errors
    /// When the file cannot be read, is not a key, or (on Unix) others than its owner may use it.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, SealingError> {
        let path = path.as_ref();
        let text = owned_file::read(path).map_err(|unread| match unread {
            Unread::Io(source) => file_error(path, "read", source),
            Unread::Shared(mode) => {
                SealingError::Exposed { path: path.display().to_string(), mode }
            }
        })?;
        Self::from_hex(text.trim_ascii_end())
    }

    /// Writes the key to a new file that (on Unix) only its owner may read.
    ///
    /// # Errors
    /// When the file exists already, or cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), SealingError> {
        let mut line = Zeroizing::new([b'\n'; 65]);
        hex::encode_to_slice(*self.0, &mut line[..64]).expect("two digits for each byte");
        let path = path.as_ref();
        write_new(path, &*line).map_err(|source| file_error(path, "written", source))
    }

    /// Encrypts a text for one place. `bound_to` names the place: the id of a call, and which of the call's texts it
    /// is.
    ///
    /// # Errors
    /// When the operating system provides no random numbers, or the text is too long.
    pub fn seal(&self, plain: &str, bound_to: &[u8]) -> Result<StoredText, SealingError> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(no_random)?;
        let payload = Payload { msg: plain.as_bytes(), aad: bound_to };
        let sealed = self
            .cipher()
            .encrypt(&nonce.into(), payload)
            .map_err(|_| SealingError::TooLong { bytes: plain.len() })?;
        Ok(StoredText::Encrypted(hex::encode([&nonce[..], &sealed].concat())))
    }

    /// Decrypts the text that was stored for a place. A plain text is returned unchanged, and its origin is not checked.
    ///
    /// # Errors When the text was encrypted with another key or for another place, was changed, or is not stored.
    pub fn open(&self, kept: &StoredText, bound_to: &[u8]) -> Result<String, SealingError> {
        let sealed = match kept {
            StoredText::Plain(text) => return Ok(text.clone()),
            StoredText::Omitted => return Err(SealingError::Withheld),
            StoredText::Encrypted(digits) => {
                hex::decode(digits).map_err(|_| SealingError::Closed)?
            }
        };
        let (nonce, msg) = sealed.split_first_chunk::<NONCE>().ok_or(SealingError::Closed)?;
        let payload = Payload { msg, aad: bound_to };
        let plain =
            self.cipher().decrypt(&(*nonce).into(), payload).map_err(|_| SealingError::Closed)?;
        String::from_utf8(plain).map_err(|_| SealingError::Closed)
    }

    /// Derives the key for digests of arguments that hold secrets.
    pub(super) fn for_digests(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(hmac(&*self.0, DIGESTS))
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        let key = Zeroizing::new(hmac(&*self.0, SEALING));
        XChaCha20Poly1305::new(&(*key).into())
    }
}

fn no_random(error: getrandom::Error) -> SealingError {
    SealingError::Random(std::io::Error::other(error.to_string()))
}

/// Omits the key.
impl fmt::Debug for SealingKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SealingKey(..)")
    }
}

fn file_error(path: &Path, what: &'static str, source: std::io::Error) -> SealingError {
    SealingError::File { path: path.display().to_string(), what, source }
}
