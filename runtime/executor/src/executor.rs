//! The executor, which runs calls, with its builder, its runs and its workers.

mod adapting;
mod builder;
mod bundle;
mod calling;
mod delegation;
mod explain;
mod handed_over;
mod journal_access;
mod journal_options;
mod nested;
mod policy;
mod run;
mod run_builder;
mod service;
mod turn;
mod worker;

use std::any::TypeId;
use std::sync::Arc;
use std::time::Duration;

use toolwright_core::call::Call;

use crate::call::RunState;
use crate::catalog::Catalog;
use crate::registry::Registry;
use toolwright_core::error::ToolError;

pub use crate::call::{
    AfterCall, BeforeCall, BuildError, BuildProblem, CallFailure, Journal, Middleware,
    MiddlewareCall, OnNoApprover, Outcome, Resolver, SharedServices, SuspendedCall,
};
pub use crate::handed_over::{HandedOver, SupplyError};
pub use crate::lifecycle::Swept;
#[doc(hidden)]
pub use crate::lifecycle::{ended_key, untrusted_key};
pub use builder::ExecutorBuilder;
pub use bundle::Bundle;
pub use calling::Calling;
pub use delegation::{DelegatedRun, Delegation, inherited, run_of};
pub use journal_access::JournalAccess;
pub use run::Run;
pub use run_builder::{MissingServices, RunBuilder};
pub use service::DrainReport;
pub use turn::{BackgroundCall, OpenTurn, SubmittedTurn, TurnAnswers, is_under_way};
pub use worker::Worker;

/// Runs calls. Cheap to clone; a clone is the same executor.
///
/// The calls of one conversation belong to a [`Run`], made by [`run`](Self::run). If the executor has a journal, a
/// [`Worker`], made by [`worker`](Self::worker), carries out the calls that wait in it.
///
/// ```
/// use toolwright::{Call, Executor, Registry, tool};
///
/// /// Greets a person.
/// #[tool(effect = read)]
/// async fn greet(
///     greeting: &Greeting,
///     /// Whom.
///     name: String,
/// ) -> String {
///     format!("{}, {name}!", greeting.0)
/// }
///
/// struct Greeting(&'static str);
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let executor = Executor::builder(Registry::of([GREET])?).service(Greeting("Hello")).build()?;
/// let answer = executor.call(&Call::new("greet", r#"{"name":"Ada"}"#)).await;
/// assert_eq!(answer.text(), "Hello, Ada!");
///
/// let answer = executor.call(&Call::new("greet", r#"{"nam":"Ada"}"#)).await;
/// assert_eq!(answer.error().expect("refused").kind(), "invalid_input");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Executor {
    pub(crate) state: Arc<RunState>,
}

impl Executor {
    /// Starts the builder of an executor for these tools.
    pub fn builder(registry: Registry) -> ExecutorBuilder {
        ExecutorBuilder::new(registry)
    }

    /// Returns the registry whose tools the executor can call.
    pub fn registry(&self) -> &Registry {
        &self.state.core.registry
    }

    /// Returns the tools that the executor runs: those of the pinned catalog, or else those that are registered now.
    pub fn catalog(&self) -> Catalog {
        self.state.ready.current()
    }

    /// Returns an executor that runs the tools of this catalog, whatever changes in the registry. Use it for the calls
    /// of a turn whose model was shown that catalog. The new executor shares the services and limits of this one. A
    /// tool that a [`Resolver`] registers later can still be called if the catalog's profile selects it.
    ///
    /// Pinning the same catalog again costs little. A call is refused if its tool needs a service that the executor
    /// does not provide. [`missing`](Self::missing) lists these tools beforehand.
    #[must_use]
    pub fn pinned(&self, catalog: &Catalog) -> Self {
        Self { state: self.state.pinned(catalog) }
    }

