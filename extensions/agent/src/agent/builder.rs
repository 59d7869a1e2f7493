//! Gathers the parts of an agent.

mod hand_offs;
mod sub_agents;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use toolwright::dialect::DialectError;
use toolwright::{Catalog, Executor};

use super::{Agent, AgentError, Inner, Listener, NewExecutor};
use crate::agent::delegate::{Link, SubAgent, SubAgents};
use crate::agent::hand_off::{HandOff, HandOffs};
use crate::agent::{Instructions, IntoInstructions, IntoModel, ModelNameError};
use crate::durable::LocalDrivers;
use crate::events::{Rings, RunNotice};
use crate::guards::{GuardSet, IntoGuards};
use crate::limits::ceilings::Ceilings;
use crate::limits::ledger::Ledger;
use crate::limits::{Accounts, Ceiling, Cost, Limits};
use crate::model::{Model, ModelSettings};
use crate::plugin::{PluginSet, ProvidedPlugin};
use crate::results::AnswerBudget;
use crate::run::options::Ids;
use crate::run::{Output, OutputError};

/// A builder for an agent. It gathers a model, tools, the approver and the policy for calls of the tools, and the
/// limits of a run.
///
/// The methods that set tools and their executor exist only if the builder makes the executor itself
/// ([`Agent::builder`]), not for an existing executor ([`Agent::on`]).
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

    /// Limits how often the model is asked after a message of the user: 25 times unless set, and at least once.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.limits.turns = turns.max(1);
        self
    }

    /// Limits how long a run works on a message of the user, including the time that people take to decide: no limit
    /// unless set. At the limit, open calls are cancelled.
    #[must_use]
    pub fn max_duration(mut self, time: Duration) -> Self {
        self.limits.time = Some(time);
        self
    }

    /// Makes every run of the agent end in a value of this type, which [`RunResult::output`](crate::RunResult::output)
    /// returns. To set the type for a single run, use [`RunRequest::typed`](crate::RunRequest::typed). Declare the type
    /// with `#[toolwright::data]`, which derives its schema. [`build`](Self::build) refuses a type whose schema the
    /// provider of the model does not accept.
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

    /// Limits how many invalid answers the agent sends back to the model after each message of the user: 2 unless set.
    /// Answers that are not a value of the output type and answers that a [guard](Self::guard) sends back are counted
    /// separately. Each correction takes a turn.
    #[must_use]
    pub fn max_corrections(mut self, times: u32) -> Self {
        self.limits.corrections = times;
        self
    }

    /// Limits how long the model of a recorded run may be unavailable (unreachable, overloaded, asking callers to wait)
    /// before the run ends as `model_unreachable`: 24 hours unless set. Until then the run is retried, with pauses that
    /// grow up to five minutes. A run in memory stops at once with
    /// [`Stopped::ModelUnreachable`](crate::Stopped::ModelUnreachable), and can be resumed.
    #[must_use]
    pub fn outage_limit(mut self, time: Duration) -> Self {
        self.limits.outage = time;
        self
    }

    /// Limits how often in a row the same call with the same arguments may fail before the run ends: 3 unless set, and at
    /// least once.
    #[must_use]
    pub fn max_repeated_failures(mut self, times: u32) -> Self {
        self.limits.repeated_failures = times.max(1);
        self
    }

    /// Limits the tokens of all requests and answers for one message of the user: no limit unless set. With a limit, a
    /// run ends with an error if its model does not report usage.
    #[must_use]
    pub fn max_total_tokens(mut self, tokens: u64) -> Self {
        self.limits.tokens = Some(tokens);
        self
    }

    /// Limits what the requests of a run may cost: no limit unless set. With a limit, a run ends with an error if its
    /// model has no price.
    #[must_use]
    pub fn max_cost(mut self, cost: Cost) -> Self {
        self.limits.cost = Some(cost);
        self
    }

    /// Shows the model, after each turn, how many turns it has left, and how many tokens and how much money if these
    /// are limited. The model reads this as a message of the user.
    #[must_use]
    pub fn report_budget(mut self) -> Self {
        self.limits.reports_left = true;
        self
    }

    /// Begins some calls while the model is still writing its answer. These are calls of tools with `effect = read`
    /// that need no approval, are not journalled and conflict with no earlier call of the answer. Each begins as soon
    /// as its arguments are complete. Its result is dropped if the answer breaks off, is requested again or is refused.
    ///
    /// With this setting, the agent asks the model to stream. Durable runs ignore the setting: they begin no call
    /// before the answer is recorded. Agents with a guard that looks at answers, or at requests while the model
    /// answers, ignore it too.
    #[must_use]
    pub fn early_reads(mut self) -> Self {
        self.early_reads = true;
        self
    }

    /// Sets how many characters of a tool's answer the model reads: 30,000 unless set. For longer answers, the model
    /// gets two tools, `read_large_result` and `search_large_result`, with which it reads the rest. It can also pass
    /// the whole answer on to another call by a reference; see [`AnswerBudget`].
    #[must_use]
    pub fn answer_budget(mut self, budget: AnswerBudget) -> Self {
        self.answer_budget = budget;
        self
    }

    /// Sets the accounts that add up the usage of each user's runs.
    #[must_use]
    pub fn accounts(mut self, accounts: Accounts) -> Self {
        self.accounts = accounts;
        self
    }

    /// Limits what runs together may cost in a day or a month: the runs of each user, of each agent, or of the whole
    /// application. Before each request to a model, the agent reserves the maximum cost of the request in the journal.
    /// When the answer arrives, the agent replaces the reservation by the actual cost. If the next request of a run
    /// does not fit, the run ends with [`Limit::Ceiling`](crate::Limit::Ceiling); the user may continue it in the next
    /// period, and other runs continue. Any number of processes share the ceilings of a journal.
    ///
    /// [`build`](Self::build) refuses a ceiling without a journal, without [`max_tokens`](Self::max_tokens), or for a
    /// model without a known price.
    ///
    /// ```
    /// use toolwright::journal::MemoryStore;
    /// use toolwright_agent::{
    ///     Agent, Ceiling, Cost, Limit, ModelAnswer, Period, Price, Rates, RunEnd, ScriptedModel, Usage,
    /// };
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let price = Price::new(Rates::new(Cost::cents(300), Cost::cents(1500)));
    /// let model = ScriptedModel::new().price(price).answers(ModelAnswer::text("Hello.").usage(Usage::new(20_000, 100)));
    /// let agent = Agent::builder(model)
    ///     .journal(MemoryStore::new())
    ///     .max_tokens(1_000)
    ///     .ceiling(Ceiling::of_each_user(Period::Day, Cost::cents(8)))
    ///     .build()?;
    /// agent.run("Good morning!").user("ada").await?;
    /// let error = agent.run("And now?").user("ada").await.unwrap_err();
    /// let end = error.result().expect("it has ended").end().clone();
    /// assert!(matches!(end, RunEnd::Limit(Limit::Ceiling { .. })), "6.15 cents are spent");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ceiling(mut self, ceiling: Ceiling) -> Self {
        self.ceilings.push(ceiling);
        self
    }

    /// Limits the tokens of one answer of the model: the model's own limit unless set.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets the size of the model's context window, in tokens. Unless set, the size is
    /// [`Model::window`](crate::Model::window). For an [`HttpModel`](crate::http::HttpModel), the size comes from its
    /// [`Prices`](crate::Prices). If the size is not known, the agent shortens no request, as with `u64::MAX`.
    ///
    /// Instructions, tools and the answer take a part of the window. If the history needs more than three quarters of
    /// the rest, the request gets a shortened copy. Answers of tools that a later call repeats are left out first, then
    /// the middle of long old answers, and at last the oldest turns. The run keeps its whole history.
    ///
    /// The omissions depend only on the history, so another process that continues the run makes the same omissions.
    /// Messages of the user, the last two turns, refusals and unknown outcomes are never shortened.
    /// [`RunEvent::Compacted`](crate::RunEvent::Compacted) reports the omissions. Tokens are estimated: three bytes
    /// count as one token.
    #[must_use]
    pub fn window(mut self, tokens: u64) -> Self {
        self.window = Some(tokens);
        self
    }

    /// Sets a model that summarizes the turns that [`window`](Self::window) leaves out; a small model is enough. The
    /// agent asks for the summary in a separate request, before a request leaves these turns out for the first time.
    /// The summary is marked as untrusted text. Parts of these turns that must not be shortened are sent in full beside
    /// the summary. A recorded run records the summary before it uses it, so that any process that continues the run
    /// uses the same one. The summary counts toward what the run spends, but not as a turn.
    ///
    /// If the attempt fails, this process does not ask again for the summary of these turns. The turns are left out
    /// without a summary if the summary is missing, late, empty, cut short or no shorter than the turns, if the model
    /// makes a call instead, or if the model, a guard or a ceiling refuses the request.
    /// [`RunEvent::NotSummarized`](crate::RunEvent::NotSummarized) reports why.
    ///
    /// ```
    /// use toolwright_agent::{Agent, ScriptedModel};
    ///
    /// let small = ScriptedModel::new().says("The user wants tea; three shops were asked.");
    /// let agent = Agent::builder(ScriptedModel::new()).window(16_000).summarizer(small).build()?;
    /// # let _ = agent;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn summarizer(mut self, model: impl Model + 'static) -> Self {
        self.summarizer = Some(Arc::new(model));
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
    /// run. It lets each of them through, changes it, sends it back with a message, or ends the run: see
    /// [`Guard`](crate::Guard). The guards of a stage run in the order in which they were added, except that those
    /// [beside the model](crate::Guard::beside_model) run at the same time. Guards that look at requests or answers
    /// also apply to sub-agents. Ready-made guards are [`SizeLimit`](crate::SizeLimit),
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

    /// Limits how long a guard may take to decide: 10 seconds unless set. A guard that takes longer ends the run. A
    /// guard that blocks its thread cannot be stopped, but the run does not continue without its decision.
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

