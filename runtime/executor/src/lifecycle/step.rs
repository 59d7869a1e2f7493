//! Why the executor looks at a call, and what is to be done: plain data around `decide`.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::guard::Guards;
use super::snapshot::CircuitOpen;
use crate::executor::OnNoApprover;
use toolwright_core::context::CallId;
use toolwright_core::error::{Done, ErrorClass};
use toolwright_journal::journal::{AnswerRecord, Contradiction, Illegal, NotAdvanced, Transaction};

/// Why the executor looks at a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// It arrives, and the journal does not have it.
    Submitted {
        /// Why it is made, as its caller says.
        reason: Option<String>,
        /// The answer, as it is stored, where its tool refuses it before it is evaluated.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refused: Option<AnswerRecord>,
    },
    /// A caller, a worker or an operator wants it to go on.
    Resumed,
    /// Its deadline or its lease may have passed.
    Due,
    /// An approver was notified and decides later.
    Noted,
    /// The stages of the application have looked at it.
    Staged(StagedCall),
    /// Its tool ran, or was not begun.
    Attempted(Attempt),
    /// Every call that it makes and waits for has to be decided.
    Suspended(Suspension),
    /// Who carries it out elsewhere supplies its result.
    Supplied(SuppliedResult),
    /// The task that held its claim was dropped.
    Dropped(DroppedClaim),
    /// Its tool found out what became of it.
    Reconciled(Reconciliation),
    /// It is not wanted any more, or cannot be decided.
    Ended(End),
}

/// What the stages of the application make of a call that may run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StagedCall {
    /// The version of the record that they looked at.
    pub version: u64,
    /// Why it is made, as its caller says; of a call that the journal does not have.
    pub reason: Option<String>,
    /// What they make of it.
    pub verdict: StageVerdict,
    /// What their answer says besides of earlier attempts.
    pub more: Option<String>,
}

/// What becomes of a call that the stages have looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum StageVerdict {
    /// It may begin.
    #[serde(rename = "GoOn")]
    Continue,
    /// It may not begin before this time has passed.
    Delay {
        /// How long.
        time: Duration,
        /// Why.
        why: String,
    },
    /// It has this answer, as it is stored, and does not begin.
    Answer(AnswerRecord),
    /// It was given up meanwhile.
    GivenUp,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The epoch of the claim under which it was made.
    pub epoch: u64,
    /// The error, where it is one.
    pub error: Option<AttemptError>,
    /// The answer as it is stored: encrypted or left out where a secret is among the arguments.
    pub answer: AnswerRecord,
    /// What the answer says besides of earlier attempts.
    pub more: Option<String>,
    /// Whether an executor that shuts down gave the call up, and not its caller.
    pub is_released: bool,
    /// How much is left of the time of the whole call, where that is limited.
    pub time_left: Option<Duration>,
    /// For how long the tool's circuit is open, where it is and that is known.
    pub circuit: Option<Duration>,
    /// Whether the run has given the call one of its retries; nothing where it was not asked.
    pub retry: Option<bool>,
}

/// The error of an attempt, for decisions and operators.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptError {
    /// What may be done about it.
    pub class: ErrorClass,
    /// What the executor knows of it.
    pub done: Option<Done>,
    /// Its kind.
    pub kind: String,
    /// Its message; nothing where a secret is among the arguments.
    pub message: Option<String>,
    /// Its cause; nothing where a secret is among the arguments.
    pub cause: Option<String>,
}

/// A claim that is given back until a person has decided on a call that its call makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspension {
    /// The epoch of the claim.
    pub epoch: u64,
    /// The calls that have to be decided.
    pub awaits: Vec<CallId>,
}

/// A result that is supplied with the token of its call, which was verified.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuppliedResult {
    /// The generation of the token.
    pub generation: u32,
    /// The result or the error, as it is stored.
    pub answer: AnswerRecord,
}

/// A claim whose task was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedClaim {
    /// The epoch of the claim.
    pub epoch: u64,
    /// Who ran the call.
    pub by: By,
    /// Whether its tool was begun.
    pub is_begun: bool,
}

