//! Gathers the parts of an agent.

mod build;
mod hand_offs;
mod limits;
mod sub_agents;
mod window;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

pub(super) use self::build::{listed, priced};
use super::{AgentError, Listener, NewExecutor};
use crate::agent::delegate::{Link, SubAgent};
use crate::agent::hand_off::HandOff;
use crate::agent::{Instructions, IntoInstructions, IntoModel, ModelNameError};
use crate::events::RunNotice;
use crate::guards::{GuardSet, IntoGuards};
use crate::limits::{Accounts, Ceiling, Limits};
use crate::model::{Model, ModelSettings};
use crate::plugin::ProvidedPlugin;
use crate::results::AnswerBudget;
use crate::run::{Output, OutputError};

/// A builder for an agent. It gathers a model, tools, the approver and the policy for calls of the tools, and the
/// limits of a run.
///
/// The methods that set tools and their executor exist only if the builder makes the executor itself
/// ([`Agent::builder`](super::Agent::builder)), not for an existing executor ([`Agent::on`](super::Agent::on)).
pub struct AgentBuilder<E = NewExecutor> {
    name: String,
    executor: E,
    model: Result<Box<dyn Model>, ModelNameError>,
    instructions: Instructions,
    early_reads: bool,
    answer_budget: AnswerBudget,
    plugins: Vec<ProvidedPlugin>,
    output: Option<Result<Output, OutputError>>,
    limits: Limits,
    max_tokens: Option<u32>,
    window: Option<u64>,
    summarizer: Option<Arc<dyn Model>>,
    settings: ModelSettings,
    listeners: Vec<Listener>,
    guards: GuardSet,
    accounts: Accounts,
    ceilings: Vec<Ceiling>,
    sub_agents: Vec<SubAgent>,
    hand_offs: Vec<HandOff>,
    /// Whether the executor already got the tools that start sub-agents and the tool that hands runs off, as far as the
    /// agent needs them.
    has_sub_agent_tools: bool,
    /// A weak reference to the agent, for the tools that start sub-agents. It is set when the agent is built.
    link: Link,
    #[cfg(feature = "opentelemetry")]
    metrics: Option<Arc<crate::events::Metrics>>,
}

impl<E> AgentBuilder<E> {
    pub(super) fn new(executor: E, model: impl IntoModel) -> Self {
        Self {
            name: "agent".to_owned(),
            executor,
            model: model.into_model(),
            instructions: Instructions::default(),
            early_reads: false,
            answer_budget: AnswerBudget::default(),
            plugins: Vec::new(),
            output: None,
            limits: Limits::default(),
            max_tokens: None,
            window: None,
            summarizer: None,
            settings: ModelSettings::new(),
            listeners: Vec::new(),
            guards: GuardSet::default(),
            accounts: Accounts::new(),
            ceilings: Vec::new(),
            sub_agents: Vec::new(),
            hand_offs: Vec::new(),
            has_sub_agent_tools: false,
            link: Link::default(),
            #[cfg(feature = "opentelemetry")]
            metrics: None,
        }
    }

    /// Names the agent: `agent` unless set. The journal stores recorded runs under this name, and other processes use
    /// it to find the agent of a run. So give each agent of a journal a name of its own, and never change the name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the system prompt, which says who the model is and how it should work. The prompt is a text, or a function
    /// of one service of the run ([`IntoInstructions`]) that is called for each request. A prompt that changes between
    /// requests costs more, because it breaks the provider's prefix cache.
    #[must_use]
    pub fn instructions<M>(mut self, instructions: impl IntoInstructions<M>) -> Self {
        self.instructions = instructions.into_instructions();
        self
    }

