//! The trusted keys. A statement is valid only if one of them signed it.
//!
//! Only the application decides which keys are trusted. An approval never makes or trusts a key.

use std::collections::HashMap;

use super::key::{InvalidPublicKey, PublicKey, is_name};
use super::statement::{SignedStatement, Statement, UnreadableStatement};

/// The trusted keys, and the name of each key's holder.
#[derive(Debug, Clone, Default)]
pub struct TrustedKeys {
    names: HashMap<PublicKey, String>,
}

impl TrustedKeys {
    /// Makes a set that has no trusted key.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts one more key, under the name that its holder signs with.
    ///
    /// # Errors
    /// When the name is invalid, or the name or the key is already trusted.
    pub fn with(mut self, name: impl Into<String>, key: PublicKey) -> Result<Self, TrustError> {
        let name = name.into();
        if !is_name(&name) {
            return Err(TrustError::Name(name));
        }
        if let Some(holder) = self.names.get(&key) {
            return Err(TrustError::Key { key, name, holder: holder.clone() });
        }
        if self.names.values().any(|taken| *taken == name) {
            return Err(TrustError::Taken { name, key });
        }
        self.names.insert(key, name);
        Ok(self)
    }

    /// Reports whether no key is trusted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the number of trusted keys.
    #[doc(hidden)]
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Returns the name under which a key is trusted.
    #[must_use]
    pub fn name(&self, key: &PublicKey) -> Option<&str> {
        self.names.get(key).map(String::as_str)
    }

    /// Verifies that a trusted key signed exactly this text, and returns the statement.
    ///
    /// # Errors
    /// When no trusted key signed this text. The error says what is wrong.
    pub fn verify(&self, signed: &SignedStatement) -> Result<VerifiedStatement, VerifyError> {
        let key: PublicKey = signed.key.parse()?;
        let name = self.names.get(&key).ok_or(VerifyError::UnknownKey(key))?;
        match key.has_signed(&signed.text, &signed.signature) {
            Some(true) => {}
            Some(false) => return Err(VerifyError::BadSignature { name: name.clone() }),
            None => return Err(VerifyError::NoSignature { name: name.clone() }),
        }
        let statement = signed.statement()?;
        if statement.by != *name {
            return Err(VerifyError::OtherName { by: statement.by, name: name.clone() });
        }
        Ok(VerifiedStatement { statement, key })
    }
}

/// Why a key could not be trusted.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The name is invalid.
    #[error(
        "{0:?} is not a name for an approver: it is one line of text, without control characters"
    )]
    Name(String),
    /// The key is already trusted, and a key has only one holder.
    #[error(
        "the key {key} of {name:?} is already trusted, as that of {holder:?}: a key has one holder"
    )]
    Key {
        /// The key.
        key: PublicKey,
        /// The name under which the key should now be trusted.
        name: String,
        /// The name under which the key is already trusted.
        holder: String,
    },
    /// The name is already used for another key.
    #[error(
        "{name:?} is already trusted with another key than {key}: give each key a name of its own"
    )]
    Taken {
        /// The name.
        name: String,
        /// The key that should be trusted.
        key: PublicKey,
    },
}
toolwright_core::debug_as_sentence!(TrustError);

/// A statement whose signature was checked; only [`TrustedKeys::verify`] makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedStatement {
    statement: Statement,
    key: PublicKey,
}

impl VerifiedStatement {
    /// Returns the statement that was verified.
    #[must_use]
    pub fn statement(&self) -> &Statement {
        &self.statement
    }

    /// Returns the verified statement, without its key.
    #[must_use]
    pub fn into_statement(self) -> Statement {
        self.statement
    }

    /// Returns the name under which the key is trusted.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.statement.by
    }

    /// Returns the key that signed the statement.
    #[must_use]
    pub fn key(&self) -> PublicKey {
        self.key
    }
}

/// Why a statement is not valid.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The key of the statement cannot be read.
    #[error(transparent)]
    InvalidKey(#[from] InvalidPublicKey),
    /// The key of the statement is not trusted.
    #[error("the key {0} is not trusted: the application names the keys that count")]
    UnknownKey(PublicKey),
    /// The signature of the statement is malformed.
    #[error(
        "the statement of {name:?} has no signature: it would be 128 lower-case hexadecimal digits"
    )]
    NoSignature {
        /// The holder of the key that the statement names.
        name: String,
    },
    /// The signature was not made with this key for this text.
    #[error("{name:?} has not signed this text: it was changed, or it was signed with another key")]
    BadSignature {
        /// The holder of the key that the statement names.
        name: String,
    },
    /// The text is not a statement.
    #[error(transparent)]
    Unreadable(#[from] UnreadableStatement),
    /// The statement names another author than the name under which its key is trusted.
    #[error(
        "the statement is by {by:?} and its key is trusted as that of {name:?}: the names must be the same"
    )]
    OtherName {
        /// The author whom the statement names.
        by: String,
        /// The name under which the key is trusted.
        name: String,
    },
}

toolwright_core::debug_as_sentence!(VerifyError);
