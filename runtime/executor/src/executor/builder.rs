//! The builder of an executor. Its `build` reports everything that a tool lacks, before any call is made.

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

/// The builder of an [`Executor`](super::Executor), which collects its tools, services and settings.
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
    /// The policies of bundles, whose rules are defaults. The policy of the application takes precedence.
    pub(super) policy_defaults: Vec<PolicyBuilder>,
    /// The problems that bundles report.
    pub(super) problems: Vec<BuildProblem>,
    pub(super) retry: RetryPolicy,
    pub(super) retries_per_run: Option<u32>,
    pub(super) circuit_breaker: Option<CircuitBreaker>,
    pub(super) journal: Option<Journal>,
    /// The approver that decides in this process, as the application set it.
    pub(super) asker: Option<AskerBuilder>,
    /// The approver that decides in this process if the application has set neither an approver nor a journal.
    pub(super) last_asker: Option<AskerBuilder>,
    /// Whether the build succeeds although tools lack services. Calls of these tools are then refused.
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

    /// Sets the policy: which calls run, which need approval and which are refused. Without a policy, the mode is
    /// `interactive`: safe calls run, a person is asked about other calls, and the protections apply. Names in rules
    /// are checked against the registered tools. The protections cover the journal, the files of the policy and the
    /// [workspace roots](Self::workspace_root).
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

    /// Runs calls without rules and protections. A call needs approval only if its tool requires it. A person is then
    /// asked if the executor has a journal. Without a journal, the call is refused.
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

    /// Provides a service in an `Arc`. Other owners may share the service, or it may be a trait object, which tools
    /// borrow as `&dyn Trait`. See [`service`](Self::service).
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

    /// Calls the listener at every event. The listener runs on the task of the call, so it must return quickly.
    #[must_use]
    pub fn listen(mut self, listener: impl Fn(&ToolEvent<'_>) + Send + Sync + 'static) -> Self {
        self.listeners.push(Box::new(listener));
        self
    }

    /// Limits how long each attempt of a call may take if its tool sets no limit; `None` sets no limit. The default is
    /// 30 seconds. A call with three attempts may take three times as long, plus the delays between them.
    /// [`total_timeout`](Self::total_timeout) limits the whole call. The time in which an attempt waits because of
    /// [`limit`](Self::limit) does not count towards this timeout, but it does towards the total one. A tool that
    /// computes without yielding cannot be stopped.
    #[must_use]
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// Limits how many calls run at once; the other calls wait. The default is 16. A tool that calls other tools frees
    /// its place while it waits for them, so the called tools can run even with a limit of one. A blocking tool whose
    /// timeout has expired frees its place, although its thread may still be running.
    #[must_use]
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = limit;
        self
    }

    /// Sets how far the executor repairs input that the schema refuses, for tools without a setting of their own. The
    /// default is [`Repair::Standard`]. The answer lists the changes (`Answer::repairs`), and so do the events and the
    /// `Facts` of the call.
    #[must_use]
    pub fn repair(mut self, repair: Repair) -> Self {
        self.repair = repair;
        self
    }

    /// Records the arguments and results of calls in the tracing spans. This is off by default, because they may be
    /// private. Arguments marked `secret` are never recorded.
    #[must_use]
    pub fn record_content(mut self) -> Self {
        self.records_content = true;
        self
    }

    /// Adds a [`Middleware`](super::Middleware), which examines each attempt of a call before the attempt begins and
    /// after it has ended. The middleware that is added first examines a call first, and the answer of the call last.
    ///
    /// Calls of an executor with middleware are a little slower: their arguments are made final and their footprints
    /// are computed before the tool reads its input.
    #[must_use]
    pub fn middleware(mut self, stage: impl super::Middleware) -> Self {
        self.middleware.push(Arc::new(stage));
        self
    }

    /// Adds a resolver, which finds tools that are not registered. A resolver is a closure that returns a tool, or a
    /// type that implements [`Resolver`]. The executor asks resolvers in the order in which they were added, and takes
    /// the first tool that it gets.
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

    /// Builds the executor even if tools lack a service. Calls of these tools are refused, and other tools can run. A
    /// command line uses this, because it calls only one tool.
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
