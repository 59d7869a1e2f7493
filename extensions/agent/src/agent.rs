//! An agent: a model, its tools, and the limits of its runs.

mod builder;
mod chat;
mod delegate;
mod error;
mod hand_off;
mod handle;
mod instructions;
mod model_name;
mod new_executor;
mod part;
mod partial;
mod request;
mod result;
mod review;
mod steering;
mod stream;
mod typed;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use toolwright::Executor;
use toolwright::unstable::runs::JournalAccess;

pub use self::builder::AgentBuilder;
pub use self::chat::{Chat, ChatTurn};
use self::delegate::SubAgents;
pub use self::delegate::{SubAgent, SubAgentAnswer};
pub use self::error::AgentError;
pub use self::hand_off::HandOff;
use self::hand_off::HandOffs;
pub use self::handle::RunHandle;
pub use self::instructions::{Instructions, IntoInstructions};
pub use self::model_name::{IntoModel, ModelNameError};
pub use self::new_executor::NewExecutor;
pub use self::part::AgentPart;
pub use self::partial::{Partial, PartialStream};
pub use self::request::RunRequest;
pub use self::result::{RunError, RunResult};
pub use self::review::{PersonLater, Reviewer};
pub use self::steering::Steering;
pub use self::stream::{NumberedStream, RunStream};
pub use self::typed::{TypedRequest, TypedResult};
use crate::durable::LocalDrivers;
use crate::events::{Rings, RunEvents, RunNotice};
use crate::guards::GuardSet;
use crate::history::Prompt;
use crate::limits::ceilings::Ceilings;
use crate::limits::ledger::Ledger;
use crate::limits::{Accounts, Limits};
use crate::model::{Model, ModelSettings};
use crate::plugin::PluginSet;
use crate::results::AnswerBudget;
use crate::run::options::Ids;
use crate::run::{AgentRunBuilder, Output};

pub(crate) type Listener = Box<dyn Fn(&RunNotice<'_>) + Send + Sync>;

/// An agent: asks a model which tool to call next, runs the call, and repeats this until the task is done. Cloning is
/// cheap; all clones are the same agent.
///
/// [`Agent::builder`] takes a model and tools. Each [`run`](Self::run) is one task; a [`chat`](Self::chat) is a
/// conversation. The agent runs a call only if the policy allows the call or the call is approved. By default, calls
/// that change nothing (`effect = read`) run, and an [`approver`](AgentBuilder::approver) decides about all others.
///
/// ```
/// use toolwright::tool;
/// use toolwright_agent::{Agent, ScriptedModel};
///
/// /// Adds two numbers.
/// #[tool(effect = read)]
/// async fn add(
///     /// The first.
///     a: i64,
///     /// The second.
///     b: i64,
/// ) -> i64 {
///     a + b
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// // For a real model, write its name: "anthropic:claude-sonnet-4-6".
/// let model = ScriptedModel::new().calls([("add", r#"{"a":1,"b":2}"#)]).says("It is 3.");
/// let agent = Agent::builder(model).instructions("You are good at sums.").tools([ADD]).build()?;
///
/// let result = agent.run("How much is 1 + 2?").await?;
/// assert_eq!(result.to_string(), "It is 3.");
/// assert_eq!(result.turns(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Agent(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    /// The name under which the agent's recorded runs are stored.
    pub name: String,
    /// The drivers of the agent's recorded runs in this process.
    pub drivers: LocalDrivers,
    pub executor: Executor,
    pub model: Arc<dyn Model>,
    pub instructions: Instructions,
    pub early_reads: bool,
    /// How much of a tool's answer the agent's model reads.
    pub answer_budget: AnswerBudget,
    pub plugins: Arc<PluginSet>,
    /// The type of the value in which a run of the agent has to end, unless its request sets another type.
    pub output: Option<Output>,
    pub limits: Limits,
    pub max_tokens: Option<u32>,
    /// The size of the model's context window, in tokens.
    pub window: Option<u64>,
    /// The model that summarizes the turns that a request leaves out.
    pub summarizer: Option<Arc<dyn Model>>,
    pub settings: ModelSettings,
    pub listeners: Arc<[Listener]>,
    pub guards: GuardSet,
    pub rings: Rings,
    /// Whether the agent has already warned that it refuses calls because it has no approver.
    pub said_unapproved: AtomicBool,
    pub ids: Ids,
    pub accounts: Accounts,
    /// The agents to which the agent's model can give tasks.
    pub sub_agents: Option<SubAgents>,
    /// The agents to which the agent's runs may be handed off.
    pub hand_offs: Option<HandOffs>,
    /// What the sub-agents of the agent may spend, and what they have spent.
    pub ledger: Ledger,
    /// Limits on the cost of all runs in a day or month; `None` if none were set.
    pub ceilings: Option<Ceilings>,
    #[cfg(feature = "opentelemetry")]
    pub metrics: Option<Arc<crate::events::Metrics>>,
}

