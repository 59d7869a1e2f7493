//! An agent: tools, a model, and how far a run may go.

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
use crate::durable::DroppedDrivers;
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

/// Asks a model which tool comes next and runs it, until the task is done. Cheap to clone; a clone is the same agent.
///
/// [`Agent::builder`] takes a model and tools. Each [`run`](Self::run) is one task; a [`chat`](Self::chat) is a conversation.
/// The agent calls a tool only where the policy allows it: one that changes nothing (`effect = read`) runs, for any other a
/// person is asked, by an [`approver`](AgentBuilder::approver).
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
/// // A real one is named: "anthropic:claude-sonnet-4-6".
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
    /// What its recorded runs are stored with.
    pub name: String,
    /// Its drivers of recorded runs that were dropped.
    pub dropped: DroppedDrivers,
    pub executor: Executor,
    pub model: Arc<dyn Model>,
    pub instructions: Instructions,
    pub early_reads: bool,
    /// How much of an answer its model reads.
    pub answer_budget: AnswerBudget,
    pub plugins: Arc<PluginSet>,
    /// What all of its runs end in.
    pub output: Option<Output>,
    pub limits: Limits,
    pub max_tokens: Option<u32>,
    /// The tokens that the model takes.
    pub window: Option<u64>,
    /// Who summarizes turns that are left out.
    pub summarizer: Option<Arc<dyn Model>>,
    pub settings: ModelSettings,
    pub listeners: Arc<[Listener]>,
    pub guards: GuardSet,
    pub rings: Rings,
    /// Whether the agent has said that calls are refused because it has no approver.
    pub said_unapproved: AtomicBool,
    pub ids: Ids,
    pub accounts: Accounts,
    /// The agents that its model can give tasks to.
    pub sub_agents: Option<SubAgents>,
    /// The agents that its runs may be handed off to.
    pub hand_offs: Option<HandOffs>,
    /// What its sub-agents may spend.
    pub ledger: Ledger,
    /// What all runs may cost in a day or month.
    pub ceilings: Option<Ceilings>,
    #[cfg(feature = "opentelemetry")]
    pub metrics: Option<Arc<crate::events::Metrics>>,
}

impl Inner {
    /// The journal that the application has given: the runs of the agent are recorded there.
    pub(crate) fn journal(&self) -> Option<JournalAccess> {
        self.executor.journal_access().filter(|journal| !journal.is_own)
    }
}

impl Agent {
    /// Begins an agent of a model: a text `provider:model`, such as `anthropic:claude-sonnet-4-6`, or any [`Model`]. The
    /// builder makes the executor of its tools itself.
    #[must_use]
    pub fn builder(model: impl IntoModel) -> AgentBuilder {
        AgentBuilder::new(NewExecutor::default(), model)
    }

    /// Begins an agent that runs its calls on an executor that there is already. What the executor shows the model is its
    /// catalog: narrow it by [`Executor::pinned`].
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

    /// Gives the agent a task. With a journal ([`AgentBuilder::journal`]) the run is recorded: killed at any moment and asked for
    /// again by its [`id`](RunRequest::id), it goes on where it stood, and one that has ended gives its result again. Await the request for its [`RunResult`](crate::RunResult), or [`stream`](RunRequest::stream) what
    /// happens.
    pub fn run(&self, prompt: impl Into<Prompt>) -> RunRequest {
        RunRequest::new(self, prompt.into())
    }

    /// Begins a conversation: each message continues it.
    #[must_use]
    pub fn chat(&self) -> Chat {
        Chat::new(self)
    }

    /// Begins a run that its host drives by itself, by an id that no other run of the application has: calls are journalled
    /// by it. It can be stored, restored and continued where it stopped.
    pub fn new_run(&self, id: impl Into<String>) -> AgentRunBuilder {
        AgentRunBuilder::new(self, id.into())
    }

    /// Reads the events of a run of this id, from the next one on: of one that this process drives, or will. They are numbered;
    /// see [`RunEvents::after`]. A run with a reader of its events asks its model to stream.
    #[must_use]
    pub fn events(&self, run: &str) -> RunEvents {
        self.0.rings.read(run, None)
    }

    /// Returns the model.
    #[must_use]
    pub fn model(&self) -> &dyn Model {
        &*self.0.model
    }

    /// Returns what its recorded runs are stored with; see [`AgentBuilder::name`].
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
