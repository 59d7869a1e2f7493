//! The inputs and results of `decide`, which contain only data.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::guard::Guards;
use crate::call::{By, OnNoApprover, Refusal};
use crate::stage::UnknownFact;
use toolwright_core::context::CallId;
use toolwright_core::error::{Done, ErrorClass};
use toolwright_journal::journal::{AnswerRecord, Contradiction, Illegal, NotAdvanced, Transaction};

/// The event to which a decision on a call responds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// The call is new, so it is not in the journal.
    Submitted {
        /// The reason for the call, if the caller gives one.
        reason: Option<String>,
        /// The stored form of the error answer, if the tool's validation refuses the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refused: Option<AnswerRecord>,
    },
    /// A caller, a worker or an operator wants the call to continue.
    Resumed,
    /// The deadline or the lease of the call may have expired.
    Due,
    /// An approver was notified and decides later.
    Noted,
    /// The middleware of the application has examined the call.
    Staged(StagedCall),
    /// An attempt of the call has ended, or could not begin.
    Attempted(Attempt),
    /// Every running child of the call waits for a person or for a result from outside.
    Suspended(Suspension),
    /// The process to which the call was handed over supplies a result.
    Supplied(SuppliedResult),
    /// The task that held the claim of the call was dropped.
    Dropped(DroppedClaim),
    /// The tool found out the outcome of the call.
    Reconciled(Reconciliation),
    /// The call is not needed any more, or no approver can decide on it.
    Ended(End),
}

/// The result of running the application's middleware for a call that may run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StagedCall {
    /// The version of the record that the middleware examined.
    pub version: u64,
    /// The reason for the call, if the caller gives one. Set only for a call that is not in the journal.
    pub reason: Option<String>,
    /// The decision of the middleware.
    pub verdict: StageVerdict,
    /// The remark about earlier attempts that was added to the answer of the middleware.
    pub more: Option<String>,
}

/// The decision of the application's middleware on a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum StageVerdict {
    /// The call may begin.
    #[serde(rename = "GoOn")]
    Continue,
    /// The call may not begin before a delay has passed.
    Delay {
        /// The length of the delay.
        time: Duration,
        /// Why the middleware delays the call.
        why: String,
    },
    /// The call does not begin and has this answer, in stored form.
    Answer(AnswerRecord),
    /// The caller gave up the call while the middleware examined it.
    GivenUp,
}

/// The end of an attempt, with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The epoch of the claim under which the attempt ran.
    pub epoch: u64,
    /// The error of the attempt; `None` if the attempt succeeded.
    pub error: Option<AttemptError>,
    /// The answer in its stored form: encrypted or left out if the arguments contain a secret.
    pub answer: AnswerRecord,
    /// The remark about earlier attempts that was added to the answer.
    pub more: Option<String>,
    /// Whether the call was cancelled because the executor shuts down, and not by its caller.
    pub is_released: bool,
    /// How much of the call's total timeout is left; `None` if there is no total timeout.
    pub time_left: Option<Duration>,
    /// How long the tool's circuit breaker stays open; `None` if the circuit breaker is closed, or if the time is
    /// unknown.
    pub circuit: Option<Duration>,
    /// Whether the run granted the call one of its retries; `None` if the run was not asked for a retry.
    pub retry: Option<bool>,
}

/// The error of an attempt, for decisions and operators.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptError {
    /// The class of the error, which decides whether the call may be repeated.
    pub class: ErrorClass,
    /// What the executor did with the call, if the executor ended the attempt.
    pub done: Option<Done>,
    /// The kind of the error.
    pub kind: String,
    /// The message of the error; `None` if the arguments contain a secret.
    pub message: Option<String>,
    /// The cause of the error; `None` if the arguments contain a secret.
    pub cause: Option<String>,
}

/// A claim that its owner gives up until a child of the call can continue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspension {
    /// The epoch of the claim.
    pub epoch: u64,
    /// The children that wait for people or for results from outside.
    pub awaits: Vec<CallId>,
}

/// A result that was supplied with the verified token of its call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuppliedResult {
    /// The generation of the token.
    pub generation: u32,
    /// The supplied result or error, in its stored form.
    pub answer: AnswerRecord,
}

/// The claim of a task that was dropped before it recorded an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedClaim {
    /// The epoch of the claim.
    pub epoch: u64,
    /// Whether the caller or a worker ran the call.
    pub by: By,
    /// Whether the tool of the call had begun when the task was dropped.
    pub is_begun: bool,
}

/// What a tool found out about the outcome of a call that was begun earlier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reconciliation {
    /// The version of the record about which the tool was asked.
    pub version: u64,
    /// The answer of the call, in its stored form, if the call happened; `None` if it did not happen.
    pub happened: Option<AnswerRecord>,
}

/// Why a call that is not running is ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// The run of the call was ended.
    RunEnded,
    /// The caller of the call was dropped.
    CallerGone,
    /// The caller does not need the call any more.
    GivenUp,
    /// The caller shuts down, and could not identify the call later.
    ShuttingDown,
    /// The approver failed with this error, and no other approver can decide.
    ApproverFailed(String),
}

