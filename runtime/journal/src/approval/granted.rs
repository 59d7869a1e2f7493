//! A grant in the form in which the journal stores it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::covers::{GrantCandidate, NotCovered};
use super::grant::GrantTerms;
use super::statement::{Decision, SignedStatement, Subject, UnreadableStatement};
use super::trusted_keys::{TrustedKeys, VerifyError};
use toolwright_core::context::CallId;

/// The version of the format in which grants are stored. Another version is refused.
const FORMAT: u32 = 1;

/// A grant. The journal stores it as the document with the key [`Grant::key`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The id of the grant. It consists of the id and the generation of the call that was approved with it.
    pub id: String,
    /// The signed approval that contains the terms of the grant.
    pub signed: SignedStatement,
    /// When the grant was recorded.
    pub granted: Timestamp,
    /// How many calls have used the grant. Without a limit of uses, this stays 0.
    pub used: u32,
    /// The signed statement that revokes the grant, if it was revoked.
    pub revoked: Option<SignedStatement>,
}

/// The JSON object of a grant's document.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredGrant {
    format: u32,
    id: String,
    signed: SignedStatement,
    granted: Timestamp,
    used: u32,
    revoked: Option<SignedStatement>,
}

impl Grant {
    /// The prefix of the key of every grant's document.
    pub const PREFIX: &'static str = "grant/";

    /// Returns the key of a grant's document.
    #[must_use]
    pub fn key(tool: &str, id: &str) -> String {
        format!("{}{tool}/{id}", Self::PREFIX)
    }

    /// Returns the id of the grant that is given with a call's approval. Each generation of a call has its own id.
    #[must_use]
    pub fn id_of(call: CallId, generation: u32) -> String {
        format!("{call}-{generation}")
    }

    /// Reads the signed terms of the grant. This does not check the signature; [`covers`](Self::covers) does.
    ///
    /// # Errors
    /// When the signed statement is not an approval with a grant, or approves another call than the one in the grant's
    /// id.
    pub fn terms(&self) -> Result<GrantTerms, GrantError> {
        let unreadable = |reason| GrantError::Unreadable { id: self.id.clone(), reason };
        let statement =
            self.signed.statement().map_err(|UnreadableStatement { reason }| unreadable(reason))?;
        let Decision::Approve { grant: Some(terms) } = statement.verdict else {
            return Err(unreadable("what was signed is not an approval with a grant".to_owned()));
        };
        // The id must be the one derived from the call, so that a revoked grant cannot become valid again under
        // another id.
        match statement.about {
            Subject::Call { id, generation, .. } if Self::id_of(id, generation) == self.id => {
                Ok(terms)
            }
            _ => Err(unreadable("what was signed is about another call".to_owned())),
        }
    }

    /// Checks whether the grant covers a call. It does if a trusted key signed the grant, the grant is not revoked, and
    /// its terms cover the call. The number of earlier uses is taken from the grant, and `asked.used` is ignored.
    ///
    /// # Errors
    /// When the grant does not cover the call; the error says why.
    pub fn covers(
        &self,
        asked: &GrantCandidate<'_>,
        trusted: &TrustedKeys,
    ) -> Result<(), GrantError> {
        let id = || self.id.clone();
        if self.revoked.is_some() {
            return Err(GrantError::Revoked { id: id() });
        }
        trusted.verify(&self.signed).map_err(|error| GrantError::Unverified { id: id(), error })?;
        let covered = self.terms()?.covers(&GrantCandidate { used: self.used, ..*asked });
        covered.map_err(|error| GrantError::NotCovered { id: id(), error })
    }

    /// Returns the text of the grant's document.
    #[must_use]
    pub fn to_text(&self) -> String {
        let Self { id, signed, granted, used, revoked } = self.clone();
        let written = StoredGrant { format: FORMAT, id, signed, granted, used, revoked };
        serde_json::to_string(&written).expect("a grant always serialises")
    }

    /// Reads a grant from the text of its document. Errors name the document by `key`.
    ///
    /// # Errors
    /// When the text is not a grant, or has another format version.
    pub fn from_text(key: &str, text: &str) -> Result<Self, GrantError> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let unreadable = |error: serde_json::Error| GrantError::Unreadable {
            id: key.to_owned(),
            reason: error.to_string(),
        };
        let Format { format } = serde_json::from_str(text).map_err(unreadable)?;
        if format != FORMAT {
            return Err(GrantError::Format { key: key.to_owned(), format });
        }
        let written: StoredGrant = serde_json::from_str(text).map_err(unreadable)?;
        let StoredGrant { format: _, id, signed, granted, used, revoked } = written;
        Ok(Self { id, signed, granted, used, revoked })
    }
}

/// Why a grant is not valid.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrantError {
    /// The grant has another format version, so a newer release wrote it.
    #[error(
        "`{key}` is a grant of format {format}, and this version reads format {FORMAT}: update"
    )]
    Format {
        /// The document's key.
        key: String,
        /// The format that was found.
        format: u32,
    },
    /// The document or its signed statement cannot be read, or the statement is not the approval of the grant's call.
    #[error("`{id}` is no grant that can be read: {reason}")]
    Unreadable {
        /// The id of the grant, or the key of its document.
        id: String,
        /// What is wrong with the document of the grant.
        reason: String,
    },
    /// The grant was revoked.
    #[error("grant `{id}` was revoked")]
    Revoked {
        /// The id of the grant.
        id: String,
    },
    /// The approval that contains the grant is not validly signed with a trusted key.
    #[error("grant `{id}` does not count")]
    Unverified {
        /// The id of the grant.
        id: String,
        /// Why the signature is not valid.
        #[source]
        error: VerifyError,
    },
    /// The terms of the grant do not cover the call.
    #[error("grant `{id}` does not cover the call")]
    NotCovered {
        /// The id of the grant.
        id: String,
        /// Why the grant does not cover the call.
        #[source]
        error: NotCovered,
    },
}
toolwright_core::debug_as_sentence!(GrantError);
