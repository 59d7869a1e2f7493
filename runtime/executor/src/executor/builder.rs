//! The builder of an executor. `build` reports everything that a tool lacks before any call is made.

mod build;
mod retry;

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::bundle::Installed;
use super::{DEFAULT_LIMIT, DEFAULT_TIMEOUT};
use crate::call::{AskerBuilder, BuildProblem, FnResolver, Journal, Resolver};
use crate::event::{Listener, ToolEvent};
use crate::registry::Registry;
use crate::retry::{CircuitBreaker, RetryPolicy};
use toolwright_core::adaptation::Adaptation;
use toolwright_core::capability::{DeclaredService, Opener, Opening, Resource, Value};
use toolwright_core::error::ToolError;
use toolwright_core::registration::Registration;
use toolwright_core::tool::Repair;
use toolwright_policy::policy::PolicyBuilder;

/// Builds an executor: collects its tools, services and settings.
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
    pub(super) policy: Option<PolicyBuilder>,
    repair: Repair,
    records_content: bool,
    resolvers: Vec<Arc<dyn Resolver>>,
    pub(super) tools: Vec<Registration>,
    /// The adaptations of tools, by their patterns.
    pub(super) adaptations: Vec<(String, Adaptation)>,
    pub(super) bundles: Vec<Installed>,
    /// The policies of bundles, whose rules are defaults: those of the application take precedence.
    pub(super) policy_defaults: Vec<PolicyBuilder>,
    /// The problems that bundles report.
    pub(super) problems: Vec<BuildProblem>,
    pub(super) retry: RetryPolicy,
    pub(super) retries_per_run: Option<u32>,
    pub(super) circuit_breaker: Option<CircuitBreaker>,
    pub(super) journal: Option<Journal>,
    /// The approver that decides in this process, as the application set it.
    pub(super) asker: Option<AskerBuilder>,
    /// The approver that decides in this process if the application has not set one.
    pub(super) last_asker: Option<AskerBuilder>,
    /// Whether a call of a tool that lacks a service is refused, instead of the build.
    tolerates_missing: bool,
    /// The folders that tools work in.
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
            adaptations: Vec::new(),
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

    /// Sets which calls run, which need approval and which are refused. Unless set, the mode is `interactive`: safe
    /// calls run, a person is asked about the rest, and the protections apply. Names in rules are checked against the
    /// registered tools. The protections cover the journal, the files of the policy and the [workspace
    /// roots](Self::workspace_root).
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

    /// Runs every call, except those whose tool asks for approval: no rules, no protections. With a journal, a person
    /// is asked about those calls.
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

    /// Declares a service that each run provides, such as the current ticket, user or tenant.
    #[must_use]
    pub fn per_run<T: ?Sized + Send + Sync + 'static>(mut self) -> Self {
        self.per_run.push(DeclaredService::of::<T>());
        self
    }

    /// Declares a service that each call has to provide with [`Call::with`](toolwright_core::call::Call::with).
    #[must_use]
    pub fn per_call<T: ?Sized + Send + Sync + 'static>(mut self) -> Self {
        self.per_call.push(DeclaredService::of::<T>());
        self
    }

    /// Registers the function that opens a resource, for tools that borrow it as `&mut T`.
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

    /// Calls the listener at every event, on the task of the call: it must return quickly.
    #[must_use]
    pub fn listen(mut self, listener: impl Fn(&ToolEvent<'_>) + Send + Sync + 'static) -> Self {
        self.listeners.push(Box::new(listener));
        self
    }

    /// Limits how long each attempt of a call may take if its tool sets no limit, 30 seconds unless set; `None` for no
    /// limit. A call that is tried three times may take three times as long, and waits in between:
    /// [`total_timeout`](Self::total_timeout) limits the whole call. The time does not run while the call waits for a
    /// place, and a tool that computes without yielding cannot be stopped.
    #[must_use]
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// Limits how many calls run at once; the other calls wait. The default is 16. A tool that calls other tools
    /// gives its place back while it waits for them, so that a limit of one is enough for both. A blocking tool whose
    /// timeout has expired gives its place back although its thread may still be running.
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

    /// Adds a stage, which sees every call before it begins and when it has ended. Stages look at a call in the order in which
    /// they were added, and at its answer in reverse. See [`Middleware`](super::Middleware).
    ///
    /// Calls of an executor with stages are a little slower: their arguments are made final, and their footprint computed,
    /// before they are read by the tool.
    #[must_use]
    pub fn middleware(mut self, stage: impl super::Middleware) -> Self {
        self.middleware.push(Arc::new(stage));
        self
    }

    /// Adds a resolver of tools that are not registered: a closure that answers at once, or a type that implements
    /// [`Resolver`]. The executor asks resolvers in the order in which they were added, and takes the tool from the
    /// first that knows it.
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
        self.resolver(FnResolver(resolver))
    }

    /// Removes the policy that was set, so that another policy can be set.
    #[doc(hidden)]
    pub fn without_policy(mut self) -> Self {
        self.policy = None;
        self.unrestricted = false;
        self
    }

    /// Builds the executor even if tools lack a service: calls of such a tool are refused, and other tools can run.
    /// For command lines, which call only one tool.
    #[doc(hidden)]
    pub fn tolerate_missing(mut self) -> Self {
        self.tolerates_missing = true;
        self
    }
}

impl fmt::Debug for ExecutorBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ExecutorBuilder")
            .field("tools", &self.registry)
            .finish_non_exhaustive()
    }
}
