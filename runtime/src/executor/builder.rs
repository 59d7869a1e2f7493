//! Puts an executor together. Whatever a tool would miss is found here, before any call.

use std::any::{TypeId, type_name};
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{DEFAULT_LIMIT, DEFAULT_TIMEOUT, Executor, Gate, Run};
use crate::capability::{CapabilitySpec, Opener, Opening, Resource, Source, Value};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::event::{Event, Listener};
use crate::footprint::Facts;
use crate::registry::{Entry, Registry};
use crate::tool::{Danger, DeclaredApproval, DeclaredDanger, Timeout};

/// What all runs of an executor share.
pub(crate) struct Core {
    pub(crate) registry: Registry,
    pub(crate) plans: Vec<Plan>,
    pub(crate) services: Vec<Value>,
    pub(crate) service_ids: Vec<TypeId>,
    pub(crate) per_run: Vec<Declared>,
    pub(crate) per_call: Vec<Declared>,
    pub(crate) openers: Vec<Value>,
    pub(crate) listeners: Vec<Listener>,
    pub(crate) gate: Gate,
    /// The calls that somebody follows, from taken in to told.
    pub(crate) telling: Gate,
    /// Cancelled when a drain has waited long enough.
    pub(crate) released: CancellationToken,
    pub(crate) records_content: bool,
}

/// A type whose values come later.
#[derive(Clone, Copy)]
pub(crate) struct Declared {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
}

/// How the calls of one tool are run: everything that can be decided before the first.
pub(crate) struct Plan {
    pub(crate) sources: Box<[Source]>,
    /// Whether any source is not the executor, so that a call has to look for it.
    pub(crate) needs_more: bool,
    /// What each call must bring.
    pub(crate) from_call: Box<[Declared]>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) gate: Option<Gate>,
    danger: Danger,
    approval: Option<&'static str>,
}

impl Plan {
    /// What is known of every call, before its input is read.
    #[inline]
    pub(crate) fn facts(&self) -> Facts {
        Facts::new(self.danger, self.approval)
    }
}

