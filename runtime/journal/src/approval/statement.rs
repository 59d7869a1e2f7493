//! The signed statements of a person or service about a call or a grant.
//!
//! - A statement about a call names the call by id, generation and digest, and by the digest of what the person was
//!   shown. It never names a call by its position in a list, or as the latest one.
//! - A statement about a call names the journal and the project in which it is valid.
//! - The journal stores the text that was signed, so that the signature can be checked without serialising the
//!   statement again.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::grant::GrantTerms;
use crate::arguments::shown_digest;
use crate::journal::Transition;
use toolwright_core::context::CallId;

/// A statement with its signature.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedStatement {
    /// The text that was signed: the statement as JSON.
    pub text: String,
    /// The public key that belongs to the signature, as [`PublicKey`](super::PublicKey) writes it.
    pub key: String,
    /// The signature, in hexadecimal.
    pub signature: String,
}

impl SignedStatement {
    /// Parses the statement. This does not check the signature; [`TrustedKeys::verify`](super::TrustedKeys::verify)
    /// does.
    ///
    /// # Errors
    /// When the text is not a statement that this version can read.
    pub fn statement(&self) -> Result<Statement, UnreadableStatement> {
        serde_json::from_str(&self.text)
            .map_err(|error| UnreadableStatement { reason: error.to_string() })
    }
}

/// A text that is not a statement, or a statement of a later version.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the text is no statement that this version reads: {reason}")]
#[non_exhaustive]
pub struct UnreadableStatement {
    /// Why the text cannot be read as a statement.
    pub reason: String,
}
toolwright_core::debug_as_sentence!(UnreadableStatement);

/// A statement of a person or service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The call or grant that the statement is about.
    pub about: Subject,
    /// The decision.
    pub verdict: Decision,
    /// When the statement was made.
    pub at: Timestamp,
    /// The name of the author. It must be the name under which the key is trusted.
    pub by: String,
    /// The id of the journal in which the statement is valid, as the call's record names it; `None` in a statement of
    /// the previous format version, and in one that revokes a grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
    /// The project in which the statement is valid, as the call's record names it; `None` if the record names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The reviewer that decided on behalf of the key's holder, and the reason, for people who read the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The call or grant that a statement decides on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Subject {
    /// A call, and what its approver was shown of it.
    Call {
        /// The id of the call.
        id: CallId,
        /// The generation of the call, which each evaluation raises.
        generation: u32,
        /// The digest of the call, see [`CallRecord::digest`](crate::journal::CallRecord::digest).
        digest: String,
        /// The digest of the shown arguments, see
        /// [`CallRecord::shown_digest`](crate::journal::CallRecord::shown_digest); `None` in a statement of the
        /// previous format version.
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
    /// Reports whether the statement is about these shown arguments. Returns `false` if it does not say which arguments
    /// were shown.
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
    /// The call may run.
    Approve {
        /// The terms under which later calls may run without a decision; `None` if only this call is approved.
        grant: Option<GrantTerms>,
    },
    /// The call may run with other arguments.
    Edit {
        /// The complete new arguments, as JSON text.
        arguments: String,
        /// The digest of the call with the new arguments. If the executor's final arguments have another digest, for
        /// example because it fills in a default, the approver is asked again.
        digest: String,
    },
    /// The call must not run.
    Reject {
        /// Why the call must not run; the model reads this text.
        reason: Option<String>,
    },
    /// The call happened, although its outcome was not recorded.
    Happened {
        /// The result of the call. The model receives it, unless the run already has an answer of the call.
        result: String,
    },
    /// The call did not happen.
    DidNotHappen,
    /// The planned call is accepted, so that the policy evaluates the call again.
    Accept,
    /// The dead letter is requeued, so that the policy evaluates the call again. This is no approval: the call may
    /// still need one. If the call cannot run, it remains a dead letter.
    Requeue {
        /// The complete new arguments, as JSON text; `None` to keep the arguments.
        arguments: Option<String>,
        /// Whether the call gets a new idempotency key although its arguments are unchanged, so that a service which
        /// uses such keys runs it as a new call.
        new_key: bool,
    },
    /// The dead letter is discarded.
    Discard {
        /// Why the dead letter is discarded, for other operators.
        note: Option<String>,
        /// Whether the call's arguments are deleted from its record.
        forget: bool,
    },
    /// The grant is revoked and no longer valid.
    Revoke,
}

impl Decision {
    /// Returns the transition of a call that the decision causes; `None` if the decision is not about a call.
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

    /// Reports whether the decision lets the call run with the arguments that its record shows.
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

/// Writes the decision as a past participle, such as `approved`.
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

/// Omits arguments and results, which may hold secrets.
impl fmt::Debug for Decision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Decision({self})")
    }
}

/// Omits the text, because its arguments and results may contain secrets.
impl fmt::Debug for SignedStatement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Signed")
            .field("key", &self.key)
            .field("signature", &self.signature)
            .finish_non_exhaustive()
    }
}