impl AgentBuilder<Executor> {
    /// Makes the agent.
    ///
    /// # Errors
    /// When a part of the agent is invalid; see [`AgentError`]. For example, the model is not known or has no key, or
    /// its provider refuses a tool of the executor (the error lists all reasons) or does not support a setting.
    pub fn build(self) -> Result<Agent, AgentError> {
        self.guards.check().map_err(AgentError::Guard)?;
        self.register_sub_agent_tools()?;
        let (executor, model) = (self.executor, Arc::from(self.model?));
        if let Some(service) = self.instructions.lacks(&executor) {
            return Err(AgentError::Instructions { service });
        }
        let catalog = executor.catalog();
        listed(&catalog, &*model)?;
        let is_there = |tool: &&'static str| catalog.get(tool).is_some();
        if let Some(tool) = self.answer_budget.tools().into_iter().find(is_there) {
            return Err(AgentError::ResultTool { tool });
        }
        let output = self.output.transpose()?;
        if let Some(output) = &output {
            output.fits(&*model, &catalog)?;
        }
        model.check(&self.settings, self.max_tokens).map_err(AgentError::Settings)?;
        let plugins = Arc::new(PluginSet::of(self.plugins)?);
        let journal = executor.journal_access();
        let mut agent = Inner {
            name: self.name,
            drivers: LocalDrivers::default(),
            executor,
            model,
            instructions: self.instructions,
            early_reads: self.early_reads,
            answer_budget: self.answer_budget,
            plugins,
            output,
            limits: self.limits,
            max_tokens: self.max_tokens,
            window: self.window,
            summarizer: self.summarizer,
            settings: self.settings,
            listeners: self.listeners.into(),
            guards: self.guards,
            rings: Rings::default(),
            said_unapproved: AtomicBool::new(false),
            ids: Ids::default(),
            accounts: self.accounts,
            sub_agents: None,
            hand_offs: None,
            ledger: Ledger::new(journal),
            ceilings: None,
            #[cfg(feature = "opentelemetry")]
            metrics: self.metrics,
        };
        agent.ceilings = held(self.ceilings, &agent)?;
        agent.sub_agents = SubAgents::of(self.sub_agents, &agent)?;
        agent.hand_offs = HandOffs::of(self.hand_offs, &agent)?;
        let agent = Arc::new(agent);
        self.link.is_of(&agent);
        Ok(Agent(agent))
    }
}