/// Who runs a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum By {
    /// The caller, who wants the answer and gives the call up by going away.
    Caller,
    /// A worker, who leaves the call to other workers by going away.
    Worker,
}

/// What a tool found out about an earlier call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reconciliation {
    /// The version of the record that it looked at.
    pub version: u64,
    /// The answer of the call, as it is stored, where it happened; nothing where it did not.
    pub happened: Option<AnswerRecord>,
}

/// Why a call that has not begun is ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// Its run was ended.
    RunEnded,
    /// Its caller was dropped.
    CallerGone,
    /// Its caller gave it up.
    GivenUp,
    /// Its caller shuts down, and would not know the call again.
    ShuttingDown,
    /// The approver failed, and no other approver can decide.
    ApproverFailed(String),
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// What is committed first; nothing where nothing is.
    pub commit: Option<Transaction>,
    /// What follows, once that is durable.
    pub then: Then,
}

/// What follows a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Then {
    /// More has to be known: it is read, and the same input is decided once more.
    Read(Need),
    /// The call may run: the stages of the application look at it, and what they make of it is the next input.
    Stage,
    /// The call is claimed: its tool runs, and how that ends is the next input.
    Perform,
    /// The call has moved, and is looked at once more.
    #[serde(rename = "GoOn")]
    Continue,
    /// What was read is not of one moment: it is read once more.
    Reload,
    /// People are asked.
    Notify,
    /// The outcome is that of the record: its answer, or that it waits.
    Report,
    /// Nothing happens to it before this time.
    WaitUntil(Timestamp),
    /// It is left alone for so long.
    LeaveAlone(Duration),
    /// It is answered with a refusal, and not recorded.
    Answer(Refusal),
    /// The host has to act.
    Fail(Problem),
}

/// What has to be read.
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
    /// [`Snapshot::evaluated`](super::Snapshot::evaluated), with the policy's plan mode off where its plan is accepted.
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
    /// The answer of the attempt, or of a stage, with these words added to its message.
    More(String),
}

/// Why a call is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// The policy denies it, for this reason.
    Denied(String),
    /// A person rejected the same call in this run.
    DeniedBefore,
    /// It would have to wait, for this reason, with a secret that cannot be encrypted.
    SecretCannotWait(String),
    /// It would be handed over, with a secret that cannot be encrypted.
    SecretCannotBeHandedOver,
    /// A person would have to decide, for this reason, and no approver can be asked.
    NoApprover(String),
    /// Another person than its user would have to decide, for this reason, and it has no user.
    NoUser(String),
    /// It would be planned, and needs what only its caller brings.
    CannotBePlanned,
    /// It would be planned, and there is no journal for a plan.
    NoPlan,
    /// The executor shuts down.
    ShuttingDown,
    /// The circuit of its tool is open.
    Unavailable(CircuitOpen),
    /// Its run has ended.
    RunOver,
}

/// Why the host has to act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Problem {
    /// The call cannot go on here.
    NotHere(String),
    /// No approver can be asked, although one has to decide for this reason, and the executor was built to fail then.
    NoApprover(String),
    /// Its record is not what its history says.
    Contradiction(Contradiction),
    /// The machine knows no such transition.
    Illegal(Illegal),
    /// Its record cannot be advanced any more.
    NotAdvanced(NotAdvanced),
}

/// What an executor decides by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// How it signs its claims.
    pub owner: String,
    /// For how long a claim counts that is not renewed.
    pub lease: Duration,
    /// For how long a person may think.
    pub expires_after: Duration,
    /// What happens where no approver can be asked; nothing where one can.
    pub no_approver: Option<OnNoApprover>,
    /// Whether it has a key to encrypt secrets with.
    pub seals: bool,
    /// Whether the application has stages.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_stages: bool,
    /// Whether every failed call is a dead letter.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lays_failures_aside: bool,
    /// The id of the journal, which statements have to name.
    #[serde(default)]
    pub journal: Option<String>,
    /// Where it belongs, which statements have to name.
    pub project: Option<String>,
    /// The call under whose claim it looks, where that makes the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acts_for: Option<CallId>,
    /// Whether it shuts down and begins nothing more.
    pub is_closed: bool,
    /// What is checked; all of it, but for tests that show what a check is for.
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
