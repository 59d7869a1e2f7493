//! Parts of a call's history: its entries, and its failed attempts.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::next::{Failure, Transition};
use super::state::State;
use crate::approval::SignedStatement;
use toolwright_core::context::CallId;

/// One transition of a call. A committed entry never changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Entry {
    /// The id of the call.
    pub call: CallId,
    /// The version of the call's record after the transition. The first entry has the number 1. Later numbers rise, but
    /// may leave gaps, because some versions have no transition.
    pub number: u64,
    /// When the transition happened.
    pub at: Timestamp,
    /// Who caused the transition: an agent (`agent:<run>`), an executor (`executor:<owner>`), or the person whose name
    /// the signed statement contains.
    pub who: String,
    /// The state of the call before the transition; `None` for the first entry.
    pub from: Option<State>,
    /// The transition; `None` for the first entry.
    pub event: Option<Transition>,
    /// The state of the call after the transition.
    pub to: State,
    /// The generation of the call after the transition.
    pub generation: u32,
    /// The digest of the call that was evaluated or decided on.
    pub digest: String,
    /// The reason for the transition, in words.
    pub why: Option<String>,
    /// The signed statement that caused the transition; `None` if no statement did.
    pub signed: Option<SignedStatement>,
}

/// The author, the time and the reason of a transition.
#[derive(Debug, Clone)]
pub struct Note {
    /// Who caused the transition.
    pub who: String,
    /// When the transition happened.
    pub at: Timestamp,
    /// The reason for the transition, in words.
    pub why: Option<String>,
    /// The signed statement that caused the transition; `None` if no statement did.
    pub signed: Option<SignedStatement>,
}

/// An attempt that failed.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct FailedAttempt {
    /// The number of the attempt, from 1 in each generation.
    pub attempt: u32,
    /// When the attempt ended.
    pub at: Timestamp,
    /// How the attempt failed.
    pub failure: Failure,
    /// The kind of the tool's error, for programs.
    pub kind: String,
    /// The message that the model would read; `None` if the arguments held a secret, or an operator deleted them.
    pub message: Option<String>,
    /// The cause, for operators; `None` if there is none, the arguments held a secret, or an operator deleted them.
    pub cause: Option<String>,
}

/// Omits the message and the cause, which may repeat what a model wrote.
impl fmt::Debug for FailedAttempt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FailedAttempt")
            .field("attempt", &self.attempt)
            .field("failure", &self.failure)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}