    /// Sets the output type of the agent's runs: a run that ends with an answer ends in a value of this type, which
    /// [`RunResult::output`](crate::RunResult::output) returns. To set the type for a single run, use
    /// [`RunRequest::typed`](crate::RunRequest::typed). Declare the type with `#[toolwright::data]`, which derives its
    /// schema. [`build`](Self::build) refuses a type whose schema the provider of the model does not accept.
    ///
    /// ```
    /// use toolwright_agent::{Agent, ScriptedModel};
    ///
    /// /// What tea costs.
    /// #[toolwright::data]
    /// struct Quote {
    ///     /// In cents.
    ///     total: u32,
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let model = ScriptedModel::new().calls([("final_answer", r#"{"total":450}"#)]);
    /// let agent = Agent::builder(model).output::<Quote>().build()?;
    /// let result = agent.run("What does tea cost?").await?;
    /// assert_eq!(result.output::<Quote>()?.total, 450);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn output<T>(mut self) -> Self
    where
        T: DeserializeOwned + JsonSchema + Send + 'static,
    {
        self.output = Some(Output::of::<T>());
        self
    }

    /// Begins some calls while the model is still writing its answer. These are calls of tools with `effect = read`
    /// that need no approval, are not journalled and conflict with no earlier call of the answer. Each begins as soon
    /// as its arguments are complete. Its result is dropped if the answer breaks off, is requested again or is refused.
    ///
    /// With this setting, the agent asks the model to stream. The setting has no effect on durable runs, which begin no
    /// call before the answer is recorded. It also has no effect if the agent has a guard
    /// [after](crate::Guard::after_model) or [beside](crate::Guard::beside_model) the model, because calls then wait
    /// for the guard.
    #[must_use]
    pub fn early_reads(mut self) -> Self {
        self.early_reads = true;
        self
    }

    /// Sets options of the requests to the model, such as the temperature.
    #[must_use]
    pub fn settings(mut self, settings: ModelSettings) -> Self {
        self.settings = settings;
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
    /// let agent = Agent::on(executor, ScriptedModel::new()).metrics(&meter).build()?;
    /// # let _ = agent;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "opentelemetry")]
    #[cfg_attr(docsrs, doc(cfg(feature = "opentelemetry")))]
    #[must_use]
    pub fn metrics(mut self, meter: &opentelemetry::metrics::Meter) -> Self {
        self.metrics = Some(Arc::new(crate::events::Metrics::new(meter)));
        self
    }

    /// Calls a listener with each notice of a run. The task that drives the run calls the listener, so the listener
    /// should return quickly.
    #[must_use]
    pub fn listen(mut self, listener: impl Fn(&RunNotice<'_>) + Send + Sync + 'static) -> Self {
        self.listeners.push(Box::new(listener));
        self
    }

    /// Adds a guard. A guard looks at messages of the user, at requests to the model, at its answers or at the end of a
    /// run. It lets each of them through, changes it, or ends the run. It can also send an answer or an end back to the
    /// model with a message: see [`Guard`](crate::Guard). The guards of a stage run in the order in which they were
    /// added, except that those [beside the model](crate::Guard::beside_model) run at the same time. Guards that look
    /// at requests or answers also apply to sub-agents. Ready-made guards are [`SizeLimit`](crate::SizeLimit),
    /// [`ForbiddenText`](crate::ForbiddenText), [`Secrets`](crate::Secrets) and
    /// [`ForeignInstructions`](crate::ForeignInstructions).
    ///
    /// ```
    /// use toolwright_agent::{Agent, BeforeDecision, Guard, ScriptedModel, Secrets};
    ///
    /// let polite = Guard::before_run("polite", async |prompt| match prompt.text.contains("please") {
    ///     true => BeforeDecision::Continue,
    ///     false => BeforeDecision::stop("it does not say please"),
    /// });
    /// let agent = Agent::builder(ScriptedModel::new()).guard(polite).guard(Secrets::new()).build()?;
    /// # let _ = agent;
    /// # Ok::<(), toolwright_agent::AgentError>(())
    /// ```
    #[must_use]
    pub fn guard(mut self, guard: impl IntoGuards) -> Self {
        self.guards.add(guard.into_guards());
        self
    }

    /// Limits how long a guard may take to decide: 10 seconds unless set. A guard that takes longer ends the run,
    /// except at a request for a summary, which is then not made. A guard that blocks its thread cannot be stopped, but
    /// the run does not continue without its decision.
    #[must_use]
    pub fn guard_timeout(mut self, time: Duration) -> Self {
        self.guards.set_limit(time);
        self
    }

    /// Replaces the executor.
    pub(super) fn on<F>(self, executor: F) -> AgentBuilder<F> {
        AgentBuilder {
            name: self.name,
            executor,
            model: self.model,
            instructions: self.instructions,
            early_reads: self.early_reads,
            answer_budget: self.answer_budget,
            plugins: self.plugins,
            output: self.output,
            limits: self.limits,
            max_tokens: self.max_tokens,
            window: self.window,
            summarizer: self.summarizer,
            settings: self.settings,
            listeners: self.listeners,
            guards: self.guards,
            accounts: self.accounts,
            ceilings: self.ceilings,
            sub_agents: self.sub_agents,
            hand_offs: self.hand_offs,
            has_sub_agent_tools: self.has_sub_agent_tools,
            link: self.link,
            #[cfg(feature = "opentelemetry")]
            metrics: self.metrics,
        }
    }
}

impl AgentBuilder {
    /// Reports an unknown model before anything else is built.
    pub(super) fn with_known_model(mut self) -> Result<Self, AgentError> {
        self.model = Ok(self.model?);
        Ok(self)
    }

    pub(super) fn new_executor(&mut self) -> &mut NewExecutor {
        &mut self.executor
    }

    /// Returns whether the agent needs tools that search deferred tools, because the model's provider cannot search
    /// them.
    pub(super) fn needs_search(&self) -> bool {
        self.model.as_ref().is_ok_and(|model| !model.searches_tools())
    }

    pub(super) fn plugins(&mut self) -> &mut Vec<ProvidedPlugin> {
        &mut self.plugins
    }
}

impl<E> fmt::Debug for AgentBuilder<E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AgentBuilder")
            .field("model", &self.model.as_ref().map(|model| model.name()))
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