/// A decision on a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The transaction that the driver commits first, if there is one.
    pub commit: Option<Transaction>,
    /// What the driver does after the commit.
    pub then: Then,
}

/// What the driver does after a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Then {
    /// A fact is missing. The driver reads it, and decides on the same input again.
    Read(Need),
    /// The call may run. The middleware of the application examines it first, and its decision is the next input.
    Stage,
    /// The call is claimed. Its tool runs, and the end of the attempt is the next input.
    Perform,
    /// The call has advanced, and the next decision on it follows.
    #[serde(rename = "GoOn")]
    Continue,
    /// The record and the history are from different moments, so both are read again.
    Reload,
    /// The approver is notified that a person has to decide.
    Notify,
    /// The driver reports the outcome from the record: the answer of the call, or its suspension.
    Report,
    /// The call may not continue before this time.
    WaitUntil(Timestamp),
    /// Workers of this process leave the call alone for this time.
    LeaveAlone(Duration),
    /// The call is refused for this reason, and is not recorded.
    Answer(Refusal),
    /// The host application has to handle this problem.
    Fail(Problem),
}

/// A fact that `decide` needs and that the driver has to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Need {
    /// [`Snapshot::past`](super::Snapshot::past).
    Past,
    /// [`Snapshot::run_ended`](super::Snapshot::run_ended).
    Run,
    /// [`Snapshot::tool`](super::Snapshot::tool).
    Tool,
    /// [`Snapshot::stored`](super::Snapshot::stored).
    Stored,
    /// [`Snapshot::evaluated`](super::Snapshot::evaluated). If the plan of the call was accepted, the policy does not
    /// put the call into a plan again.
    Evaluated,
    /// [`Snapshot::proposed`](super::Snapshot::proposed).
    Proposed,
    /// [`Snapshot::denied_before`](super::Snapshot::denied_before).
    Denials,
    /// [`Snapshot::grants`](super::Snapshot::grants).
    Grants,
    /// [`Snapshot::preview`](super::Snapshot::preview).
    Preview,
    /// [`Snapshot::awaited`](super::Snapshot::awaited).
    Awaited,
    /// [`Snapshot::undecided_children`](super::Snapshot::undecided_children).
    UndecidedChildren,
    /// [`Snapshot::begun`](super::Snapshot::begun).
    Begun,
    /// [`Snapshot::attempts`](super::Snapshot::attempts).
    Attempts,
    /// [`Attempt::retry`]: whether the run grants the call one of its retries.
    Retry,
    /// Not a fact: this remark has to be added to the answer of the attempt or of the middleware.
    More(String),
}

/// Why the host application has to act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Problem {
    /// This process cannot continue the call, for this reason.
    NotHere(String),
    /// The call needs approval, for this reason, no approver can be asked, and the executor is set to fail then.
    NoApprover(String),
    /// The record of the call contradicts the call's history.
    Contradiction(Contradiction),
    /// The state machine does not allow the transition in the call's state.
    Illegal(Illegal),
    /// The transition cannot be applied to the record of the call.
    NotAdvanced(NotAdvanced),
}

/// The settings of an executor on which its decisions depend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The name by which the leases of this executor identify it.
    pub owner: String,
    /// How long a lease is valid unless its owner renews it.
    pub lease: Duration,
    /// How long a request for approval is valid.
    pub expires_after: Duration,
    /// What the executor does with a call that needs approval if no approver can be asked; `None` if an approver can be
    /// asked.
    pub no_approver: Option<OnNoApprover>,
    /// Whether the executor has a key to encrypt secrets.
    pub seals: bool,
    /// Whether the executor has middleware of the application.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_stages: bool,
    /// Whether a call becomes a dead letter instead of only failing, if it fails after its tool has begun.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lays_failures_aside: bool,
    /// The id of the journal. A decision is valid only if it names this id.
    #[serde(default)]
    pub journal: Option<String>,
    /// The project of the executor. A decision is valid only if it names this project.
    pub project: Option<String>,
    /// The parent for which the executor carries out a child, if it does so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acts_for: Option<CallId>,
    /// The requester in whose name the run makes its calls, if it makes them on behalf of an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acts_as: Option<String>,
    /// Whether the executor is shutting down, so that it begins no more calls.
    pub is_closed: bool,
    /// The checks that are on: all of them, except in tests that show why a check is needed.
    #[serde(default, skip)]
    pub guards: Guards,
}

impl Step {
    pub(super) fn only(then: Then) -> Self {
        Self { commit: None, then }
    }
}

impl From<UnknownFact> for Need {
    fn from(fact: UnknownFact) -> Self {
        match fact {
            UnknownFact::Denials => Self::Denials,
            UnknownFact::Grants => Self::Grants,
        }
    }
}

impl From<Need> for Step {
    fn from(need: Need) -> Self {
        Self::only(Then::Read(need))
    }
}
