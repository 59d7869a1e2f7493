//! What the runtime hands to a tool besides its input: services, and resources opened for one call.
//!
//! - A tool gets what its signature names and nothing else.
//! - Where each one comes from is decided when the executor is built; a call only indexes.

#![expect(missing_docs, reason = "what has no docs here is hidden: generated code alone names it")]

mod resource;

use std::any::{Any, TypeId};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;

use crate::call::Call;
use crate::context::{CallId, Identity, ToolContext};
use crate::dynamic::Body;
use crate::error::{Class, Done, ToolError};
use crate::executor::{BuildProblem, Plan, Run};
use crate::tool::Requirement;

pub use resource::Ended;
pub(crate) use resource::Opener;
pub use resource::{Closing, Opening, Resource};

/// What a tool may borrow.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a service of a tool",
    label = "calls share a service between threads: it is `Send + Sync + 'static`",
    note = "put what changes behind a `Mutex`; a trait behind which services stand has `Send + Sync` as supertraits"
)]
pub trait Service {
    const SHARED: Capability<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: ?Sized + Send + Sync + 'static> Service for T {
    const SHARED: Capability<T> = Capability {
        spec: CapabilitySpec::new::<T>(false),
        get: |value| value.downcast_ref::<Arc<T>>(),
        marker: PhantomData,
    };
}

/// What a tool may borrow exclusively.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be opened for one call",
    label = "`&mut` asks for a resource that is opened before the call and closed after it",
    note = "implement `toolwright::Resource` for it, or borrow it as a service: `&{Self}`"
)]
pub trait Exclusive: Sized {
    const EXCLUSIVE: Loan<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: Resource> Exclusive for T {
    const EXCLUSIVE: Loan<T> = Loan {
        spec: CapabilitySpec::new::<T>(true),
        open: |scope, index| Box::pin(scope.open(index)),
        close: |resource, outcome| Box::pin(resource.close(outcome)),
    };
}

/// Evidence that a tool may have `&T`.
pub struct Capability<T: ?Sized> {
    spec: CapabilitySpec,
    get: for<'a> fn(&'a Value) -> Option<&'a Arc<T>>,
    marker: PhantomData<fn(&T)>,
}

/// Evidence that a tool may have `&mut T`.
pub struct Loan<T> {
    spec: CapabilitySpec,
    open: for<'a> fn(Scope<'a>, usize) -> BoxFuture<'a, Result<T, ToolError>>,
    close: fn(T, Closing) -> BoxFuture<'static, Result<(), ToolError>>,
}

/// A capability without its type.
#[derive(Clone, Copy)]
pub struct CapabilitySpec {
    pub(crate) id: fn() -> TypeId,
    name: fn() -> &'static str,
    pub(crate) exclusive: bool,
}

/// One provided value: a boxed `Arc<T>`, so that `T` may be a trait object.
pub(crate) type Value = Box<dyn Any + Send + Sync>;

impl<T: ?Sized> Capability<T> {
    pub const fn spec(&self) -> CapabilitySpec {
        self.spec
    }
}

impl<T> Loan<T> {
    pub const fn spec(&self) -> CapabilitySpec {
        self.spec
    }

    /// Opens the resource at `index` of the tool's capabilities for this call.
    pub fn open<'a>(&self, scope: Scope<'a>, index: usize) -> BoxFuture<'a, Result<T, ToolError>> {
        (self.open)(scope, index)
    }

    /// Closes the resource by how its use ended, which is a failure too when closing fails.
    pub async fn close<E: Ended>(&self, resource: T, ended: E) -> E {
        let is_kept = E::KEEPS_WORK && !ended.is_failure();
        let outcome = if is_kept { Closing::Succeeded } else { Closing::Failed };
        match (self.close)(resource, outcome).await {
            // The first error is the one to tell.
            Err(error) if !ended.is_failure() => E::failed(error),
            _ => ended,
        }
    }
}

impl CapabilitySpec {
    const fn new<T: ?Sized + 'static>(exclusive: bool) -> Self {
        Self { id: TypeId::of::<T>, name: std::any::type_name::<T>, exclusive }
    }

    pub(crate) fn requirement(self) -> Requirement {
        Requirement { type_name: (self.name)(), exclusive: self.exclusive }
    }
}

/// Where a capability comes from, decided when the executor is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Context,
    Executor(usize),
    Run(usize),
    Call,
    Opener(usize),
}

/// Everything that one call may be given.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    run: &'a Arc<Run>,
    plan: &'a Plan,
    call: &'a Call<'a>,
    own: Option<&'a Own>,
}

/// The call's context, as itself and as a service, for tools that name it or open resources.
pub(crate) struct Own {
    context: ToolContext,
    service: Value,
}

/// The builder and [`Own::of`] have checked every source before a tool is started.
const CHECKED: &str = "the executor gives every tool what it requires";

