//! Why a run stopped without having ended.

use std::error::Error;
use std::time::Duration;

use toolwright::CallFailure;
use toolwright::ToolError;
use toolwright::dialect::DialectError;

use crate::model::ModelError;
use crate::plugin::PluginFailure;

/// Why a run stopped without having ended. The application has to deal with the cause, and can then continue the run by
/// [`AgentRun::resume`](crate::AgentRun::resume).
///
/// ```
/// use toolwright_agent::Stopped;
///
/// assert_eq!(Stopped::NothingSaid.to_string(), "nothing was said to the model; give it a text that is not empty");
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stopped {
    /// The message has neither text nor attachments, or the run has no message of its user yet.
    #[error("nothing was said to the model; give it a text that is not empty")]
    NothingSaid,
    /// The user sent a message while calls had no answer.
    #[error(
        "turn {turn} has calls without an answer; go on with it by `.resume()` before you say more"
    )]
    OpenTurn {
        /// The number of the turn.
        turn: u64,
    },
    /// A call of the turn cannot be answered in this process; see [`needs_decision`](Self::needs_decision).
    #[error(transparent)]
    Call(#[from] CallFailure),
    /// Tools that are discovered at run time, such as those of an MCP server, cannot be listed for the model.
    #[error("the tools cannot be listed: {why}")]
    Tools {
        /// The reason why the tools cannot be listed.
        why: String,
    },
    /// The model is unavailable: it cannot be reached, is overloaded, or its provider asks callers to wait.
    #[error(
        "the model is unavailable: {message}; resume the run, or start another, when the model is back"
    )]
    ModelUnreachable {
        /// The kind of the error, for programs.
        kind: String,
        /// The message of the error.
        message: String,
        /// How long the provider asks callers to wait; `None` if it does not say so.
        retry_after: Option<Duration>,
    },
    /// The instructions are a function of a service that the run does not have.
    #[error(
        "the instructions need `&{service}`, which the run has not got; give it with `.with(…)`"
    )]
    Instructions {
        /// The name of the service.
        service: &'static str,
    },
    /// The run ends in a value of a type, and the caller gave another type or none.
    #[error(
        "the run ends in a value of `{expected}`, found {}; ask for it by `.typed::<{expected}>()`, or build the agent with `.output::<{expected}>()`",
        given.as_ref().map_or_else(|| "no type".to_owned(), |it| format!("`{it}`"))
    )]
    OtherOutput {
        /// The recorded output type.
        expected: String,
        /// The output type that the caller gave.
        given: Option<String>,
    },
    /// The run has to end in a value of a type whose fields have changed since the run began.
    #[error(
        "the run ends in a value of {recorded}, found {given}: the fields of the type have changed since the run began; go on with it by a \
         program that has the type as it was, or cancel it and begin another"
    )]
    ChangedOutput {
        /// The recorded output type, with the digest of its schema.
        recorded: String,
        /// The output type that the caller gave, with the digest of its schema.
        given: String,
    },
    /// The run was handed off to an agent that no longer exists.
    #[error(
        "the run was handed off to `{agent}`, and this agent hands no run off to one of that name; build it with `.hand_off(HandOff::to(\"{agent}\", …))`"
    )]
    HandedOff {
        /// The name of the agent.
        agent: String,
    },
    /// A plugin cannot prepare the next turn.
    #[error("{0}; resume the run when that is repaired")]
    Plugin(#[from] PluginFailure),
    /// The registry has changed, and the provider of the model would refuse one of its tools.
    #[error(transparent)]
    Listing(#[from] DialectError),
}
toolwright::unstable::debug_as_sentence!(Stopped);

impl Stopped {
    pub(super) fn away(error: &ModelError) -> Self {
        let (kind, message) = (error.kind().to_owned(), error.message().to_owned());
        Self::ModelUnreachable { kind, message, retry_after: error.retry_after() }
    }

    pub(super) fn without(service: &'static str) -> Self {
        Self::Instructions { service }
    }

    pub(super) fn unlisted(error: ToolError) -> Self {
        let mut why = error.to_string();
        let mut cause = error.source().map(|it| it as &dyn Error);
        while let Some(it) = cause {
            why = format!("{why}: {it}");
            cause = it.source();
        }
        Self::Tools { why }
    }

    /// Returns the tool of a call that a person has to decide although the agent has no approver, and the reason for
    /// asking. This occurs only if the executor has a journal with
    /// [`OnNoApprover::Fail`](toolwright::OnNoApprover::Fail). Otherwise the call is answered, or waits.
    #[must_use]
    pub fn needs_decision(&self) -> Option<(&str, &str)> {
        match self {
            Self::Call(CallFailure::NoApprover { tool, reason }) => Some((tool, reason)),
            _ => None,
        }
    }
}
