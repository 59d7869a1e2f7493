//! Errors of building an agent.

use toolwright::approval::KeyError;
use toolwright::dialect::DialectError;
use toolwright::{BuildError, RegistryError};

use crate::agent::ModelNameError;
use crate::limits::Ceiling;
use crate::model::ModelError;
use crate::plugin::PluginProblem;
use crate::run::OutputError;

/// Why an agent cannot be built.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The text `provider:model` gives no model: the model is not known or has no key, for instance.
    #[error(transparent)]
    Model(#[from] ModelNameError),
    /// Two tools have the same name, or a tool is invalid.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The executor of the tools cannot be built. For example, it lacks a service, or a tool that a rule names.
    #[error(transparent)]
    Executor(#[from] BuildError),
    /// The key of the approver could not be loaded or made.
    #[error("the decisions of the approver cannot be signed: {0}")]
    Key(#[source] KeyError),
    /// The instructions are a function of a service that is not provided.
    #[error(
        "the instructions need `&{service}`, which is not provided; register it with `.service(…)`, or declare it with `.per_run::<{service}>()` on the executor"
    )]
    Instructions {
        /// The name of the service.
        service: &'static str,
    },
    /// A plugin cannot be used.
    #[error(transparent)]
    Plugin(#[from] PluginProblem),
    /// The provider of a model would refuse a tool.
    #[error(transparent)]
    Tools(#[from] DialectError),
    /// No run can end in a value of the output type.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A guard has no name, or two guards of a stage have the same name.
    #[error("{0}")]
    Guard(String),
    /// A sub-agent cannot be used.
    #[error("the sub-agent `{agent}` cannot work: {why}")]
    SubAgent {
        /// The name of the agent.
        agent: String,
        /// The reason.
        why: String,
    },
    /// An agent cannot be used as a target of hand-offs.
    #[error("no run can be handed off to `{agent}`: {why}")]
    HandOff {
        /// The name of the agent.
        agent: String,
        /// The reason.
        why: String,
    },
    /// A ceiling cannot be enforced.
    #[error("the ceiling of {ceiling} cannot be enforced: {why}")]
    Ceiling {
        /// The ceiling that cannot be enforced.
        ceiling: Ceiling,
        /// The reason.
        why: String,
    },
    /// A tool has the name of a built-in tool that reads large answers.
    #[error(
        "`{tool}` is the name of the tool by which a model reads large answers; give yours another, or send every answer whole by `AnswerBudget::unlimited()`"
    )]
    ResultTool {
        /// The name of the tool.
        tool: &'static str,
    },
    /// The provider of a model does not support a setting.
    #[error("the model cannot be asked with these settings: {0}")]
    Settings(#[source] ModelError),
}

toolwright::unstable::debug_as_sentence!(AgentError);
