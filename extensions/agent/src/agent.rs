//! An agent: an executor, a model, and how far a run may go.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use toolwright::Executor;
use toolwright::dialect::DialectError;

use crate::events::Rings;
use crate::{
    Accounts, AgentRunBuilder, Cost, Limits, Model, ModelError, ModelSettings, Notice, RunEvents,
};

type Listener = Box<dyn Fn(&Notice<'_>) + Send + Sync>;

/// Asks a model which call comes next, and runs it, until the task is done. Cheap to clone; a clone is the same agent.
///
/// ```
/// use toolwright::{Executor, Registry, tool};
/// use toolwright_agent::{Agent, Ended, ScriptedModel};
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
/// let model = ScriptedModel::new().calls([("add", r#"{"a":1,"b":2}"#)]).says("It is 3.");
/// let executor = Executor::builder(Registry::of([ADD])?).unrestricted().build()?;
/// let agent = Agent::builder(executor, model).system("You are good at sums.").build()?;
///
/// let mut run = agent.run("sums-1").start()?;
/// let ended = run.say("How much is 1 + 2?").await?;
/// assert!(matches!(ended, Ended::Text { text, .. } if text == "It is 3."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Agent(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub executor: Executor,
    pub model: Box<dyn Model>,
    pub system: String,
    pub early_reads: bool,
    pub limits: Limits,
    pub max_tokens: Option<u32>,
    pub settings: ModelSettings,
    pub listeners: Vec<Listener>,
    pub rings: Rings,
    pub accounts: Accounts,
    #[cfg(feature = "opentelemetry")]
    pub metrics: Option<crate::telemetry::Metrics>,
}

impl Agent {
    /// An agent that asks this model and runs its calls on this executor. What the executor shows the model is its
    /// catalog: narrow it by [`Executor::pinned`].
    pub fn builder(executor: Executor, model: impl Model + 'static) -> AgentBuilder {
        AgentBuilder(Inner {
            executor,
            model: Box::new(model),
            system: String::new(),
            early_reads: false,
            limits: Limits::default(),
            max_tokens: None,
            settings: ModelSettings::new(),
            listeners: Vec::new(),
            rings: Rings::default(),
            accounts: Accounts::new(),
            #[cfg(feature = "opentelemetry")]
            metrics: None,
        })
    }

    /// A run, by an id that no other run of the application has: calls are journalled by it.
    pub fn run(&self, id: impl Into<String>) -> AgentRunBuilder {
        AgentRunBuilder::new(self, id.into())
    }

    /// The events of a run of this id, from the next one on: of one that this process drives, or will. They are numbered; see
    /// [`RunEvents::after`]. A run whose events somebody has asked for asks its model to stream.
    #[must_use]
    pub fn events(&self, run: &str) -> RunEvents {
        self.0.rings.read(run, None)
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &dyn Model {
        &*self.0.model
    }

    pub(crate) fn notify(&self, notice: &Notice<'_>) {
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

/// Why an agent cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The provider of a model would refuse a tool.
    #[error(transparent)]
    Tools(#[from] DialectError),
    /// The provider of a model has no such setting.
    #[error("the model cannot be asked with these settings: {0}")]
    Settings(#[source] ModelError),
}

/// Gathers what an agent is made of.
pub struct AgentBuilder(Inner);

impl AgentBuilder {
    /// What the model reads before everything else.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.0.system = text.into();
        self
    }

    /// How often the model is asked after a message of the user: 25 times unless set, and at least once.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.0.limits.turns = turns.max(1);
        self
    }

    /// How long a run works on a message of the user, decisions of people included: no limit unless set. What runs then
    /// is cancelled.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.0.limits.time = Some(time);
        self
    }

    /// How often in a row the same call with the same arguments may fail before the run ends: 3 unless set, and at
    /// least once.
    #[must_use]
    pub fn max_repeated_failures(mut self, times: u32) -> Self {
        self.0.limits.repeated_failures = times.max(1);
        self
    }

    /// How many tokens the requests and answers on one message of the user may have in all: no limit unless set. A run whose
    /// model does not say what its answers take ends with an error then.
    #[must_use]
    pub fn max_total_tokens(mut self, tokens: u64) -> Self {
        self.0.limits.tokens = Some(tokens);
        self
    }

    /// How much they may cost: no limit unless set. A run whose model has no price ends with an error then.
    #[must_use]
    pub fn max_cost(mut self, cost: Cost) -> Self {
        self.0.limits.cost = Some(cost);
        self
    }

    /// Lets the model read after each turn what is left of its turns, tokens and cost, as a message of the user.
    #[must_use]
    pub fn report_left(mut self) -> Self {
        self.0.limits.reports_left = true;
        self
    }

    /// Begins reads while the model still writes its answer: calls of tools with `effect = read` that need no approval, are not
    /// journalled and conflict with no earlier call of the answer, each as soon as it is whole. Their answers count when the
    /// answer of the model does; those of an answer that breaks off, is asked for again or is refused are dropped. The model is asked
    /// for a stream. Durable runs begin no call before the answer is recorded.
    #[must_use]
    pub fn early_reads(mut self) -> Self {
        self.0.early_reads = true;
        self
    }

    /// Where what the runs of each user spend is added up.
    #[must_use]
    pub fn accounts(mut self, accounts: Accounts) -> Self {
        self.0.accounts = accounts;
        self
    }

    /// The tokens that one answer of the model may have: its own limit unless set.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.0.max_tokens = Some(tokens);
        self
    }

    /// How the model is asked to answer.
    #[must_use]
    pub fn settings(mut self, settings: ModelSettings) -> Self {
        self.0.settings = settings;
        self
    }

    /// Measures the requests to the model with instruments of this meter, by `OpenTelemetry`'s conventions for clients of
    /// generative AI: `gen_ai.client.operation.duration` and `gen_ai.client.token.usage`.
    ///
    /// ```
    /// use toolwright::{Executor, Registry};
    /// use toolwright_agent::{Agent, ScriptedModel};
    ///
    /// let meter = opentelemetry::global::meter("my-agent");
    /// let executor = Executor::builder(Registry::empty()).build()?;
    /// let agent = Agent::builder(executor, ScriptedModel::new()).metrics(&meter).build()?;
    /// # let _ = agent;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "opentelemetry")]
    #[cfg_attr(docsrs, doc(cfg(feature = "opentelemetry")))]
    #[must_use]
    pub fn metrics(mut self, meter: &opentelemetry::metrics::Meter) -> Self {
        self.0.metrics = Some(crate::telemetry::Metrics::new(meter));
        self
    }

    /// Notifies a listener of what happens, in the task that drives the run: it should return soon.
    #[must_use]
    pub fn listen(mut self, listener: impl Fn(&Notice<'_>) + Send + Sync + 'static) -> Self {
        self.0.listeners.push(Box::new(listener));
        self
    }

    /// The agent.
    ///
    /// # Errors
    /// When the provider of the model would refuse a tool of the executor, every reason at once, or has no such setting.
    pub fn build(self) -> Result<Agent, AgentError> {
        let catalog = self.0.executor.catalog();
        for dialect in self.0.model.dialects() {
            catalog.listing(dialect)?;
            if self.0.model.searches_tools() {
                catalog.searchable_listing(dialect)?;
            }
        }
        self.0.model.check(&self.0.settings, self.0.max_tokens).map_err(AgentError::Settings)?;
        Ok(Agent(Arc::new(self.0)))
    }
}

impl fmt::Debug for AgentBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AgentBuilder")
            .field("limits", &self.0.limits)
            .finish_non_exhaustive()
    }
}
