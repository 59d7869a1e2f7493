//! Builds an executor. Building finds everything that a tool lacks, before any call.
//!
//! Long for a file, because each option is one documented method.

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::bundle::Installed;
use super::journal_config::{AskerBuilder, JournalConfig};
use super::middleware::Middlewares;
use super::plan::{Gates, Later, Plan, Provisions};
use super::problem::{BuildError, BuildProblem};
use super::ready::Ready;
use super::resolve::{Asked, Resolver, Resolving};
use super::rules::{Rules, Surroundings};
use super::{DEFAULT_LIMIT, DEFAULT_TIMEOUT, Executor, Gate, Journal, RunState};
use crate::catalog::Catalog;
use crate::event::{Listener, ToolEvent};
use crate::registry::{Entry, Registry};
use crate::retry::{CircuitBreaker, Circuits, RetryPolicy};
use toolwright_core::capability::{
    DeclaredService, Opener, Opening, ProvidedValues, Resource, Value,
};
use toolwright_core::error::ToolError;
use toolwright_core::registration::Registration;
use toolwright_core::tool::Repair;
use toolwright_policy::policy::{PolicyBuilder, PolicyError};

/// What all runs of an executor share.
pub(crate) struct Core {
    pub(crate) registry: Registry,
    pub(crate) provisions: Provisions,
    pub(crate) later: Later,
    pub(crate) gates: Gates,
    /// The catalog that was pinned last, which many calls of one turn share.
    pub(super) pinned: Mutex<Option<Arc<Ready>>>,
    pub(crate) resolving: Option<Resolving>,
    /// In the order of [`Provisions::services`].
    pub(crate) provided: Arc<ProvidedValues>,
    pub(crate) listeners: Vec<Listener>,
    pub(crate) gate: Gate,
    /// The calls whose listeners are still to hear of their end.
    pub(crate) telling: Gate,
    /// Cancelled when a drain begins.
    pub(crate) closing: CancellationToken,
    /// Cancelled when a drain has waited long enough.
    pub(crate) released: CancellationToken,
    pub(crate) records_content: bool,
    /// How many calls run at once.
    pub(crate) limit: u32,
    /// The policy.
    pub(crate) rules: Rules,
    /// The stages of the application.
    pub(crate) middleware: Middlewares,
    /// How often calls of one run are tried again, all of them together.
    pub(crate) retries_per_run: Option<u32>,
    /// The journal, where there is one.
    pub(crate) journal: Option<JournalConfig>,
    /// There is no listener and no journal.
    pub(crate) is_plain: bool,
}

impl Core {
    /// How to run a tool that is in no prepared catalog.
    pub(crate) fn plan(&self, entry: &Arc<Entry>) -> Arc<Plan> {
        self.later.plan(entry, &self.provisions, &self.gates)
    }
}

/// Gathers what an executor needs.
pub struct ExecutorBuilder {
    pub(super) registry: Registry,
    services: Vec<(DeclaredService, Value)>,
    per_run: Vec<DeclaredService>,
    per_call: Vec<DeclaredService>,
    openers: Vec<(DeclaredService, Value)>,
    listeners: Vec<Listener>,
    timeout: Option<Duration>,
    pub(super) total_timeout: Option<Duration>,
    limit: u32,
    unrestricted: bool,
    policy: Option<PolicyBuilder>,
    repair: Repair,
    records_content: bool,
    resolvers: Vec<Arc<dyn Resolver>>,
    pub(super) tools: Vec<Registration>,
    pub(super) bundles: Vec<Installed>,
    /// What bundles lay beneath the policy.
    pub(super) policy_defaults: Vec<PolicyBuilder>,
    /// What bundles report.
    pub(super) problems: Vec<BuildProblem>,
    pub(super) retry: RetryPolicy,
    pub(super) retries_per_run: Option<u32>,
    pub(super) circuit_breaker: Option<CircuitBreaker>,
    pub(super) journal: Option<Journal>,
    /// Who is asked in this process.
    pub(super) asker: Option<AskerBuilder>,
    /// Who is asked where the application has said nothing about people.
    pub(super) last_asker: Option<AskerBuilder>,
    /// Whether a tool that lacks a service is refused at its call, and not here.
    tolerates_missing: bool,
    /// Folders that tools work in.
    pub(super) roots: Vec<PathBuf>,
    pub(super) middleware: Vec<Arc<dyn super::Middleware>>,
}

