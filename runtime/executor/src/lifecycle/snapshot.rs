//! The facts about one call from which `decide` decides: plain data, which the driver reads.
//!
//! - A fact that was not read yet is `None`. [`Then::Read`](super::Then::Read) says what to read next.
//! - The driver verifies signatures, decrypts texts and runs the tool's own code: a snapshot holds the results.
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

/// The facts about one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The record in the journal, or the one that would be written.
    pub record: CallRecord,
    /// Whether the journal has the record.
    pub is_recorded: bool,
    /// The history of the call, with the result of verifying the signatures in it and in the record.
    pub past: Option<Past>,
    /// Whether the run of the call has ended.
    pub run_ended: Option<bool>,
    /// The tool as it is now in this process; the error says why the call cannot continue here.
    pub tool: Option<Result<ToolNow, String>>,
    /// The arguments of the call as they are stored.
    pub stored: Option<Stored>,
    /// How the tool and the policy evaluate the call's arguments now. If the tool refuses the arguments, this is its
    /// error.
    pub evaluated: Option<Result<Evaluated, AnswerRecord>>,
    /// How the tool and the policy judge the arguments that a person proposed.
    pub proposed: Option<Result<Evaluated, AnswerRecord>>,
    /// Whether a person rejected a call with these arguments in this run.
    pub denied_before: Option<bool>,
    /// The grants for the call's tool.
    pub grants: Option<Vec<GrantNow>>,
    /// The tool's preview of the call.
    pub preview: Option<Preview>,
    /// Whether one of the calls that this call waits for is no longer waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaited: Option<bool>,
    /// The calls that this call has made and that wait for a decision, if no other child may still run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided_children: Option<Vec<CallId>>,
    /// How often the call was begun and may have acted, according to the journal.
    pub begun: Option<u32>,
    /// How many attempts the call has; `None` if its tool is not known here.
    pub attempts: Option<u32>,
}

/// The past of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Past {
    /// The entries of the history, in order.
    pub history: Vec<Entry>,
    /// The signature of the decision in the record.
    pub decision: Option<Signature>,
    /// The signature of the acceptance of the call's plan.
    pub accepted: Option<Signature>,
    /// The signed statement in the last entry that had it evaluated again.
    pub evaluated_by: Option<Signature>,
    /// The signed statement in the last entry, if that is an edit.
    pub edit: Option<Signature>,
}

/// The result of verifying a signed statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Signature {
    /// A trusted key has signed the statement, which counts.
    Counts(Box<Statement>),
    /// The statement does not count, for this reason.
    Invalid(String),
}

/// The present state of a tool that this process can call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolNow {
    /// The fingerprint of the tool's definition, as hexadecimal digits.
    pub fingerprint: String,
    /// Whether calls of the tool may be repeated.
    pub effect: Effect,
    /// How often calls of the tool are tried.
    pub retry: RetryPolicy,
    /// Whether the tool needs services that the caller brings with the call.
    pub needs_caller: bool,
    /// Whether the caller has provided these services.
    pub has_services: bool,
    /// The circuit breaker of the tool, if it is open.
    pub circuit: Option<CircuitOpen>,
    /// How its calls are handed over, if they are carried out elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hands_over: Option<HandsOver>,
}

/// How a call is handed over that is carried out elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandsOver {
    /// The time within which a result may be supplied.
    pub within: Duration,
    /// Why calls cannot be handed over in this process; `None` if they can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

/// A circuit breaker that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CircuitOpen {
    /// How long the circuit breaker stays open; `None` while another call probes the tool.
    pub left: Option<Duration>,
}

/// The arguments of a record, as far as they can be read here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stored {
    /// The arguments can be read.
    Readable {
        /// Whether the arguments match the record's digest, as this version or the version before computes it.
        is_of_its_digest: bool,
        /// The arguments as people see them: the values of the record's secret parameters are masked.
        #[serde(default)]
        shown: String,
    },
    /// This process cannot read the arguments, for this reason.
    Unreadable(String),
}

/// How a tool and the policy judge arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluated {
    /// The decision of the policy.
    pub policy: PolicyDecision,
    /// Whether a reviewer may decide instead of a person, if the policy asks. A trace of a release without this field
    /// means no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reviewable: bool,
    /// Whether the policy forbids that the user of a call approves it.
    pub four_eyes: bool,
    /// Whether there are secrets among the arguments.
    pub has_secrets: bool,
    /// The final arguments; `None` for a new record, which has them.
    pub arguments: Option<Box<FinalCall>>,
}

/// The part of a record that an evaluation writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinalCall {
    /// The final arguments, encrypted if they hold secrets.
    pub arguments: StoredText,
    /// The arguments as people are shown them.
    pub shown: String,
    /// The changes that a repair has made.
    pub repairs: Vec<Change>,
    /// The fingerprint of the tool's definition.
    pub fingerprint: String,
    /// How carefully a person should look at the call.
    pub danger: Danger,
    /// Whether the call may be repeated.
    pub effect: Effect,
    /// The parameters whose values are secret.
    pub secrets: Vec<String>,
    /// The digest that a decision is bound to.
    pub digest: String,
    /// Whether the record has the same arguments, even if its tool has changed since.
    pub is_unchanged: bool,
    /// Whether the values match the record's digest as the version before computed it.
    #[serde(default)]
    pub is_former: bool,
}

/// A tool's preview of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Preview {
    /// The tool has no preview.
    Nothing,
    /// The preview is this text.
    Text(String),
}

/// A grant for the tool of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GrantNow {
    /// The key of the grant's document.
    pub key: String,
    /// The version of the grant's document.
    pub version: u64,
    /// The grant.
    pub grant: Grant,
    /// Why the grant's signature does not count, or why the grant does not cover the arguments of the call; `None` if
    /// it covers them.
    pub not_covered: Option<String>,
}

impl Snapshot {
    /// Makes the snapshot of a call that the journal has; all other facts are still to be read.
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

    /// Makes the snapshot of a call that the journal does not have.
    #[must_use]
    pub fn new(record: CallRecord, tool: ToolNow) -> Self {
        Self { is_recorded: false, tool: Some(Ok(tool)), ..Self::of(record) }
    }
}
