//! The keys with which people sign statements.
//!
//! - An [`ApproverKey`] signs the exact text of a statement, after a line that names the kind of the text.
//! - A [`PublicKey`] verifies the signature. Each key and each signature can be written in only one way.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::key_file::KeyError;
use super::statement::{SignedStatement, Statement};

/// The prefix of each signed text, so that a signature for something else cannot be used for a statement.
const DOMAIN: &str = "toolwright statement 1\n";

/// The prefix of a public key's text.
const ALGORITHM: &str = "ed25519:";

/// The secret key with which a person or service signs statements. Everyone who has it can approve calls, so keep it
/// outside of every workspace.
///
/// ```
/// use toolwright::approval::{ApproverKey, TrustedKeys, Statement};
///
/// let key = ApproverKey::generate("ada")?;
/// let trusted = TrustedKeys::new().with("ada", key.public())?;
///
/// let statement = Statement::revoke("0192f0c1-2f4e-7c3a-9d1e-5b6a7c8d9e0f-1", "ada", "2026-01-02T03:04:05Z".parse()?);
/// let signed = key.sign(&statement)?;
/// assert_eq!(trusted.verify(&signed)?.statement(), &statement);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ApproverKey {
    name: String,
    secret: SigningKey,
    /// The file from which the key was read.
    pub(super) file: Option<PathBuf>,
}

impl ApproverKey {
    /// Makes a new key with the name of its holder, which is one line of text.
    ///
    /// # Errors
    /// When the name is invalid, or the system provides no random bytes.
    pub fn generate(name: impl Into<String>) -> Result<Self, KeyError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| KeyError::Random(error.to_string()))?;
        Self::from_seed(name, seed)
    }

    /// Makes a key from these bytes, for tests. Everyone who knows the bytes has the key.
    ///
    /// # Errors
    /// When the name is invalid.
    pub fn from_seed(name: impl Into<String>, seed: [u8; 32]) -> Result<Self, KeyError> {
        let name = name.into();
        if !is_name(&name) {
            return Err(KeyError::Name(name));
        }
        Ok(Self { name, secret: SigningKey::from_bytes(&seed), file: None })
    }

    /// Returns the name of the key's holder. Every statement that is signed with the key names this author.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file that the key was read from, if it came from a file.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Returns the public key, which an application trusts.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(self.secret.verifying_key().to_bytes())
    }

    pub(super) fn seed(&self) -> [u8; 32] {
        self.secret.to_bytes()
    }

    /// Signs a statement, and returns its text with the signature.
    ///
    /// # Errors
    /// When the statement's author ([`Statement::by`]) is not the holder of the key.
    pub fn sign(&self, statement: &Statement) -> Result<SignedStatement, NotTheirs> {
        if statement.by != self.name {
            return Err(NotTheirs { by: statement.by.clone(), name: self.name.clone() });
        }
        let text = serde_json::to_string(statement).expect("a statement always serialises");
        let signature = self.sign_text(DOMAIN, &text);
        Ok(SignedStatement { key: self.public().to_string(), signature, text })
    }

    /// Signs the domain and the text, and returns the signature in hexadecimal digits.
    pub(super) fn sign_text(&self, domain: &str, text: &str) -> String {
        hex::encode(self.secret.sign(&message(domain, text)).to_bytes())
    }
}

/// Omits the secret.
impl fmt::Debug for ApproverKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ApproverKey")
            .field("name", &self.name)
            .field("public", &self.public())
            .finish_non_exhaustive()
    }
}

/// A statement names another author than the holder of the key.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the statement is by {by:?} and the key is that of {name:?}: each signs what they say themselves"
)]
#[non_exhaustive]
pub struct NotTheirs {
    /// The author whom the statement names.
    pub by: String,
    /// The holder of the key.
    pub name: String,
}
toolwright_core::debug_as_sentence!(NotTheirs);

/// The public key that verifies the signatures of an [`ApproverKey`]. Its text is `ed25519:` and 64 hexadecimal digits.
///
/// ```
/// use toolwright::approval::PublicKey;
///
/// let text = "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
/// let key: PublicKey = text.parse()?;
/// assert_eq!(key.to_string(), text);
/// # Ok::<(), toolwright::approval::InvalidPublicKey>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// Checks whether the key signed the text of a statement. Returns `None` if the signature is malformed.
    pub(super) fn has_signed(&self, text: &str, signature: &str) -> Option<bool> {
        self.has_signed_text(DOMAIN, text, signature)
    }

    /// Checks whether the key signed a text with this domain. Returns `None` if the signature is malformed.
    pub(super) fn has_signed_text(
        &self,
        domain: &str,
        text: &str,
        signature: &str,
    ) -> Option<bool> {
        let signature = Signature::from_bytes(&bytes::<64>(signature)?);
        let checked = VerifyingKey::from_bytes(&self.0)
            .and_then(|key| key.verify_strict(&message(domain, text), &signature));
        Some(checked.is_ok())
    }
}

impl FromStr for PublicKey {
    type Err = InvalidPublicKey;

    fn from_str(text: &str) -> Result<Self, InvalidPublicKey> {
        let invalid = || InvalidPublicKey(text.to_owned());
        let digits = text.strip_prefix(ALGORITHM).ok_or_else(invalid)?;
        let bytes = bytes::<32>(digits).ok_or_else(invalid)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| invalid())?;
        // Under a weak key, one signature can be valid for many texts.
        if key.is_weak() { Err(invalid()) } else { Ok(Self(bytes)) }
    }
}

/// A text that is not a public key.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a public key: it is written `ed25519:` and 64 lower-case hexadecimal digits, as `keys new` prints it"
)]
pub struct InvalidPublicKey(String);
toolwright_core::debug_as_sentence!(InvalidPublicKey);

impl fmt::Display for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{ALGORITHM}{}", hex::encode(self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// Returns the message that is signed: the domain, and then the text.
fn message(domain: &str, text: &str) -> Vec<u8> {
    [domain.as_bytes(), text.as_bytes()].concat()
}

/// Whether a text can be an approver's name.
pub(super) fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && name.trim() == name && !name.chars().any(char::is_control)
}

/// Reads `COUNT` bytes from hexadecimal digits. Only lower-case digits are accepted, so that each value has one
/// spelling.
pub(super) fn bytes<const COUNT: usize>(digits: &str) -> Option<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    let one_spelling = !digits.bytes().any(|byte| byte.is_ascii_uppercase());
    (one_spelling && hex::decode_to_slice(digits, &mut bytes).is_ok()).then_some(bytes)
}