impl ExecutorBuilder {
    pub(super) fn new(registry: Registry) -> Self {
        Self {
            registry,
            services: Vec::new(),
            per_run: Vec::new(),
            per_call: Vec::new(),
            openers: Vec::new(),
            listeners: Vec::new(),
            timeout: Some(DEFAULT_TIMEOUT),
            total_timeout: None,
            limit: DEFAULT_LIMIT,
            unrestricted: false,
            policy: None,
            repair: Repair::Standard,
            records_content: false,
            resolvers: Vec::new(),
            tools: Vec::new(),
            bundles: Vec::new(),
            policy_defaults: Vec::new(),
            problems: Vec::new(),
            retry: RetryPolicy::TOOL,
            retries_per_run: None,
            circuit_breaker: None,
            journal: None,
            asker: None,
            last_asker: None,
            tolerates_missing: false,
            roots: Vec::new(),
            middleware: Vec::new(),
        }
    }

    /// Sets which calls run, which ask a person and which are refused. Unless set, the mode is `interactive`: what is
    /// safe runs, and a person is asked about the rest; and the protections hold. Names in rules are checked against
    /// the tools that are there. The journal, the files of the policy and the [workspace
    /// roots](Self::workspace_root) are known to it.
    ///
    /// ```
    /// use toolwright::policy::{Mode, Policy, Rule};
    /// use toolwright::{Call, Executor, Registry, tool};
    ///
    /// /// Deletes a note.
    /// #[tool(effect = idempotent, danger = dangerous, writes())]
    /// async fn delete_note(
    ///     /// Which.
    ///     title: String,
    /// ) {
    ///     drop(title);
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let rule = Rule::deny("notes are kept").named("keep-notes").tool("delete_note");
    /// let policy = Policy::builder().mode(Mode::AutoSafe).rule(rule);
    /// let executor = Executor::builder(Registry::of([DELETE_NOTE])?).policy(policy).build()?;
    /// let answer = executor.call(&Call::new("delete_note", r#"{"title":"groceries"}"#)).await;
    /// let error = answer.error().expect("refused");
    /// assert_eq!(error.to_string(), "`delete_note` is not allowed here: notes are kept");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn policy(mut self, policy: PolicyBuilder) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Runs every call that its tool does not want approved: no rules, no protections. Where a journal is kept, tools
    /// that ask are still asked about.
    #[must_use]
    pub fn unrestricted(mut self) -> Self {
        self.unrestricted = true;
        self
    }

