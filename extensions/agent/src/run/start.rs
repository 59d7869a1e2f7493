//! Starts a run, or restores it from its state and history.

use std::fmt;
use std::sync::Arc;

use toolwright::dialect::Dialect;
use toolwright::{CancellationToken, MissingServices, Run, RunBuilder};

use super::AgentRun;
use super::guarding::Guarding;
use super::inbox::Inbox;
use super::output::{Output, OutputError};
use super::preparing::Preparing;
use super::summarizing::Summaries;
use crate::agent::Agent;
use crate::events::Observer;
use crate::history::{HistoryProblem, Imported, LeftOut, Message, check, sources};
use crate::limits::UsageRecorder;
use crate::model::ModelSettings;
use crate::plugin::{PluginStates, Plugins, Sink, StateError};
use crate::results::Results;
use crate::run::State;

/// A builder for an [`AgentRun`]. It gathers the user, the session and the services of the run, its settings, its
/// restored state and the token that cancels it.
pub struct AgentRunBuilder {
    agent: Agent,
    id: String,
    user: Option<String>,
    run: RunBuilder,
    cancelled: Option<CancellationToken>,
    restored: Option<(State, Vec<Message>)>,
    output: Option<Output>,
    settings: Option<ModelSettings>,
    has_no_tools: bool,
    plugins: PluginStates,
    sink: Option<Arc<dyn Sink>>,
}

impl AgentRunBuilder {
    pub(crate) fn new(agent: &Agent, id: String) -> Self {
        let run = agent.0.executor.run(id.clone());
        Self {
            agent: agent.clone(),
            id,
            user: None,
            run,
            cancelled: None,
            restored: None,
            output: agent.0.output.clone(),
            settings: None,
            has_no_tools: false,
            plugins: PluginStates::default(),
            sink: None,
        }
    }

    /// Gives the run a service that the executor's builder has declared with `per_run`.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.run = self.run.with(value);
        self
    }

    /// Gives the run a service that other owners share.
    pub(crate) fn with_arc<T: Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.run = self.run.with_arc(value);
        self
    }

    /// Sets the output type in which the run has to end.
    pub(crate) fn ending_in(mut self, output: Output) -> Self {
        self.output = Some(output);
        self
    }

    /// Sets options of requests to the model, in place of the agent's settings.
    #[must_use]
    pub fn settings(mut self, settings: ModelSettings) -> Self {
        self.settings = Some(settings);
        self
    }

    /// Shows the model no tools.
    pub(crate) fn without_tools(mut self) -> Self {
        self.has_no_tools = true;
        self
    }

    /// Sets the user of the run; approvers see the name, and the user's account is charged.
    #[must_use]
    pub fn user(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.run = self.run.user(name.clone());
        self.user = Some(name);
        self
    }

    /// Sets the session of the run. Grants of scope `session` apply to all runs of a session.
    #[must_use]
    pub fn session(mut self, id: impl Into<String>) -> Self {
        self.run = self.run.session(id.into());
        self
    }

    /// Cancels the run when the token is cancelled: the request to the model is dropped, and open calls are answered as
    /// cancelled.
    #[must_use]
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.run = self.run.cancelled_by(token.clone());
        self.cancelled = Some(token);
        self
    }

    /// Restores a run from its stored state and its whole history. The limits of the state apply. To continue the run,
    /// call [`AgentRun::resume`].
    #[must_use]
    pub fn restored(mut self, state: State, history: Vec<Message>) -> Self {
        self.restored = Some((state, history));
        self
    }

    /// Sets the plugins' states to those that were stored with the run; see [`Plugins::export_states`].
    #[must_use]
    pub fn plugins(mut self, states: PluginStates) -> Self {
        self.plugins = states;
        self
    }

    /// Sets the sink that records the plugins' states when tools change them.
    pub(crate) fn recording_plugins(mut self, sink: Arc<dyn Sink>) -> Self {
        self.sink = Some(sink);
        self
    }

    /// Begins with a history that another program wrote and that [`import`](crate::import) has repaired. The user's
    /// first message continues the history. None of the calls in the history run again.
    ///
    /// ```
    /// use toolwright::{Executor, Registry};
    /// use toolwright_agent::{Agent, Message, ScriptedModel, import};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let imported = import([Message::user("Hello!"), Message::assistant("Good morning.", [])])?;
    /// imported.repairs.iter().for_each(|repair| eprintln!("{repair}"));
    ///
    /// let executor = Executor::builder(Registry::empty()).build()?;
    /// let agent = Agent::on(executor, ScriptedModel::new().says("Good-bye.")).build()?;
    /// let mut run = agent.new_run("r2").imported(imported).start()?;
    /// run.send("I have to go.").await?;
    /// assert_eq!(run.history().len(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn imported(self, imported: Imported) -> Self {
        let state = State::new(self.agent.0.limits);
        self.restored(state, imported.history)
    }

    /// Makes the run.
    ///
    /// # Errors
    /// When a service is missing or was not declared, the restored history is invalid or does not fit the state, the
    /// stored state of a plugin does not fit its type, or the provider of the model does not support a setting.
    pub fn start(mut self) -> Result<AgentRun, StartError> {
        let plugins = self.with_plugins()?;
        let shared = plugins.clone();
        let run = self.started(|run| {
            let run = shared.into_iter().fold(run, RunBuilder::with_arc);
            Ok(run.start()?)
        })?;
        Ok(AgentRun { plugins: plugins.map(Preparing::new), ..run })
    }

    /// Makes the plugins of the run from their restored states.
    fn with_plugins(&mut self) -> Result<Option<Arc<Plugins>>, StateError> {
        let set = &self.agent.0.plugins;
        if set.is_empty() {
            return Ok(None);
        }
        let (states, sink) = (std::mem::take(&mut self.plugins), self.sink.take());
        Ok(Some(Arc::new(Plugins::new(set, states, sink)?)))
    }

    /// Starts a run that only answers its open calls, without their services.
    pub(crate) fn start_without_services(self) -> Result<AgentRun, StartError> {
        self.started(|run| Ok(run.start_without_services()))
    }

    /// Checks that the services of the run are those that the executor declares.
    pub(crate) fn has_services(mut self) -> Result<(), StartError> {
        let plugins = self.with_plugins()?;
        plugins.into_iter().fold(self.run, RunBuilder::with_arc).start()?;
        Ok(())
    }

    fn started(
        self,
        start: impl FnOnce(RunBuilder) -> Result<Run, StartError>,
    ) -> Result<AgentRun, StartError> {
        let (state, history) =
            self.restored.unwrap_or_else(|| (State::new(self.agent.0.limits), Vec::new()));
        let open = check(&history)?;
        if open != state.open_calls() {
            let (open, expected) = (open.len(), state.open_calls().len());
            return Err(StartError::OtherHistory { open, expected });
        }
        let Self { agent, cancelled, output, settings, has_no_tools, .. } = self;
        if let Some(settings) = &settings {
            let checked = agent.0.model.check(settings, agent.0.max_tokens);
            checked.map_err(|error| StartError::Settings { why: error.to_string() })?;
        }
        let observer = Observer::new(&agent, self.id, self.user);
        let run = start(self.run.listen(observer.events().of_calls()))?;
        // Untrusted sources of a restored, forked or imported history count as read.
        sources(&history).iter().for_each(|source| run.note_untrusted(source));
        let others = agent.0.hand_offs.iter().flat_map(|it| it.agents());
        let agents = others.chain([&agent]);
        let may_refer = agents.flat_map(|it| it.0.model.dialects()).all(may_refer);
        let results = Results::new(&agent.0.answer_budget, may_refer, &history);
        let (meter, shown, begun, held) = (UsageRecorder::default(), None, None, None);
        Ok(AgentRun {
            agent,
            acting: None,
            run,
            meter,
            cancelled,
            observer,
            shown,
            begun,
            output,
            settings,
            has_no_tools,
            plugins: None,
            guarding: Guarding::default(),
            state,
            history,
            left_out: LeftOut::default(),
            summaries: Summaries::default(),
            results,
            inbox: Inbox::default(),
            held,
        })
    }
}

