//! What is known of one call when the executor looks at it: plain data, read by the driver, from which
//! `decide` decides.
//!
//! - What was not read yet is `None`. [`Then::Read`](super::Then::Read) says what has to be read next.
//! - Signatures, encrypted texts and the tool's own code are the driver's: a snapshot holds what they gave.
//! - Values of secret arguments are encrypted or left out, as in the journal.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::retry::RetryPolicy;
use toolwright_core::context::CallId;
use toolwright_core::repairs::Change;
use toolwright_core::tool::{Danger, Effect};
use toolwright_journal::approval::{Grant, Statement};
use toolwright_journal::journal::{AnswerRecord, CallRecord, Entry, StoredText};
use toolwright_policy::policy::PolicyDecision;

/// What is known of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The call as the journal has it, or as it would be recorded.
    pub record: CallRecord,
    /// Whether the journal has it.
    pub is_recorded: bool,
    /// Its history, and what the signatures in it and in the record are worth.
    pub past: Option<Past>,
    /// Whether its run has ended.
    pub run_ended: Option<bool>,
    /// Its tool as it is here; the error says why the call cannot go on here.
    pub tool: Option<Result<ToolNow, String>>,
    /// Its arguments as they are stored.
    pub stored: Option<Stored>,
    /// What its tool and the policy make of its arguments now; the error is that of its tool, which does not take them.
    pub evaluated: Option<Result<Evaluated, AnswerRecord>>,
    /// What its tool makes of the arguments that a person proposed.
    pub proposed: Option<Result<Evaluated, AnswerRecord>>,
    /// Whether a person rejected a call with these arguments in this run.
    pub denied_before: Option<bool>,
    /// The grants for its tool.
    pub grants: Option<Vec<GrantNow>>,
    /// What its tool shows of the call.
    pub preview: Option<Preview>,
    /// Whether one of the calls that it waits for waits no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaited: Option<bool>,
    /// The calls that it has made and that have to be decided, where none of the others is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided_children: Option<Vec<CallId>>,
    /// How often it was begun that may have acted, as far as the journal can tell.
    pub begun: Option<u32>,
    /// How often it may be begun, as far as its tool is known here.
    pub attempts: Option<u32>,
}

/// What happened to a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Past {
    /// The entries, in order.
    pub history: Vec<Entry>,
    /// The decision in the record.
    pub decision: Option<Signature>,
    /// That its plan was accepted.
    pub accepted: Option<Signature>,
    /// What was signed in the last entry that had it evaluated again.
    pub evaluated_by: Option<Signature>,
    /// What was signed in the last entry, where that is an edit.
    pub edit: Option<Signature>,
}

/// What a signed statement is worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Signature {
    /// It is that of a trusted key, over this statement.
    Counts(Box<Statement>),
    /// It does not count, and why.
    Invalid(String),
}

/// A tool as it is now, where the call can go on here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolNow {
    /// Its definition, as hexadecimal digits.
    pub fingerprint: String,
    /// Whether its calls may be repeated.
    pub effect: Effect,
    /// How often its calls are tried.
    pub retry: RetryPolicy,
    /// Whether it needs services that the caller brings with the call.
    pub needs_caller: bool,
    /// Whether those services are here.
    pub has_services: bool,
    /// Whether its circuit is open, and for how long, where that is known.
    pub circuit: Option<CircuitOpen>,
    /// How its calls are handed over, where they are carried out elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hands_over: Option<HandsOver>,
}

/// How the calls of a tool are handed over that are carried out elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandsOver {
    /// Within which time a result may be supplied.
    pub within: Duration,
    /// Why they cannot be handed over here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

/// A circuit that lets no call through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CircuitOpen {
    /// For how long; nothing while another call tries.
    pub left: Option<Duration>,
}

/// The arguments of a record, as far as they can be read here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stored {
    /// They can be read.
    Readable {
        /// Whether they are those of the record's digest, by this version or the one before.
        is_of_its_digest: bool,
        /// The arguments for people, with the parameters masked that the record names as secret.
        #[serde(default)]
        shown: String,
    },
    /// They cannot be read here, and why.
    Unreadable(String),
}

/// What a tool and the policy make of arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluated {
    /// The decision of the policy.
    pub policy: PolicyDecision,
    /// Whether a reviewer may decide in a person's place, where the policy asks. A trace of a release that did not write it
    /// means no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reviewable: bool,
    /// Whether the policy forbids that the user of a call approves it.
    pub four_eyes: bool,
    /// Whether there are secrets among the arguments.
    pub has_secrets: bool,
    /// The final arguments; nothing where they are those of the record, which is new.
    pub arguments: Option<Box<FinalCall>>,
}

/// What an evaluation writes into a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinalCall {
    /// The final arguments, encrypted where secrets are among them.
    pub arguments: StoredText,
    /// The arguments as people are shown them.
    pub shown: String,
    /// What repair changed.
    pub repairs: Vec<Change>,
    /// The tool's definition.
    pub fingerprint: String,
    /// How carefully to look.
    pub danger: Danger,
    /// Whether the call may be repeated.
    pub effect: Effect,
    /// The parameters whose values are secret.
    pub secrets: Vec<String>,
    /// What a decision is bound to.
    pub digest: String,
    /// Whether the arguments are those of the record, whatever its tool has become since.
    pub is_unchanged: bool,
    /// Whether they are those of the record by the digest that the version before made.
    #[serde(default)]
    pub is_former: bool,
}

/// What a tool shows of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Preview {
    /// Nothing.
    Nothing,
    /// This.
    Text(String),
}

/// A grant for the tool of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GrantNow {
    /// The key of its document.
    pub key: String,
    /// The version of its document.
    pub version: u64,
    /// The grant.
    pub grant: Grant,
    /// Why its signature does not count, or why it does not cover the arguments of the call; nothing where it does.
    pub not_covered: Option<String>,
}

impl Snapshot {
    /// Collects what is known of a call that the journal has.
    #[must_use]
    pub fn of(record: CallRecord) -> Self {
        Self {
            record,
            is_recorded: true,
            past: None,
            run_ended: None,
            tool: None,
            stored: None,
            evaluated: None,
            proposed: None,
            denied_before: None,
            grants: None,
            preview: None,
            awaited: None,
            undecided_children: None,
            begun: None,
            attempts: None,
        }
    }

    /// Collects what is known of a call that the journal does not have.
    #[must_use]
    pub fn new(record: CallRecord, tool: ToolNow) -> Self {
        Self { is_recorded: false, tool: Some(Ok(tool)), ..Self::of(record) }
    }
}