    /// Provides a service to every call.
    #[must_use]
    pub fn service<T: Send + Sync + 'static>(self, service: T) -> Self {
        self.service_arc(Arc::new(service))
    }

    /// Registers a service that is shared with other owners, or one behind a trait object, which tools borrow as
    /// `&dyn Trait`; see [`service`](Self::service).
    #[must_use]
    pub fn service_arc<T: ?Sized + Send + Sync + 'static>(mut self, service: Arc<T>) -> Self {
        self.services.push((DeclaredService::of::<T>(), Box::new(service)));
        self
    }

    /// Declares a service that each run brings: the current ticket, user, tenant.
    #[must_use]
    pub fn per_run<T: ?Sized + Send + Sync + 'static>(mut self) -> Self {
        self.per_run.push(DeclaredService::of::<T>());
        self
    }

    /// Declares a service that each call brings, by [`Call::with`](toolwright_core::call::Call::with).
    #[must_use]
    pub fn per_call<T: ?Sized + Send + Sync + 'static>(mut self) -> Self {
        self.per_call.push(DeclaredService::of::<T>());
        self
    }

    /// Sets how to open a resource that tools borrow as `&mut T`.
    #[must_use]
    pub fn resource<T, F, Fut>(mut self, open: F) -> Self
    where
        T: Resource,
        F: Fn(Opening) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, ToolError>> + Send + 'static,
    {
        let opener: Opener<T> = Opener(Box::new(move |opening| Box::pin(open(opening))));
        self.openers.push((DeclaredService::of::<T>(), Box::new(opener)));
        self
    }

    /// Sees every event as it happens, on the task of the call: be quick.
    #[must_use]
    pub fn listen(mut self, listener: impl Fn(&ToolEvent<'_>) + Send + Sync + 'static) -> Self {
        self.listeners.push(Box::new(listener));
        self
    }

    /// Limits how long each attempt of a call may take whose tool does not say, 30 seconds unless set; `None` for as long
    /// as it takes. A call that is tried three times may take three times as long, and waits in between:
    /// [`total_timeout`](Self::total_timeout) limits the whole call. The time runs while the tool waits: not while its
    /// call waits for a place, and a tool that computes without waiting cannot be stopped.
    #[must_use]
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// Limits how many calls run at once, 16 unless set; the others wait. A tool that calls other tools
    /// holds its place meanwhile, so of such calls fewer must be able to run at once than there are
    /// places: where all places are held by calls that wait for others, none goes on. A limit of its
    /// own below this one, as in `#[tool(limit = 4)]`, says so for a tool; several such tools share
    /// what is left. A blocking tool that ran out of time gives its place back although its thread
    /// may still be at work.
    #[must_use]
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = limit;
        self
    }

    /// Sets how far the executor repairs input that its schema refuses, for a tool that does not say so itself:
    /// [`Repair::Standard`] unless set. The answer lists the changes (`Answer::repairs`), and so do the events and the
    /// `Facts` of the call.
    #[must_use]
    pub fn repair(mut self, repair: Repair) -> Self {
        self.repair = repair;
        self
    }

    /// Writes arguments and results into the tracing spans. Off unless asked for, because they may
    /// be private; arguments marked `secret` are left out in any case.
    #[must_use]
    pub fn record_content(mut self) -> Self {
        self.records_content = true;
        self
    }

    /// Adds one who knows tools that are not registered: a closure that answers at once, or a type that implements
    /// [`Resolver`]. Several are asked in the order in which they are added, and the first that knows the tool brings it.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::{Call, DynamicTool, Executor, Registry};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let executor = Executor::builder(Registry::empty())
    ///     .unrestricted()
    ///     .resolver(|name: &str| {
    ///         let trigger = name.strip_prefix("trigger.")?.to_owned();
    ///         let tool = DynamicTool::new(name, "Runs a trigger.", json!({"type": "object"}), move |_, _| {
    ///             let trigger = trigger.clone();
    ///             async move { Ok(format!("ran {trigger}")) }
    ///         });
    ///         Some(tool)
    ///     })
    ///     .build()?;
    /// assert_eq!(executor.call(&Call::new("trigger.nightly", "{}")).await.text(), "ran nightly");
    /// assert!(executor.registry().get("trigger.nightly").is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn resolver(mut self, resolver: impl Resolver) -> Self {
        self.resolvers.push(Arc::new(resolver));
        self
    }

    /// Adds an async resolver, which may fail; see [`resolver`](Self::resolver).
    #[must_use]
    pub fn resolver_async<T, F, Fut>(self, resolver: F) -> Self
    where
        T: Into<Registration>,
        F: Fn(String) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Option<T>, ToolError>> + Send + 'static,
    {
        self.resolver(Asked(resolver))
    }

    /// Makes the executor.
    ///
    /// # Errors
    /// When something is missing or given twice; all such problems at once. Tools that the builder was given may be in the
    /// registry then.
    pub fn build(mut self) -> Result<Executor, BuildError> {
        if self.asker.is_some() {
            self.journal.get_or_insert_with(Journal::of_this_process);
        }
        let mut problems = std::mem::take(&mut self.problems);
        let tools = std::mem::take(&mut self.tools);
        problems.extend(self.registry.register_all(tools).err().map(BuildProblem::Registry));
        problems.extend(self.general_problems());
        let catalog = self.registry.catalog();
        let rules = self.rules(&catalog, &mut problems);
        self.ask_the_last(rules.as_ref());
        let asker = self.asker.take();
        let journal = self.journal.and_then(|journal| journal.build(asker, &mut problems));
        let (services, values) = self.services.into_iter().unzip();
        let (openers, opening) = self.openers.into_iter().unzip();
        let provisions = Provisions {
            services,
            per_run: self.per_run,
            per_call: self.per_call,
            openers,
            timeout: self.timeout,
            total_timeout: self.total_timeout,
            unrestricted: self.unrestricted,
            repair: self.repair,
            retry: self.retry,
            circuits: self.circuit_breaker.map(Circuits::new),
            has_stages: !self.middleware.is_empty(),
        };
        let gates = Gates::default();
        let entries = catalog.tools().entries().iter();
        let plans: Vec<Plan> = entries.map(|entry| provisions.plan(entry, &gates)).collect();
        let lacks = plans.iter().flat_map(|plan| plan.lacks.iter().cloned());
        problems.extend(lacks.filter(|_| !self.tolerates_missing));
        let Some(rules) = rules.filter(|_| problems.is_empty()) else {
            return Err(BuildError { problems });
        };
        let is_plain = self.listeners.is_empty() && journal.is_none();
        let ready = Ready::new(catalog, plans, Some(self.registry.clone()));
        let core = Core {
            registry: self.registry,
            provisions,
            later: Later::default(),
            gates,
            pinned: Mutex::default(),
            resolving: (!self.resolvers.is_empty()).then(|| Resolving::new(self.resolvers)),
            provided: Arc::new(ProvidedValues { services: values, openers: opening }),
            listeners: self.listeners,
            gate: Gate::new(self.limit),
            telling: Gate::new(u32::MAX),
            closing: CancellationToken::new(),
            released: CancellationToken::new(),
            records_content: self.records_content,
            limit: self.limit,
            rules: rules.with_footprints(!self.middleware.is_empty()),
            middleware: self.middleware.into(),
            retries_per_run: self.retries_per_run,
            journal,
            is_plain,
        };
        Ok(Executor { state: Arc::new(RunState::default_of(Arc::new(core), Arc::new(ready))) })
    }

    /// Makes the policy; `None` where it is wrong, which is added to `problems`.
    fn rules(&self, catalog: &Catalog, problems: &mut Vec<BuildProblem>) -> Option<Rules> {
        let around = self.surroundings();
        let policy = self.policy.clone().unwrap_or_default();
        let policy = self.policy_defaults.iter().cloned().fold(policy, PolicyBuilder::over);
        let made = match self.unrestricted {
            true => Rules::open(around.clone(), catalog),
            false => Rules::new(around.tell(policy.clone()), around.clone(), catalog),
        };
        let Some(rules) = wanted(made, problems) else {
            problems.extend(around.exposed(policy.protected_files(), std::iter::empty()));
            return None;
        };
        problems.extend(rules.exposed());
        rules.warn_of_roots();
        if !self.unrestricted && rules.current().plans() && self.journal.is_none() {
            problems.push(BuildProblem::NoPlan);
        }
        let is_unnamed = self.asker.as_ref().is_some_and(|asker| asker.key.is_none());
        if is_unnamed && rules.current().four_eyes() {
            problems.push(BuildProblem::UnnamedApprover);
        }
        Some(rules)
    }

    fn surroundings(&self) -> Surroundings {
        let journal = self.journal.as_ref().and_then(|journal| journal.store.file());
        let key = self.asker.as_ref().and_then(|asker| asker.key.as_ref()?.file());
        Surroundings {
            journal: journal.map(ToOwned::to_owned),
            key: key.map(ToOwned::to_owned),
            roots: self.roots.clone(),
        }
    }

    /// Drops the builder's policy, to evaluate calls by another one.
    #[doc(hidden)]
    pub fn without_policy(mut self) -> Self {
        self.policy = None;
        self.unrestricted = false;
        self
    }

    /// Builds also where tools lack a service: a call of such a tool is refused, and the others run. For command lines, which
    /// call one tool.
    #[doc(hidden)]
    pub fn tolerate_missing(mut self) -> Self {
        self.tolerates_missing = true;
        self
    }

    fn general_problems(&self) -> Vec<BuildProblem> {
        let mut problems = Vec::new();
        if self.unrestricted && self.policy.is_some() {
            problems.push(BuildProblem::TwoPolicies);
        }
        if self.limit == 0 {
            problems.push(BuildProblem::NoCalls);
        }
        let breaker = self.circuit_breaker.as_ref().and_then(CircuitBreaker::problem);
        problems.extend(
            self.retry.problem().into_iter().chain(breaker).map(|why| BuildProblem::Retry { why }),
        );
        let all: Vec<DeclaredService> =
            self.shared().chain(self.openers.iter().map(|(it, _)| *it)).collect();
        for (index, declared) in all.iter().enumerate() {
            if all.iter().take(index).any(|earlier| earlier.id == declared.id) {
                problems.push(BuildProblem::GivenTwice { type_name: declared.name });
            }
        }
        problems
    }

    fn shared(&self) -> impl Iterator<Item = DeclaredService> {
        let services = self.services.iter().map(|(declared, _)| *declared);
        services.chain(self.per_run.iter().copied()).chain(self.per_call.iter().copied())
    }
}

fn wanted(rules: Result<Rules, PolicyError>, problems: &mut Vec<BuildProblem>) -> Option<Rules> {
    rules.map_err(|error| problems.push(BuildProblem::Policy(error))).ok()
}

impl fmt::Debug for ExecutorBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ExecutorBuilder")
            .field("tools", &self.registry)
            .finish_non_exhaustive()
    }
}
