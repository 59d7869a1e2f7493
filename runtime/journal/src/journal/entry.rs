//! What a journal keeps of what happened to a call: entries of its history, and attempts that failed.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::next::{Failure, Transition};
use super::state::State;
use crate::approval::SignedStatement;
use toolwright_core::context::CallId;

/// One thing that happened to a call. Entries are only ever added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Entry {
    /// The call.
    pub call: CallId,
    /// Counted from 1 for each call, in order.
    pub number: u64,
    /// When it happened.
    pub at: Timestamp,
    /// Who: `agent:<run>`, `executor:<owner>`, or the name of an approver.
    pub who: String,
    /// Where the call stood; nothing for the first entry.
    pub from: Option<State>,
    /// What happened; nothing for the first entry.
    pub event: Option<Transition>,
    /// The state of the call since then.
    pub to: State,
    /// The generation since.
    pub generation: u32,
    /// The digest that was judged or decided.
    pub digest: String,
    /// Why, in words.
    pub why: Option<String>,
    /// What a person signed.
    pub signed: Option<SignedStatement>,
}

/// Who did something, when and why.
#[derive(Debug, Clone)]
pub struct Note {
    /// Who made the note.
    pub who: String,
    /// When it happened.
    pub at: Timestamp,
    /// Why, in words.
    pub why: Option<String>,
    /// What a person signed.
    pub signed: Option<SignedStatement>,
}

/// An attempt that gave no result.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct FailedAttempt {
    /// Counted from 1 in each generation.
    pub attempt: u32,
    /// When it ended.
    pub at: Timestamp,
    /// What went wrong.
    pub failure: Failure,
    /// The kind of the tool's error, a word for programs.
    pub kind: String,
    /// What the model would read; nothing where a secret was among the arguments.
    pub message: Option<String>,
    /// The cause, for operators; nothing where a secret was among the arguments.
    pub cause: Option<String>,
}

/// Without the words, which may repeat what a model wrote.
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