    /// Lists the services that tools of a catalog need and this executor does not provide. Calls of these tools are
    /// refused.
    ///
    /// ```
    /// use toolwright::{Executor, Registry, tool};
    ///
    /// struct Clock;
    ///
    /// /// Tells the time.
    /// #[tool(effect = read)]
    /// async fn tell_time(clock: &Clock) {
    ///     let _ = clock;
    /// }
    ///
    /// let executor = Executor::builder(Registry::empty()).build()?;
    /// executor.registry().register(TELL_TIME)?;
    /// let [problem] = &*executor.missing(&executor.catalog()) else { panic!("the clock is missing") };
    /// assert!(problem.to_string().contains("`tell_time`"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn missing(&self, catalog: &Catalog) -> Vec<BuildProblem> {
        let core = &self.state.core;
        let plans = catalog.tools().entries().iter().map(|entry| core.plan(entry));
        plans.flat_map(|plan| plan.lacks.to_vec()).collect()
    }

    /// Reports whether every run has a service of this type, because the executor provides it or requires it of each
    /// run.
    #[must_use]
    pub fn provides<T: ?Sized + 'static>(&self) -> bool {
        let provisions = &self.state.core.provisions;
        let id = TypeId::of::<T>();
        provisions.services.iter().chain(&provisions.per_run).any(|it| it.id == id)
    }

    /// Registers the tools that [resolvers](Resolver) can list before a tool is called. A resolver may start a server
    /// to list them. An agent does this before it lists its tools for a model. A tool with an invalid definition is
    /// logged and left out. Once this method has succeeded, further calls of it do nothing.
    ///
    /// # Errors
    /// When a resolver cannot list its tools, or a name of a tool is taken. The next call of this method asks the
    /// resolver again.
    pub async fn discover_tools(&self) -> Result<(), ToolError> {
        self.state.discover_tools().await
    }

    /// Returns a builder for a [`Run`] with this id. A run is one conversation, and may have services of its own.
    pub fn run(&self, id: impl Into<String>) -> RunBuilder {
        RunBuilder::new(self, id.into())
    }

    /// Returns the worker of the journal, which carries out the calls in it that are due. `None` if the executor has no
    /// journal.
    ///
    /// ```
    /// use toolwright::journal::{Journal, MemoryStore};
    /// use toolwright::{Executor, OnNoApprover, Registry};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let builder = Executor::builder(Registry::empty());
    /// let executor = builder.journal(Journal::new(MemoryStore::new()).on_no_approver(OnNoApprover::Park)).build()?;
    /// let worker = executor.worker().ok_or("the executor has no journal")?;
    /// assert!(worker.sweep().await?.is_nothing());
    ///
    /// let without = Executor::builder(Registry::empty()).build()?;
    /// assert!(without.worker().is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn worker(&self) -> Option<Worker> {
        Worker::of(&self.state)
    }

    /// Runs a call and returns its one answer. Errors are answers too: an unknown tool, input that does not match the
    /// schema, a panic, a time-out, a cancellation.
    ///
    /// If a person has to decide and can be asked, the call waits for the decision. [`submit`](Self::submit) does not
    /// wait for a decision that comes later.
    ///
    /// Dropping the future drops the tool's future with it, and listeners receive `Abandoned`. If the executor has a
    /// journal and the tool had not begun, the call is cancelled in the journal, because the caller is gone and may
    /// make the call again.
    #[inline]
    pub fn call<'a>(&'a self, call: &'a Call<'a>) -> Calling<'a> {
        Calling::new(&self.state, call)
    }

    /// Submits a call. Unlike [`call`](Self::call), this method does not wait for a decision that comes later. The
    /// approver of this process is asked. If it decides when it is asked, as a terminal does, the call continues.
    /// Otherwise, this method returns a [`SuspendedCall`] that names the call, and the [`worker`](Self::worker) carries
    /// the call out after the decision. Without a journal, a call that needs approval is refused.
    ///
    /// If a call may wait for long, make it in a [`run`](Self::run): the application chooses the id of a run, and can
    /// find the call by that id.
    ///
    /// ```
    /// use toolwright::{Call, Executor, Outcome, Registry, tool};
    ///
    /// /// Tells the time.
    /// #[tool(effect = read)]
    /// async fn tell_time() {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let executor = Executor::builder(Registry::of([TELL_TIME])?).build()?;
    /// let outcome = executor.submit(&Call::new("tell_time", "{}")).await;
    /// assert!(matches!(outcome, Outcome::Answered(_)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn submit(&self, call: &Call<'_>) -> Outcome {
        self.state.submit(call).await
    }

    /// Returns a copy of the executor that makes its calls on behalf of this user.
    #[doc(hidden)]
    pub fn on_behalf_of(&self, user: &str) -> Self {
        Self { state: Arc::new(self.state.with_user(user)) }
    }
}

impl std::fmt::Debug for Executor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Executor").field("tools", &self.catalog()).finish()
    }
}

/// The maximum duration of an attempt, unless its tool sets another limit.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// The maximum number of calls that an executor runs at once, unless the builder sets another limit.
pub(crate) const DEFAULT_LIMIT: u32 = 16;
