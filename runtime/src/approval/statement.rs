//! What a person or service says about a call, signed.
//!
//! - A statement names its call, generation and digest; never a position, a name, or the latest.
//! - What is kept is the text that was signed, so that nobody has to write it the same way again to check it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::grant::GrantTerms;
use crate::context::CallId;

/// A statement as it was signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// The statement, as JSON text.
    pub text: String,
    /// The public key that signed it, as [`PublicKey`](super::PublicKey) writes it.
    pub key: String,
    /// Hexadecimal.
    pub signature: String,
}

/// What somebody says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// What it is about.
    pub about: Subject,
    /// What is said.
    pub verdict: Verdict,
    /// When.
    pub at: Timestamp,
    /// Who, as the key's holder calls themselves. The key counts, not the name.
    pub by: String,
}

/// What a statement is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Subject {
    /// One call, as it was shown.
    Call {
        /// Which.
        id: CallId,
        /// As it was judged this time.
        generation: u32,
        /// What was shown, see [`CallRecord::digest`](crate::journal::CallRecord::digest).
        digest: String,
    },
    /// A grant.
    Grant {
        /// Which.
        id: String,
    },
}

/// What is said of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Verdict {
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
    /// The grant no longer counts.
    Revoke,
}