impl AgentRun {
    /// Makes the run of a sub-agent. Its calls are made as children of the call that started the sub-agent.
    pub(crate) fn of_sub_agent(agent: Agent, run: Run, observer: Observer, state: State) -> Self {
        let (meter, shown, begun, held) = (UsageRecorder::default(), None, None, None);
        let results = Results::new(&agent.0.answer_budget, false, &[]);
        let output = agent.0.output.clone();
        Self {
            agent,
            acting: None,
            run,
            meter,
            cancelled: None,
            observer,
            shown,
            begun,
            output,
            settings: None,
            has_no_tools: false,
            plugins: None,
            guarding: Guarding::default(),
            state,
            history: Vec::new(),
            left_out: LeftOut::default(),
            summaries: Summaries::default(),
            results,
            inbox: Inbox::default(),
            held,
        }
    }
}

/// Returns whether a model may write a reference in place of an argument of another type. In strict dialects it may
/// not, because the arguments have to follow the schema.
fn may_refer(dialect: Dialect) -> bool {
    !matches!(
        dialect,
        Dialect::AnthropicStrict | Dialect::OpenAiChatStrict | Dialect::OpenAiResponsesStrict
    )
}

impl fmt::Debug for AgentRunBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AgentRunBuilder").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Why a run cannot start.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A service is missing, given twice or was not declared.
    #[error(transparent)]
    Services(#[from] MissingServices),
    /// Another run or conversation of the agent has the id and has not ended.
    #[error(
        "the run `{id}` of this agent goes on; wait for it, or give the other run an id of its own"
    )]
    IdInUse {
        /// The id that is in use.
        id: String,
    },
    /// An option was set on a conversation that has begun.
    #[error(
        "the conversation has begun; set its id, user, session, services and cancellation before the first message"
    )]
    HasBegun,
    /// The provider of the model does not support a setting.
    #[error("the model cannot be asked with these settings: {why}")]
    Settings {
        /// The reason.
        why: String,
    },
    /// The run cannot end in a value of the output type.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The stored state of a plugin does not fit its type.
    #[error(
        "the run cannot start: {0}; let its type read what was stored, with `#[serde(default)]` on a new field, or remove it from what is stored"
    )]
    Plugin(#[from] StateError),
    /// The restored history is invalid.
    #[error("the restored history is not sound: {0}")]
    History(#[from] HistoryProblem),
    /// The restored history does not fit the restored state.
    #[error(
        "the restored history ends with {open} calls without an answer, the state has {expected}; restore a history and a state that were stored together"
    )]
    OtherHistory {
        /// How many calls at the end of the history have no answer.
        open: usize,
        /// How many calls in the state have no answer.
        expected: usize,
    },
}
toolwright::unstable::debug_as_sentence!(StartError);
