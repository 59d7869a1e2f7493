//! What a person or service says about a call, signed.
//!
//! - A statement names its call, generation and digest, and what was shown of it; never a position, a name, or the latest.
//! - It names the journal and the project that it counts in.
//! - The journal stores the text that was signed, so that the signature can be checked without serialising it again.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::grant::GrantTerms;
use crate::arguments::shown_digest;
use crate::journal::Transition;
use toolwright_core::context::CallId;

/// A statement as it was signed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedStatement {
    /// The statement, as JSON text.
    pub text: String,
    /// The public key that signed it, as [`PublicKey`](super::PublicKey) writes it.
    pub key: String,
    /// The signature, in hexadecimal.
    pub signature: String,
}

impl SignedStatement {
    /// Parses the statement. Its signature is not checked until
    /// [`TrustedKeys::verify`](super::TrustedKeys::verify) has checked it.
    ///
    /// # Errors
    /// When the text is no statement that this version reads.
    pub fn statement(&self) -> Result<Statement, UnreadableStatement> {
        serde_json::from_str(&self.text)
            .map_err(|error| UnreadableStatement { reason: error.to_string() })
    }
}

/// A text that is no statement, or one of a later version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the text is no statement that this version reads: {reason}")]
#[non_exhaustive]
pub struct UnreadableStatement {
    /// What is wrong with it.
    pub reason: String,
}

/// A statement of a person or service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// What it is about.
    pub about: Subject,
    /// The decision.
    pub verdict: Decision,
    /// When the statement was made.
    pub at: Timestamp,
    /// The name of the key's holder. The key counts, not the name.
    pub by: String,
    /// The id of the journal that it counts in, as the call's record names it; nothing in a statement of the version
    /// before, and in one that revokes a grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
    /// The project that it counts in, as the call's record names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// On whose advice, and why, for who reads the record: where a reviewer decided, and the key's holder lets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a statement is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Subject {
    /// One call, as it was shown.
    Call {
        /// The id of the call.
        id: CallId,
        /// As it was judged this time.
        generation: u32,
        /// The digest of the call, see [`CallRecord::digest`](crate::journal::CallRecord::digest).
        digest: String,
        /// The digest of what was shown of it, see
        /// [`CallRecord::shown_digest`](crate::journal::CallRecord::shown_digest); nothing in a statement of the version
        /// before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown: Option<String>,
    },
    /// A grant.
    Grant {
        /// The id of the grant.
        id: String,
    },
}

impl Subject {
    /// Reports whether this is what was shown of the call; `false` where the digest of what was shown is missing.
    #[doc(hidden)]
    #[must_use]
    pub fn is_of_shown(&self, arguments: &str) -> bool {
        match self {
            Self::Call { digest, shown: Some(shown), .. } => {
                shown_digest(digest, arguments).as_ref() == Some(shown)
            }
            Self::Call { shown: None, .. } | Self::Grant { .. } => false,
        }
    }
}

/// The decision of a statement.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Decision {
    /// It may run.
    Approve {
        /// And calls like it, on these terms.
        grant: Option<GrantTerms>,
    },
    /// It may run with other arguments.
    Edit {
        /// All of them, as JSON text.
        arguments: String,
        /// The digest of the call with them. Where the application arrives at another (it fills in defaults, or
        /// refuses them), the approver is asked again.
        digest: String,
    },
    /// It must not run.
    Reject {
        /// Why; the model reads it.
        reason: Option<String>,
    },
    /// It happened, although its outcome was not recorded.
    Happened {
        /// What the model gets.
        result: String,
    },
    /// It did not happen.
    DidNotHappen,
    /// Its plan is accepted, so that the policy evaluates it again.
    Accept,
    /// It is a dead letter, and is evaluated again. That is no approval: it may need one. When it cannot run, it stays
    /// a dead letter.
    Requeue {
        /// All of its new arguments, as JSON text; without, it keeps those that it has.
        arguments: Option<String>,
        /// Whether it gets another idempotency key although its arguments are the same, so that a service that takes keys
        /// runs it as another call.
        new_key: bool,
    },
    /// It is a dead letter, and is discarded.
    Discard {
        /// Why, for other operators.
        note: Option<String>,
        /// Whether what it was called with is blanked in its record. Its answer and its history stay, so that the
        /// same call that arrives again is answered and not run.
        forget: bool,
    },
    /// The grant no longer counts.
    Revoke,
}

impl Decision {
    /// Returns what happens to a call by it; `None` where it is about no call.
    #[doc(hidden)]
    pub fn event(&self) -> Option<Transition> {
        Some(match self {
            Self::Approve { .. } => Transition::Approved,
            Self::Edit { .. } => Transition::Edited,
            Self::Reject { .. } => Transition::Rejected,
            Self::Happened { .. } => Transition::Happened,
            Self::DidNotHappen => Transition::DidNotHappen,
            Self::Accept => Transition::Accepted,
            Self::Requeue { .. } => Transition::Requeued,
            Self::Discard { .. } => Transition::Discarded,
            Self::Revoke => return None,
        })
    }

    /// Reports whether it lets the call run with the arguments that its record shows.
    #[doc(hidden)]
    #[must_use]
    pub fn lets_run_as_shown(&self) -> bool {
        match self {
            Self::Approve { .. }
            | Self::Accept
            | Self::DidNotHappen
            | Self::Requeue { arguments: None, .. } => true,
            Self::Edit { .. }
            | Self::Requeue { arguments: Some(_), .. }
            | Self::Reject { .. }
            | Self::Happened { .. }
            | Self::Discard { .. }
            | Self::Revoke => false,
        }
    }
}

/// What was done, as in `approved`.
impl fmt::Display for Decision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Approve { grant: None } => "approved",
            Self::Approve { grant: Some(_) } => "approved with a grant",
            Self::Edit { .. } => "edited",
            Self::Reject { .. } => "rejected",
            Self::Happened { .. } => "found to have happened",
            Self::DidNotHappen => "found not to have happened",
            Self::Accept => "accepted",
            Self::Requeue { arguments: None, .. } => "requeued",
            Self::Requeue { arguments: Some(_), .. } => "requeued with other arguments",
            Self::Discard { forget: false, .. } => "discarded",
            Self::Discard { forget: true, .. } => "discarded and forgotten",
            Self::Revoke => "revoked",
        })
    }
}

/// Without arguments and results, which may hold secrets.
impl fmt::Debug for Decision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Decision({self})")
    }
}

/// Without the text, whose arguments and results may hold secrets.
impl fmt::Debug for SignedStatement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Signed")
            .field("key", &self.key)
            .field("signature", &self.signature)
            .finish_non_exhaustive()
    }
}