/// Gathers what an executor needs.
pub struct ExecutorBuilder {
    registry: Registry,
    services: Vec<(Declared, Value)>,
    per_run: Vec<Declared>,
    per_call: Vec<Declared>,
    openers: Vec<(Declared, Value)>,
    listeners: Vec<Listener>,
    timeout: Option<Duration>,
    limit: u32,
    unrestricted: bool,
    records_content: bool,
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
            limit: DEFAULT_LIMIT,
            unrestricted: false,
            records_content: false,
        }
    }

    /// Runs every call that its tool does not want approved. There is no policy yet that could
    /// decide otherwise, so it has to be spelt out.
    #[must_use]
    pub fn unrestricted(mut self) -> Self {
        self.unrestricted = true;
        self
    }

    /// A service for every call.
    #[must_use]
    pub fn service<T: Send + Sync + 'static>(self, service: T) -> Self {
        self.service_arc(Arc::new(service))
    }

    /// The same, shared with others or behind a trait object: tools borrow it as `&dyn Trait`.
    #[must_use]
    pub fn service_arc<T: ?Sized + Send + Sync + 'static>(mut self, service: Arc<T>) -> Self {
        self.services.push((Declared::of::<T>(), Box::new(service)));
        self
    }

    /// A service that each run brings: the current ticket, user, tenant.
    #[must_use]
    pub fn per_run<T: ?Sized + Send + Sync + 'static>(mut self) -> Self {
        self.per_run.push(Declared::of::<T>());
        self
    }

    /// A service that each call brings, by [`Call::with`](crate::Call::with).
    #[must_use]
    pub fn per_call<T: ?Sized + Send + Sync + 'static>(mut self) -> Self {
        self.per_call.push(Declared::of::<T>());
        self
    }

    /// How to open a resource that tools borrow as `&mut T`.
    #[must_use]
    pub fn resource<T, F, Fut>(mut self, open: F) -> Self
    where
        T: Resource,
        F: Fn(Opening) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, ToolError>> + Send + 'static,
    {
        let opener: Opener<T> = Opener(Box::new(move |opening| Box::pin(open(opening))));
        self.openers.push((Declared::of::<T>(), Box::new(opener)));
        self
    }

    /// Sees every event as it happens, on the task of the call: be quick.
    #[must_use]
    pub fn listen(mut self, listener: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Self {
        self.listeners.push(Box::new(listener));
        self
    }

    /// How long a call may take whose tool does not say, 30 seconds unless set; `None` for as long
    /// as it takes. The time runs while the tool waits: not while its call waits for a place, and a
    /// tool that computes without waiting cannot be stopped.
    #[must_use]
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// How many calls run at once, 16 unless set; the others wait. A tool that calls other tools
    /// holds its place meanwhile, so the limit must exceed the depth of such calls. A blocking tool
    /// that ran out of time gives its place back although its thread may still be at work.
    #[must_use]
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = limit;
        self
    }

    /// Writes arguments and results into the tracing spans. Off unless asked for, because they may
    /// be private; arguments marked `secret` are left out in any case.
    #[must_use]
    pub fn record_content(mut self) -> Self {
        self.records_content = true;
        self
    }

    /// The executor.
    ///
    /// # Errors
    /// When something is missing or given twice; all such problems at once.
    pub fn build(self) -> Result<Executor, BuildError> {
        let mut problems = self.general_problems();
        let mut plans = Vec::with_capacity(self.registry.entries().len());
        for entry in self.registry.entries() {
            match self.plan(entry) {
                Ok(plan) => plans.push(plan),
                Err(missing) => problems.extend(missing),
            }
        }
        if !problems.is_empty() {
            return Err(BuildError { problems });
        }
        let (service_ids, services) =
            self.services.into_iter().map(|(declared, value)| (declared.id, value)).unzip();
        let core = Core {
            registry: self.registry,
            plans,
            services,
            service_ids,
            per_run: self.per_run,
            per_call: self.per_call,
            openers: self.openers.into_iter().map(|(_, value)| value).collect(),
            listeners: self.listeners,
            gate: Gate::new(self.limit),
            telling: Gate::new(u32::MAX),
            released: CancellationToken::new(),
            records_content: self.records_content,
        };
        Ok(Executor { run: Arc::new(Run::default_of(Arc::new(core))) })
    }

    fn general_problems(&self) -> Vec<BuildProblem> {
        let mut problems = Vec::new();
        if !self.unrestricted {
            problems.push(BuildProblem::NoPolicy);
        }
        if self.limit == 0 {
            problems.push(BuildProblem::NoCalls);
        }
        let all: Vec<Declared> =
            self.shared().chain(self.openers.iter().map(|(it, _)| *it)).collect();
        for (index, declared) in all.iter().enumerate() {
            if all.iter().take(index).any(|earlier| earlier.id == declared.id) {
                problems.push(BuildProblem::GivenTwice { type_name: declared.name });
            }
        }
        problems
    }

    fn shared(&self) -> impl Iterator<Item = Declared> {
        let services = self.services.iter().map(|(declared, _)| *declared);
        services.chain(self.per_run.iter().copied()).chain(self.per_call.iter().copied())
    }

    fn plan(&self, entry: &Entry) -> Result<Plan, Vec<BuildProblem>> {
        let capabilities = entry.spec.capabilities;
        let found: Vec<Option<Source>> = capabilities.iter().map(|it| self.source(it)).collect();
        let Some(sources) = found.iter().copied().collect::<Option<Box<[Source]>>>() else {
            let missing = capabilities.iter().zip(found).filter(|(_, source)| source.is_none());
            let missing = missing.map(|(capability, _)| BuildProblem::Missing {
                tool: entry.definition.name.clone(),
                location: entry.definition.location,
                requirement: capability.requirement(),
            });
            return Err(missing.collect());
        };
        let brought =
            capabilities.iter().zip(&sources).filter(|(_, source)| **source == Source::Call);
        Ok(Plan {
            needs_more: sources.iter().any(|source| !matches!(source, Source::Executor(_))),
            from_call: brought
                .map(|(it, _)| Declared { id: (it.id)(), name: it.requirement().type_name })
                .collect(),
            timeout: match entry.definition.timeout {
                Timeout::Default => self.timeout,
                Timeout::None => None,
                Timeout::After(duration) => Some(duration),
            },
            gate: entry.definition.limit.map(Gate::new),
            danger: match entry.definition.danger {
                DeclaredDanger::Level(level) => level,
                // Until the expression has been evaluated, the worst is assumed.
                DeclaredDanger::Computed => Danger::Critical,
            },
            approval: match entry.definition.approval {
                DeclaredApproval::Always(reason) => Some(reason),
                DeclaredApproval::Never | DeclaredApproval::Computed => None,
            },
            sources,
        })
    }

    fn source(&self, capability: &CapabilitySpec) -> Option<Source> {
        let id = (capability.id)();
        if capability.exclusive {
            return self.openers.iter().position(|(it, _)| it.id == id).map(Source::Opener);
        }
        if id == TypeId::of::<ToolContext>() {
            return Some(Source::Context);
        }
        let service = self.services.iter().position(|(it, _)| it.id == id).map(Source::Executor);
        let run = || self.per_run.iter().position(|it| it.id == id).map(Source::Run);
        let call = || self.per_call.iter().any(|it| it.id == id).then_some(Source::Call);
        service.or_else(run).or_else(call)
    }
}

impl Declared {
    fn of<T: ?Sized + 'static>() -> Self {
        Self { id: TypeId::of::<T>(), name: type_name::<T>() }
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

/// Why an executor cannot be built: every problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildError {
    /// At least one.
    pub problems: Vec<BuildProblem>,
}

/// One thing that an executor lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildProblem {
    /// Nobody said what may run.
    NoPolicy,
    /// The limit lets no call run.
    NoCalls,
    /// A tool needs what nobody gives.
    Missing {
        /// The tool.
        tool: String,
        /// Where it is written.
        location: crate::Location,
        /// What it needs.
        requirement: crate::Requirement,
    },
    /// A type is given in two ways, so that it is unclear which a tool gets.
    GivenTwice {
        /// The type.
        type_name: &'static str,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the executor cannot be built")?;
        self.problems.iter().try_for_each(|problem| write!(formatter, "\n- {problem}"))
    }
}

impl fmt::Display for BuildProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPolicy => formatter
                .write_str("nothing says what may run; call `.unrestricted()` to run everything"),
            Self::NoCalls => {
                formatter.write_str("a limit of 0 calls at once lets none run; set at least 1")
            }
            Self::Missing { tool, location, requirement } if requirement.exclusive => write!(
                formatter,
                "the tool `{tool}` at {location} needs `&mut {0}`, which nobody opens; register how: `.resource(|opening| …)` giving a `{0}`",
                requirement.type_name
            ),
            Self::Missing { tool, location, requirement } => write!(
                formatter,
                "the tool `{tool}` at {location} needs `&{0}`, which nobody gives; register it with `.service(…)`, or declare it with `.per_run::<{0}>()` or `.per_call::<{0}>()`",
                requirement.type_name
            ),
            Self::GivenTwice { type_name } => {
                write!(formatter, "`{type_name}` is given twice; keep one")
            }
        }
    }
}

impl std::error::Error for BuildError {}
