//! Gathers the parts of an agent's own executor.

use std::fmt;
use std::panic::Location;

use toolwright::approval::{Approver, ApproverKey};
use toolwright::journal::Journal;
use toolwright::policy::PolicyBuilder;
use toolwright::{
    Adaptation, Executor, ExecutorBuilder, IntoTool, Middleware, OnNoApprover, Registration,
    Registry,
};

use super::{Agent, AgentBuilder, AgentError, AgentPart};
use crate::agent::delegate::SubAgentTools;
use crate::plugin::Plugins;
use crate::search::search_tools;

type Ask = Box<dyn FnOnce(ExecutorBuilder, Option<ApproverKey>) -> ExecutorBuilder + Send>;
type Change = Box<dyn FnOnce(ExecutorBuilder) -> ExecutorBuilder + Send>;

/// The tools of an agent and the settings of its executor, before the executor is built; see [`Agent::builder`].
#[derive(Default)]
pub struct NewExecutor {
    tools: Vec<Registration>,
    changes: Vec<Change>,
    approver: Option<Ask>,
    journal: Option<Journal>,
}

impl AgentBuilder {
    /// Adds tools: the constants that `#[tool]` makes from functions, as in `.tools([PRICE_OF, ORDER])`.
    #[must_use]
    pub fn tools<T: IntoTool>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.new_executor().tools.extend(tools.into_iter().map(IntoTool::into_tool));
        self
    }

    /// Adds one tool: a constant of `#[tool]`, or a [`DynamicTool`](toolwright::DynamicTool).
    #[must_use]
    pub fn tool(self, tool: impl IntoTool) -> Self {
        self.tools([tool])
    }

    /// Adds a [`Bundle`](toolwright::Bundle), which brings tools with their services, stages, resolvers and rules, or a
    /// [`Plugin`](crate::Plugin), which also prepares each turn. [`build`](Self::build) reports errors in a bundle, and
    /// refuses a bundle or plugin that was added twice.
    #[must_use]
    #[track_caller]
    pub fn with<M>(self, part: impl AgentPart<M>) -> Self {
        part.add_to(self, Location::caller())
    }

    /// Adds a service, which tools borrow as `&T`.
    #[must_use]
    pub fn service<T: Send + Sync + 'static>(self, service: T) -> Self {
        self.executor(move |executor| executor.service(service))
    }

    /// Adds middleware around each call; see [`Middleware`].
    #[must_use]
    pub fn middleware(self, middleware: impl Middleware) -> Self {
        self.executor(move |executor| executor.middleware(middleware))
    }

    /// Sets the approver, which decides about calls that need approval: a person at the
    /// [terminal](toolwright::approval), a callback, a channel. Without an approver, calls that need approval are
    /// refused, or wait in the [`journal`](Self::journal).
    ///
    /// With a journal that outlives the process, decisions are signed with the key of the user who runs the program.
    /// [`build`](Self::build) loads this key, or makes it ([`ApproverKey::of_user`]).
    #[must_use]
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.new_executor().approver = Some(Box::new(|executor, key| match key {
            Some(key) => executor.approver(key, approver),
            None => executor.ask(approver),
        }));
        self
    }

    /// Sets the policy: which calls run, which need approval and which are refused. Unless set, calls of tools with
    /// `effect = read` run and all other calls need approval.
    #[must_use]
    pub fn policy(self, policy: PolicyBuilder) -> Self {
        self.executor(move |executor| executor.policy(policy))
    }

    /// Allows every call, without rules and protections. Only calls of tools that require approval themselves still
    /// need approval.
    #[must_use]
    pub fn unrestricted(self) -> Self {
        self.executor(ExecutorBuilder::unrestricted)
    }

    /// Records runs and their calls in a store, or in a [`Journal`] with its options. If the store outlives the
    /// process, a crash loses no run, and repeats no call that must run only once. A run continues when it is requested
    /// again by its [`id`](crate::RunRequest::id).
    ///
    /// If this process has no approver, a call that needs approval waits in the journal
    /// ([`RunError::Waits`](crate::RunError::Waits)), unless the options of the journal say otherwise. Without an
    /// approver, a journal that outlives the process and trusts no key accepts decisions signed with the key of the
    /// user who runs the program, if that user has a key. `toolwright approvals` signs with that key.
    #[must_use]
    pub fn journal(mut self, journal: impl Into<Journal>) -> Self {
        self.new_executor().journal = Some(journal.into().or_on_no_approver(OnNoApprover::Park));
        self
    }

    /// Changes tools that the application did not write, such as those of a bundle, an MCP server or another crate. See
    /// [`ExecutorBuilder::adapt`].
    ///
    /// ```
    /// use toolwright::{Adaptation, tool};
    /// use toolwright_agent::{Agent, ScriptedModel};
    ///
    /// /// Lists a folder of a server.
    /// #[tool(effect = read)]
    /// async fn list_folder(
    ///     /// Which server.
    ///     host: String,
    ///     /// Which folder.
    ///     path: String,
    /// ) -> String {
    ///     format!("{host}:{path}")
    /// }
    ///
    /// let agent = Agent::builder(ScriptedModel::new())
    ///     .tools([LIST_FOLDER])
    ///     .adapt("list_folder", Adaptation::new().preset("host", "files.example"))
    ///     .build()?;
    /// # let _ = agent;
    /// # Ok::<(), toolwright_agent::AgentError>(())
    /// ```
    #[must_use]
    pub fn adapt(self, pattern: impl Into<String>, adaptation: Adaptation) -> Self {
        let pattern = pattern.into();
        self.executor(move |executor| executor.adapt(pattern, adaptation))
    }

    /// Changes any other setting of the executor's builder: time-outs, retries, resources, resolvers.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use toolwright_agent::{Agent, ScriptedModel};
    ///
    /// let agent = Agent::builder(ScriptedModel::new())
    ///     .executor(|executor| executor.limit(4).timeout(Some(Duration::from_secs(5))))
    ///     .build()?;
    /// # let _ = agent;
    /// # Ok::<(), toolwright_agent::AgentError>(())
    /// ```
    #[must_use]
    pub fn executor(
        mut self,
        change: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder + Send + 'static,
    ) -> Self {
        self.new_executor().changes.push(Box::new(change));
        self
    }

    /// Makes the agent.
    ///
    /// # Errors
    /// When a part of the agent is invalid; see [`AgentError`]. For example, the model is not known or has no key; two
    /// tools have one name; a tool needs a service that is missing; the approver's key can be neither loaded nor made;
    /// or the provider of the model would refuse a tool or does not support a setting.
    pub fn build(self) -> Result<Agent, AgentError> {
        let mut this = self.with_known_model()?;
        let NewExecutor { tools, changes, approver, journal } = std::mem::take(this.new_executor());
        let registry = Registry::of(tools)?;
        let mut executor = Executor::builder(registry);
        if let Some(SubAgentTools { tools, policy }) = this.take_sub_agent_tools()? {
            executor = executor.tools(tools).policy_defaults(policy);
        }
        let is_durable = journal.as_ref().is_some_and(Journal::is_durable);
        let asks = approver.is_some();
        if let Some(ask) = approver {
            let key = is_durable.then(ApproverKey::of_user).transpose();
            executor = ask(executor, key.map_err(AgentError::Key)?);
        }
        if let Some(mut journal) = journal {
            if is_durable && !asks && journal.trusts_none() {
                // Without a trusted key, no decision of the command `toolwright` would count.
                let key = ApproverKey::of_user_if_any().map_err(AgentError::Key)?;
                journal = key.iter().fold(journal, |it, key| it.trust(key.name(), key.public()));
            }
            executor = executor.journal(journal);
        }
        let mut executor = changes.into_iter().fold(executor, |it, change| change(it));
        if !this.plugins().is_empty() {
            executor = executor.per_run::<Plugins>();
        }
        let executor = executor.build()?;
        if this.needs_search() {
            executor.registry().register_all(search_tools(&executor.catalog()))?;
        }
        this.on(executor).build()
    }
}

impl fmt::Debug for NewExecutor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("NewExecutor")
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}
