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
use crate::context::{CallId, ToolContext};
use crate::error::ToolError;
use crate::executor::{Plan, Run};
use crate::output::Codec;
use crate::tool::Requirement;

pub(crate) use resource::Opener;
pub use resource::{Closing, Opening, Resource};
pub use resource::{Ended, close};

/// What a tool may borrow.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a service of a tool",
    label = "calls share it between threads",
    note = "a service is `Send + Sync + 'static`; put what changes behind a `Mutex`"
)]
pub trait Service: Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: ?Sized + Send + Sync + 'static> Service for T {}

/// Evidence that a tool may have `T`.
pub struct Capability<T: ?Sized> {
    spec: CapabilitySpec,
    get: for<'a> fn(&'a Value) -> Option<&'a Arc<T>>,
    marker: PhantomData<fn(&T)>,
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

impl<T: ?Sized + Service> Capability<T> {
    pub const fn shared() -> Self {
        Self::new(false)
    }
}

impl<T: Resource> Capability<T> {
    pub const fn exclusive() -> Self {
        Self::new(true)
    }
}

impl<T: ?Sized + 'static> Capability<T> {
    const fn new(exclusive: bool) -> Self {
        let spec =
            CapabilitySpec { id: TypeId::of::<T>, name: std::any::type_name::<T>, exclusive };
        Self { spec, get: |value| value.downcast_ref::<Arc<T>>(), marker: PhantomData }
    }
}

impl<T: ?Sized> Capability<T> {
    pub const fn spec(&self) -> CapabilitySpec {
        self.spec
    }
}

impl CapabilitySpec {
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
    /// where the tool needs one; `id` is the call's, where it has one already.
    pub(crate) fn of(
        run: &Arc<Run>,
        plan: &Plan,
        call: &Call<'_>,
        id: Option<CallId>,
    ) -> Result<Option<Self>, ToolError> {
        if plan.sources.iter().any(|source| matches!(source, Source::Run(_)))
            && run.values.is_empty()
        {
            return Err(no_run(call.name()));
        }
        if let Some(missing) = plan.from_call.iter().find(|it| call.value(it.id).is_none()) {
            return Err(not_brought(call.name(), missing.name));
        }
        let named = |source: &Source| matches!(source, Source::Context | Source::Opener(_));
        Ok(plan.sources.iter().any(named).then(|| {
            let context = ToolContext::new(id.unwrap_or_else(CallId::new), call, run);
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

    /// Opens the resource at `index` for this call.
    pub async fn open<T: Resource>(self, _: &Capability<T>, index: usize) -> Result<T, ToolError> {
        let (Some(Source::Opener(opener)), Some(own)) = (self.plan.sources.get(index), self.own)
        else {
            return Err(ToolError::internal(CHECKED));
        };
        let opening = Opening { run: Arc::clone(self.run), context: own.context.clone() };
        let openers = &self.run.core.openers;
        let opener =
            openers.get(*opener).and_then(|it| it.downcast_ref::<Opener<T>>()).expect(CHECKED);
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

pin_project_lite::pin_project! {
    /// The call of an async tool and the encoding of what it returns, without a second copy of the
    /// tool's future as an `async` block would make.
    struct Answering<F, R, A> {
        #[pin]
        future: F,
        codec: Codec<R, A>,
    }
}

impl<F: Future<Output = R>, R, A> Future for Answering<F, R, A> {
    type Output = A;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<A> {
        let this = self.project();
        this.future.poll(context).map(|value| this.codec.encode(value))
    }
}

/// The boxed, unpolled call of an async tool.
#[inline]
pub fn answering<'a, F, R: 'a, A: 'a>(future: F, codec: Codec<R, A>) -> BoxFuture<'a, A>
where
    F: Future<Output = R> + Send + 'a,
{
    Box::pin(Answering { future, codec })
}
