//! Why a call does not run, and the error that its caller gets.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::retry::{CircuitRefusal, unavailable};
use toolwright_core::error::{Done, ErrorClass, ToolError};
use toolwright_core::error_kind;

/// Why a call is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// The policy denies the call, for this reason.
    Denied(String),
    /// A person has rejected the same call in this run.
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
    /// The call would have to wait in a plan, but there is no journal to store it.
    NoPlan,
    /// The executor shuts down.
    ShuttingDown,
    /// The circuit breaker of the tool is open.
    Unavailable(CircuitOpen),
    /// The run of the call has already ended.
    RunOver,
}

/// A circuit breaker that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CircuitOpen {
    /// How long the circuit breaker stays open; `None` while another call probes the tool.
    pub left: Option<Duration>,
}

/// Why a call whose tool needs its caller's services cannot run without the caller.
pub(crate) const NEEDS_ITS_CALLER: &str = "needs services that its caller brings with the call";

pub(crate) const GO_ON: &str = "go on without this call, or tell the user that it needs approval";

pub(crate) const NOT_STARTED: ErrorClass = ErrorClass::NotStarted { retry_after: None };

impl Refusal {
    /// Makes the answer of a refused call.
    #[cold]
    pub(crate) fn error(&self, tool: &str, run: &str) -> ToolError {
        match self {
            Self::Denied(reason) => {
                let denied = Cow::Owned(format!("`{tool}` is not allowed here: {reason}"));
                ToolError::new(error_kind::DENIED, denied)
                    .by_executor(Done::Refused)
                    .hint("do not make this call again; find another way, or tell the user")
            }
            Self::DeniedBefore => {
                let words =
                    format!("a person has said no to the same call of `{tool}` in this run");
                ToolError::new(error_kind::REJECTED, words).hint("do not ask for it again")
            }
            Self::SecretCannotWait(reason) => {
                let words = format!(
                    "`{tool}` needs a person's approval ({reason}), and a call with a secret cannot wait here"
                );
                ToolError::new(error_kind::APPROVAL_REQUIRED, words).class(NOT_STARTED).hint(GO_ON).caused_by(
                    "there is no key to seal the secret with; give its journal one by `Journal::sealing_key`",
                )
            }
            Self::SecretCannotBeHandedOver => {
                let words = format!(
                    "`{tool}` is carried out elsewhere, and a call with a secret cannot wait here"
                );
                ToolError::new("refused", words).class(NOT_STARTED).by_executor(Done::NotBegun).caused_by(
                    "there is no key to seal the secret with; give its journal one by `Journal::sealing_key`",
                )
            }
            Self::NoApprover(reason) => {
                let words = format!(
                    "`{tool}` needs a person's approval ({reason}), and no approver can be asked here"
                );
                let error = ToolError::new(error_kind::APPROVAL_REQUIRED, words).class(NOT_STARTED);
                error.by_executor(Done::NotBegun).hint(GO_ON).caused_by(
                    "there is no approver; give one (`.approver(…)` of an agent, `.ask(…)` of an executor), let a `.policy(…)` \
                    allow the call, or run everything with `.unrestricted()`; a tool with `approval = …` needs the approver",
                )
            }
            Self::NoUser(reason) => {
                let words = format!(
                    "`{tool}` needs the approval of another person than its user ({reason}), and the call has no user"
                );
                let error = ToolError::new(error_kind::APPROVAL_REQUIRED, words).class(NOT_STARTED);
                error.by_executor(Done::NotBegun).hint(GO_ON).caused_by(
                    "the policy has `four_eyes`; give the run the name of its user with `.user(…)`",
                )
            }
            Self::CannotBePlanned => {
                let words = format!("`{tool}` cannot be put into the plan: it {NEEDS_ITS_CALLER}");
                ToolError::new("refused", words)
                    .class(NOT_STARTED)
                    .hint("go on without this call, or say that it is needed")
            }
            Self::NoPlan => {
                let words = format!(
                    "`{tool}` was not run: what changes something is planned first, and there is no journal for a plan"
                );
                ToolError::new("cannot_be_planned", words)
                    .by_executor(Done::Refused)
                    .hint("go on without it, and say what you would have done")
            }
            Self::ShuttingDown => shutting_down(),
            Self::Unavailable(CircuitOpen { left }) => {
                unavailable(tool, CircuitRefusal { left: *left })
            }
            Self::RunOver => ended(run).class(ErrorClass::Cancelled),
        }
    }
}

pub(crate) fn shutting_down() -> ToolError {
    let words = "the application is shutting down and takes no more calls";
    ToolError::new(error_kind::SHUTTING_DOWN, words).class(NOT_STARTED).by_executor(Done::NotBegun)
}

pub(crate) fn cancelled(tool: &str) -> ToolError {
    ToolError::new(error_kind::CANCELLED, format!("the call of `{tool}` was cancelled"))
        .class(ErrorClass::Cancelled)
}

pub(crate) fn ended(run: &str) -> ToolError {
    ToolError::new(error_kind::CANCELLED, format!("run `{run}` has ended"))
}