/// Checks that each ceiling can be enforced, and makes the ceilings of an agent.
fn held(ceilings: Vec<Ceiling>, agent: &Inner) -> Result<Option<Ceilings>, AgentError> {
    let Some(ceiling) = ceilings.first().copied() else { return Ok(None) };
    let Some(journal) = agent.journal() else {
        let why = "what runs cost is added up in a journal; give the agent one by `.journal(…)`";
        return Err(AgentError::Ceiling { ceiling, why: why.to_owned() });
    };
    priced(ceiling, &*agent.model, agent.max_tokens)?;
    Ok(Some(Ceilings::new(ceiling, ceilings, &agent.name, journal)))
}

/// Checks that the maximum cost of a request to a model is known.
pub(in crate::agent) fn priced(
    ceiling: Ceiling,
    model: &dyn Model,
    max_tokens: Option<u32>,
) -> Result<(), AgentError> {
    let refused = |why: String| AgentError::Ceiling { ceiling, why };
    if max_tokens.is_none() {
        let why = "an answer may have any number of tokens, and cost as much; limit it by `.max_tokens(…)`";
        return Err(refused(why.to_owned()));
    }
    match model.most_cost(1, 1) {
        Some(_) => Ok(()),
        None => Err(refused(format!(
            "the price of the model `{}` is not known; add it to the prices of the model, or leave the ceiling out",
            model.name()
        ))),
    }
}

/// Checks that the provider of a model accepts these tools.
pub(crate) fn listed(catalog: &Catalog, model: &dyn Model) -> Result<(), DialectError> {
    for dialect in model.dialects() {
        catalog.listing(dialect)?;
        if model.searches_tools() {
            catalog.searchable_listing(dialect)?;
        }
    }
    Ok(())
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
