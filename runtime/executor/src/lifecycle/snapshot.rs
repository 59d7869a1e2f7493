//! The facts about one call on which `decide` bases its decision, as plain data that the driver reads.
//!
//! - A fact that was not read yet is `None`. [`Then::Read`](super::Then::Read) says which fact to read next.
//! - The driver verifies signatures, decrypts texts and runs the tool's own code. A snapshot contains only the results.
//! - Values of secret arguments are encrypted or left out, as in the journal.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::call::CircuitOpen;
use crate::retry::RetryPolicy;
use toolwright_core::context::CallId;
use toolwright_core::repairs::Change;
use toolwright_core::tool::{Danger, Effect};
use toolwright_journal::approval::{Grant, Statement};
use toolwright_journal::journal::{AnswerRecord, CallRecord, Entry, StoredText};
use toolwright_policy::policy::PolicyDecision;

/// The facts about one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The record of the call in the journal, or the record that would be added to it.
    pub record: CallRecord,
    /// Whether the journal contains the record.
    pub is_recorded: bool,
    /// The history of the call, with the result of verifying the signatures in it and in the record.
    pub past: Option<Past>,
    /// Whether the run of the call has ended.
    pub run_ended: Option<bool>,
    /// The tool as it is registered in this process now. The error says why this process cannot continue the call.
    pub tool: Option<Result<ToolNow, String>>,
    /// Whether the stored arguments can be read, and in which form people see them.
    pub stored: Option<Stored>,
    /// The evaluation of the call's arguments by the tool and the policy. The error is the answer of a tool that
    /// refuses the arguments.
    pub evaluated: Option<Result<Evaluated, AnswerRecord>>,
    /// The evaluation of the arguments that a person proposed. The error is the answer of a tool that refuses them.
    pub proposed: Option<Result<Evaluated, AnswerRecord>>,
    /// Whether a person rejected a call with these arguments in this run.
    pub denied_before: Option<bool>,
    /// The grants for the call's tool.
    pub grants: Option<Vec<GrantNow>>,
    /// The tool's preview of the call.
    pub preview: Option<Preview>,
    /// Whether one of the children for which the call waits has advanced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaited: Option<bool>,
    /// The children that wait for people or for results from outside, if no other child may still run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided_children: Option<Vec<CallId>>,
    /// How many times the call was begun and may have acted, as far as the journal shows.
    pub begun: Option<u32>,
    /// How many attempts the call may have, as far as this process knows its tool.
    pub attempts: Option<u32>,
}

/// The history of a call, and the results of verifying the signed decisions about the call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Past {
    /// The entries of the history, in order.
    pub history: Vec<Entry>,
    /// The result of verifying the decision in the record.
    pub decision: Option<Signature>,
    /// The result of verifying the acceptance of the call's plan.
    pub accepted: Option<Signature>,
    /// The result of verifying the last decision, other than an edit, that caused a new evaluation of the call.
    pub evaluated_by: Option<Signature>,
    /// The result of verifying the decision in the last entry of the history, if that decision is an edit.
    pub edit: Option<Signature>,
}

/// The result of verifying the signature of a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Signature {
    /// A trusted key has signed this statement of the decision.
    Counts(Box<Statement>),
    /// No trusted key has signed the decision. The text says what is wrong.
    Invalid(String),
}

/// The tool as it is registered now, if this process can continue the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolNow {
    /// The fingerprint of the tool's definition, in hexadecimal digits.
    pub fingerprint: String,
    /// The effect of the tool's calls, which decides whether they may be repeated.
    pub effect: Effect,
    /// The retry policy for calls of the tool.
    pub retry: RetryPolicy,
    /// Whether the tool needs services that the caller provides with the call.
    pub needs_caller: bool,
    /// Whether the caller has provided these services.
    pub has_services: bool,
    /// The tool's circuit breaker, if it is open.
    pub circuit: Option<CircuitOpen>,
    /// How calls of the tool are handed over; `None` if this process carries them out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hands_over: Option<HandsOver>,
}

/// How calls of a tool are handed over to the process that carries them out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandsOver {
    /// The time within which a result has to be supplied.
    pub within: Duration,
    /// Why calls cannot be handed over in this process; `None` if they can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

/// The arguments in the record, as far as this process can read them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stored {
    /// The arguments can be read.
    Readable {
        /// Whether the arguments match the record's digest, in the present or the previous format of digests.
        is_of_its_digest: bool,
        /// The arguments as people see them: the values of the record's secret parameters are masked.
        #[serde(default)]
        shown: String,
    },
    /// This process cannot read the arguments, for this reason.
    Unreadable(String),
}

/// The evaluation of a call's arguments by its tool and the policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluated {
    /// The decision of the policy.
    pub policy: PolicyDecision,
    /// Whether a reviewer may decide instead of a person if the policy asks. A trace of a release without this field
    /// means `false`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reviewable: bool,
    /// Whether the policy forbids the user of a call to approve it.
    pub four_eyes: bool,
    /// Whether the arguments contain secrets.
    pub has_secrets: bool,
    /// The final arguments; `None` for a new record, which already contains them.
    pub arguments: Option<Box<FinalCall>>,
}

/// The part of a record that an evaluation writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinalCall {
    /// The final arguments, encrypted if they contain secrets.
    pub arguments: StoredText,
    /// The arguments in the form that people see, with secrets masked.
    pub shown: String,
    /// The changes that input repair made to the arguments.
    pub repairs: Vec<Change>,
    /// The fingerprint of the tool's definition.
    pub fingerprint: String,
    /// The danger of the call: how carefully a person should look at it.
    pub danger: Danger,
    /// The effect of the call, which decides whether the call may be repeated.
    pub effect: Effect,
    /// The names of the parameters whose values are secret.
    pub secrets: Vec<String>,
    /// The digest to which a decision is bound.
    pub digest: String,
    /// Whether the record has the same arguments, even if its tool has changed since.
    pub is_unchanged: bool,
    /// Whether the arguments match the record's digest only in the previous format of digests.
    #[serde(default)]
    pub is_former: bool,
}

/// A tool's preview of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Preview {
    /// The tool has no preview for this call.
    Nothing,
    /// The text of the preview.
    Text(String),
}

/// A grant for the tool of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GrantNow {
    /// The key of the document that contains the grant.
    pub key: String,
    /// The version of the document that contains the grant.
    pub version: u64,
    /// The grant.
    pub grant: Grant,
    /// Why the grant's signature is not valid, or why the grant does not cover the call's arguments; `None` if the
    /// grant is valid and covers them.
    pub not_covered: Option<String>,
}

impl Snapshot {
    /// Makes the snapshot of a call of the journal. All other facts are still to be read.
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

    /// Makes the snapshot of a call that is not in the journal yet.
    #[must_use]
    pub fn new(record: CallRecord, tool: ToolNow) -> Self {
        Self { is_recorded: false, tool: Some(Ok(tool)), ..Self::of(record) }
    }
}
