//! The inputs and results of `decide`, as plain data.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::guard::Guards;
use super::snapshot::CircuitOpen;
use crate::executor::OnNoApprover;
use toolwright_core::context::CallId;
use toolwright_core::error::{Done, ErrorClass};
use toolwright_journal::journal::{AnswerRecord, Contradiction, Illegal, NotAdvanced, Transaction};

/// What a decision on a call responds to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// The call is new: the journal does not have it.
    Submitted {
        /// Why the caller makes the call, if the caller says so.
        reason: Option<String>,
        /// The answer, as it is stored, if the tool's validation refuses it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refused: Option<AnswerRecord>,
    },
    /// A caller, a worker or an operator wants the call to continue.
    Resumed,
    /// The deadline or the lease of the call may have expired.
    Due,
    /// An approver was notified and decides later.
    Noted,
    /// The stages of the application have examined the call.
    Staged(StagedCall),
    /// The attempt of the call has ended, or could not begin.
    Attempted(Attempt),
    /// Every child that the call waits for needs a decision.
    Suspended(Suspension),
    /// The result of a call that was handed over is supplied.
    Supplied(SuppliedResult),
    /// The task that held the claim of the call was dropped.
    Dropped(DroppedClaim),
    /// The tool found out the outcome of the call.
    Reconciled(Reconciliation),
    /// The call is not wanted any more, or cannot be decided.
    Ended(End),
}

/// The decision of the application's stages about a call that may run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StagedCall {
    /// The version of the record that the stages examined.
    pub version: u64,
    /// Why the caller makes the call, if the caller says so; only for a call that the journal does not have.
    pub reason: Option<String>,
    /// The decision of the stages.
    pub verdict: StageVerdict,
    /// The words about earlier attempts in the answer of the stages.
    pub more: Option<String>,
}

/// What the stages decide about a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum StageVerdict {
    /// The call may begin.
    #[serde(rename = "GoOn")]
    Continue,
    /// The call may not begin before this time has passed.
    Delay {
        /// The length of the delay.
        time: Duration,
        /// Why the stages delay the call.
        why: String,
    },
    /// The call gets this answer, in stored form, and does not begin.
    Answer(AnswerRecord),
    /// The caller gave the call up meanwhile.
    GivenUp,
}

/// The end of an attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The epoch of the claim under which the attempt ran.
    pub epoch: u64,
    /// The error of the attempt, if it failed.
    pub error: Option<AttemptError>,
    /// The answer in its stored form: encrypted or left out if the arguments hold a secret.
    pub answer: AnswerRecord,
    /// What the answer says about earlier attempts.
    pub more: Option<String>,
    /// Whether the call was cancelled because the executor shuts down, and not by its caller.
    pub is_released: bool,
    /// How much of the total timeout is left, if the call has one.
    pub time_left: Option<Duration>,
    /// How long the tool's circuit breaker stays open, if it is open and the time is known.
    pub circuit: Option<Duration>,
    /// Whether the run granted the call one of its retries; `None` if it was not asked.
    pub retry: Option<bool>,
}

/// The error of an attempt, for decisions and operators.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptError {
    /// The class of the error, which says whether the call may be repeated.
    pub class: ErrorClass,
    /// How the executor itself ended the call, if it did.
    pub done: Option<Done>,
    /// The kind of the error.
    pub kind: String,
    /// The message of the error; `None` if the arguments hold a secret.
    pub message: Option<String>,
    /// The cause of the error; `None` if the arguments hold a secret.
    pub cause: Option<String>,
}

/// A claim that its owner gives up until a person has decided on a child of the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspension {
    /// The epoch of the claim.
    pub epoch: u64,
    /// The children that need a decision.
    pub awaits: Vec<CallId>,
}

/// A result that is supplied with the verified token of its call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuppliedResult {
    /// The generation of the token.
    pub generation: u32,
    /// The result or the error, in its stored form.
    pub answer: AnswerRecord,
}

/// A claim whose task was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedClaim {
    /// The epoch of the claim.
    pub epoch: u64,
    /// Whether the caller or a worker ran the call.
    pub by: By,
    /// Whether the tool of the call had begun.
    pub is_begun: bool,
}

/// Who runs a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum By {
    /// The caller, who waits for the answer; when it goes away, the call is given up.
    Caller,
    /// A worker; when it goes away, other workers take the call over.
    Worker,
}

/// What the tool of an earlier call has found out about its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reconciliation {
    /// The version of the record about which the tool was asked.
    pub version: u64,
    /// The answer of the call, in its stored form, if it happened; `None` if it did not.
    pub happened: Option<AnswerRecord>,
}