impl Inner {
    /// Returns the journal that records the agent's runs, which is the journal that the application gave to the
    /// executor. Returns `None` if the application gave no journal.
    pub(crate) fn journal(&self) -> Option<JournalAccess> {
        self.executor.journal_access().filter(|journal| !journal.is_own)
    }
}

impl Agent {
    /// Returns a builder for an agent with this model: a text `provider:model`, such as `anthropic:claude-sonnet-4-6`,
    /// or any [`Model`]. The builder also makes the executor that runs the agent's tools.
    #[must_use]
    pub fn builder(model: impl IntoModel) -> AgentBuilder {
        AgentBuilder::new(NewExecutor::default(), model)
    }

    /// Returns a builder for an agent that runs its calls on an existing executor. The model sees the tools in the
    /// executor's catalog; to show it fewer, use [`Executor::pinned`].
    ///
    /// ```
    /// use toolwright::{Executor, Registry};
    /// use toolwright_agent::{Agent, ScriptedModel};
    ///
    /// let executor = Executor::builder(Registry::empty()).limit(4).build()?;
    /// let agent = Agent::on(executor, ScriptedModel::new()).max_turns(10).build()?;
    /// # let _ = agent;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn on(executor: Executor, model: impl IntoModel) -> AgentBuilder<Executor> {
        AgentBuilder::new(executor, model)
    }

    /// Gives the agent a task. Await the returned request for its [`RunResult`](crate::RunResult), or
    /// [`stream`](RunRequest::stream) its events.
    ///
    /// With a journal ([`AgentBuilder::journal`]), the run is recorded. If the process dies, request the run again by
    /// its [`id`](RunRequest::id), and it continues where it was. A request for a run that has ended returns its result
    /// again.
    pub fn run(&self, prompt: impl Into<Prompt>) -> RunRequest {
        RunRequest::new(self, prompt.into())
    }

    /// Begins a conversation. Each message continues the conversation.
    #[must_use]
    pub fn chat(&self) -> Chat {
        Chat::new(self)
    }

    /// Begins a run that the application drives itself. The run can be stored, restored and continued where it stopped.
    /// No other run of the application may have this id, because the journal records the run's calls under the id.
    pub fn new_run(&self, id: impl Into<String>) -> AgentRunBuilder {
        AgentRunBuilder::new(self, id.into())
    }

    /// Returns the events of the run with this id, beginning with the next event. This process must drive the run, now
    /// or later. Events are numbered; see [`RunEvents::after`]. Once a run's events have a reader, the agent asks its
    /// model to stream.
    #[must_use]
    pub fn events(&self, run: &str) -> RunEvents {
        self.0.rings.read(run, None)
    }

    /// Returns the model.
    #[must_use]
    pub fn model(&self) -> &dyn Model {
        &*self.0.model
    }

    /// Returns the name with which the agent's recorded runs are stored; see [`AgentBuilder::name`].
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    pub(crate) fn notify(&self, notice: &RunNotice<'_>) {
        self.0.listeners.iter().for_each(|listener| listener(notice));
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Agent")
            .field("model", &self.0.model.name())
            .field("limits", &self.0.limits)
            .field("executor", &self.0.executor)
            .finish_non_exhaustive()
    }
}