impl Own {
    /// Sees to it that run and call bring what the tool takes from them, and makes the context
    /// where the tool needs one; `identity` is the call's, where it has one already.
    pub(crate) fn of(
        run: &Arc<Run>,
        plan: &Plan,
        call: &Call<'_>,
        identity: Option<Identity<'_>>,
    ) -> Result<Option<Self>, ToolError> {
        if let Some(missing) = plan.lacks.first() {
            return Err(lacking(call.name(), missing));
        }
        if plan.sources.iter().any(|source| matches!(source, Source::Run(_)))
            && run.values.is_empty()
        {
            return Err(no_run(call.name()));
        }
        if let Some(missing) = plan.from_call.iter().find(|it| call.value(it.id).is_none()) {
            return Err(not_brought(call.name(), missing.name));
        }
        let undeclared = |id| run.core.provisions.per_call.iter().all(|declared| declared.id != id);
        if let Some((_, name)) = call.brings().find(|(id, _)| undeclared(*id)) {
            return Err(undeclared_service(call.name(), name));
        }
        let named = |source: &Source| matches!(source, Source::Context | Source::Opener(_));
        Ok(plan.sources.iter().any(named).then(|| {
            let identity = identity.unwrap_or_else(|| Identity::of(CallId::new()));
            let context = ToolContext::new(identity, call, run);
            Self { service: Box::new(Arc::new(context.clone())), context }
        }))
    }
}

impl<'a> Scope<'a> {
    #[inline]
    pub(crate) fn new(
        run: &'a Arc<Run>,
        plan: &'a Plan,
        call: &'a Call<'a>,
        own: Option<&'a Own>,
    ) -> Self {
        Self { run, plan, call, own }
    }

    /// The service at `index` of the tool's capabilities.
    #[inline]
    pub fn shared<T: ?Sized>(self, capability: &Capability<T>, index: usize) -> &'a T {
        self.arc(capability, index)
    }

    /// The same to keep, for a thread of its own.
    pub fn share<T: ?Sized>(self, capability: &Capability<T>, index: usize) -> Arc<T> {
        Arc::clone(self.arc(capability, index))
    }

    /// What the tool does, where it was made at run time.
    pub(crate) fn body(self) -> Option<&'a Body> {
        self.plan.entry.body.as_ref()
    }

    async fn open<T: Resource>(self, index: usize) -> Result<T, ToolError> {
        let (Some(Source::Opener(opener)), Some(own)) = (self.plan.sources.get(index), self.own)
        else {
            return Err(ToolError::internal(CHECKED));
        };
        let opening = Opening { run: Arc::clone(self.run), context: own.context.clone() };
        let opener = self.run.core.openers.get(*opener);
        let opener = opener.and_then(|it| it.downcast_ref::<Opener<T>>()).expect(CHECKED);
        (opener.0)(opening).await
    }

    #[inline]
    fn arc<T: ?Sized>(self, capability: &Capability<T>, index: usize) -> &'a Arc<T> {
        self.value(index, capability.spec.id).and_then(capability.get).expect(CHECKED)
    }

    #[inline]
    fn value(self, index: usize, id: fn() -> TypeId) -> Option<&'a Value> {
        match *self.plan.sources.get(index)? {
            Source::Executor(service) => self.run.core.services.get(service),
            Source::Run(service) => self.run.values.get(service),
            Source::Context => self.own.map(|own| &own.service),
            Source::Call => self.call.value(id()),
            Source::Opener(_) => None,
        }
    }
}

impl Own {
    /// What the call is known by.
    pub(crate) fn id(&self) -> CallId {
        self.context.call_id()
    }
}

/// A blocking tool may outlive its call; it learns here that nobody waits for it any more.
impl Drop for Own {
    fn drop(&mut self) {
        self.context.end();
    }
}

#[cold]
fn no_run(tool: &str) -> ToolError {
    let cause =
        format!("`{tool}` needs services of a run; call it on `executor.run(id).with(…).start()?`");
    ToolError::new("no_run", "this tool cannot be used outside a run").caused_by(cause)
}

#[cold]
fn undeclared_service(tool: &str, type_name: &str) -> ToolError {
    let cause = format!(
        "a call of `{tool}` brings `{type_name}`, which nobody declared; declare it with `.per_call::<{type_name}>()` on the builder"
    );
    ToolError::new("undeclared_service", "this tool cannot be used in this call").caused_by(cause)
}

/// The tool came after the executor was built, or it could not have been built.
#[cold]
fn lacking(tool: &str, problem: &BuildProblem) -> ToolError {
    let needed = match problem {
        BuildProblem::Missing { requirement, .. } if requirement.exclusive => {
            format!(": it needs `&mut {}`, which nobody opens", requirement.type_name)
        }
        BuildProblem::Missing { requirement, .. } => {
            format!(": it needs `&{}`, which nobody gives", requirement.type_name)
        }
        _ => String::new(),
    };
    ToolError::new("missing_service", format!("`{tool}` cannot be used here{needed}"))
        .class(Class::NotStarted { retry_after: None })
        .by_executor(Done::NotBegun)
        .hint("go on without it")
        .caused_by(problem.to_string())
}

#[cold]
fn not_brought(tool: &str, type_name: &str) -> ToolError {
    let cause = format!("`{tool}` needs `&{type_name}`, which every call brings: `Call::with(…)`");
    ToolError::new("missing_service", "this tool cannot be used in this call").caused_by(cause)
}

/// Runs a plain function on the blocking pool. Its panic goes on in the call, which answers it.
pub async fn blocking<R: Send + 'static>(run: impl FnOnce() -> R + Send + 'static) -> R {
    match Queued(tokio::task::spawn_blocking(run)).await {
        Ok(value) => value,
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down and dropped the call before it began.
            Err(_) => std::future::pending().await,
        },
    }
}

/// A function on the blocking pool. Dropped before a thread was free for it, it never runs: its call
/// has been answered otherwise.
struct Queued<R>(tokio::task::JoinHandle<R>);

impl<R> Future for Queued<R> {
    type Output = Result<R, tokio::task::JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

impl<R> Drop for Queued<R> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