/// Why a call that has not begun is ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// The run of the call was ended.
    RunEnded,
    /// The caller of the call was dropped.
    CallerGone,
    /// The caller no longer wants the call.
    GivenUp,
    /// The caller shuts down, and could not recognise the call later.
    ShuttingDown,
    /// The approver failed, and no other approver can decide.
    ApproverFailed(String),
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The transaction to commit first, if the decision has one.
    pub commit: Option<Transaction>,
    /// What follows once the transaction is committed.
    pub then: Then,
}

/// What follows a decision once it is committed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Then {
    /// A fact is missing: the driver reads it, and decides on the same input again.
    Read(Need),
    /// The call may run: the stages of the application examine it, and their decision is the next input.
    Stage,
    /// The call is claimed: its tool runs, and the end of the attempt is the next input.
    Perform,
    /// The call has advanced, so the executor decides on it again.
    #[serde(rename = "GoOn")]
    Continue,
    /// The record and the history are of different moments: both are read again.
    Reload,
    /// People are asked to decide.
    Notify,
    /// The record has the outcome: the call's answer, or that it waits.
    Report,
    /// The call waits until this time.
    WaitUntil(Timestamp),
    /// The call is left alone for this time.
    LeaveAlone(Duration),
    /// The call is refused with this answer, and not recorded.
    Answer(Refusal),
    /// The host has to act.
    Fail(Problem),
}

/// A fact that has to be read before the decision can be made.
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
    /// [`Snapshot::evaluated`](super::Snapshot::evaluated), with the policy's plan mode off if the call's plan is
    /// accepted.
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
    /// [`Attempt::retry`]: whether the run gives the call one of its retries.
    Retry,
    /// Not a fact: these words have to be added to the answer of the attempt, or of a stage.
    More(String),
}

/// Why a call is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// The policy denies the call, for this reason.
    Denied(String),
    /// A person rejected the same call in this run.
    DeniedBefore,
    /// The call would have to wait, for this reason, but holds a secret that cannot be encrypted.
    SecretCannotWait(String),
    /// The call would be handed over, but holds a secret that cannot be encrypted.
    SecretCannotBeHandedOver,
    /// The call needs approval, for this reason, and no approver can be asked.
    NoApprover(String),
    /// Another person than the user of the call would have to decide, for this reason, but the call has no user.
    NoUser(String),
    /// The call would be planned, but needs services that only the caller provides.
    CannotBePlanned,
    /// The call would be put into a plan, but no journal can store a plan.
    NoPlan,
    /// The executor shuts down.
    ShuttingDown,
    /// The circuit breaker of the tool is open.
    Unavailable(CircuitOpen),
    /// The run of the call has ended.
    RunOver,
}

/// Why the host has to act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Problem {
    /// The call cannot continue here.
    NotHere(String),
    /// The call needs approval, for this reason, no approver can be asked, and the executor is set to fail then.
    NoApprover(String),
    /// The record of the call contradicts its history.
    Contradiction(Contradiction),
    /// The state machine has no such transition.
    Illegal(Illegal),
    /// The record of the call cannot be advanced any more.
    NotAdvanced(NotAdvanced),
}

/// The settings of an executor for its decisions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The name of the executor in the leases of its calls.
    pub owner: String,
    /// How long a lease lasts unless its owner renews it.
    pub lease: Duration,
    /// How long a person may take to decide.
    pub expires_after: Duration,
    /// What the executor does with a call that needs approval; `None` if an approver can be asked.
    pub no_approver: Option<OnNoApprover>,
    /// Whether the executor has a key to encrypt secrets with.
    pub seals: bool,
    /// Whether the application has stages.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_stages: bool,
    /// Whether every failed call becomes a dead letter.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lays_failures_aside: bool,
    /// The id of the journal, which statements have to name.
    #[serde(default)]
    pub journal: Option<String>,
    /// The project of the executor, which statements have to name.
    pub project: Option<String>,
    /// The parent whose child the executor carries out, if it carries out a child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acts_for: Option<CallId>,
    /// Who makes the calls of the run, if the run continues on behalf of another agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acts_as: Option<String>,
    /// Whether the executor shuts down and begins no more calls.
    pub is_closed: bool,
    /// The checks to make: all of them, except in tests that show why a check is needed.
    #[serde(default, skip)]
    pub guards: Guards,
}

impl Step {
    pub(super) fn only(then: Then) -> Self {
        Self { commit: None, then }
    }
}

impl From<Need> for Step {
    fn from(need: Need) -> Self {
        Self::only(Then::Read(need))
    }
}
