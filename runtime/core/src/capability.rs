//! The values that the runtime passes to a tool besides its input: services, and resources that are opened for one
//! call.
//!
//! - A tool gets what its signature names and nothing else.
//! - The source of each value is decided when the executor is built. A call only looks the value up: by an index, or by
//!   its type if the call itself provides the value.

mod resource;

use std::any::{Any, TypeId, type_name};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;

use crate::call::Call;
use crate::context::{CallId, ToolContext};
use crate::error::ToolError;
use crate::footprint::Holder;
use crate::tool::Requirement;

pub use resource::CallEnd;
pub use resource::Opener;
pub use resource::{Closing, Opening, Resource};

/// Types that a tool may borrow.
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

/// Types that a tool may borrow exclusively.
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

/// Proves that a tool may borrow `&T`.
pub struct Capability<T: ?Sized> {
    spec: CapabilitySpec,
    get: for<'a> fn(&'a Value) -> Option<&'a Arc<T>>,
    marker: PhantomData<fn(&T)>,
}

/// Proves that a tool may borrow `&mut T`.
pub struct Loan<T> {
    spec: CapabilitySpec,
    open: for<'a> fn(Scope<'a>, usize) -> BoxFuture<'a, Result<T, ToolError>>,
    close: fn(T, Closing) -> BoxFuture<'static, Result<(), ToolError>>,
}

/// The description of a capability, with its type in the form of a `TypeId`.
#[derive(Clone, Copy)]
pub struct CapabilitySpec {
    pub id: fn() -> TypeId,
    name: fn() -> &'static str,
    pub exclusive: bool,
}

/// A value that is provided to tools. It is stored as a boxed `Arc<T>`, so that `T` may be a trait object.
pub type Value = Box<dyn Any + Send + Sync>;

impl<T: ?Sized> Capability<T> {
    pub const fn spec(&self) -> CapabilitySpec {
        self.spec
    }

    /// Makes the value by which generated code determines whether the service holds resources of the kind `K`.
    pub const fn holder<K>(&self) -> Holder<T, K> {
        Holder::NEW
    }
}

impl<T> Loan<T> {
    pub const fn spec(&self) -> CapabilitySpec {
        self.spec
    }

    /// Opens a resource for this call; `index` is its position among the tool's capabilities.
    pub fn open<'a>(&self, scope: Scope<'a>, index: usize) -> BoxFuture<'a, Result<T, ToolError>> {
        (self.open)(scope, index)
    }

    /// Closes the resource after its use. If closing fails after a success, returns that failure as the result.
    pub async fn close<E: CallEnd>(&self, resource: T, ended: E) -> E {
        let is_kept = E::KEEPS_WORK && !ended.is_failure();
        let outcome = if is_kept { Closing::Succeeded } else { Closing::Failed };
        match (self.close)(resource, outcome).await {
            // If the tool failed too, its error is the one to report.
            Err(error) if !ended.is_failure() => E::failed(error),
            _ => ended,
        }
    }
}

impl CapabilitySpec {
    const fn new<T: ?Sized + 'static>(exclusive: bool) -> Self {
        Self { id: TypeId::of::<T>, name: std::any::type_name::<T>, exclusive }
    }

    pub fn requirement(self) -> Requirement {
        Requirement { type_name: (self.name)(), exclusive: self.exclusive }
    }
}

/// The source of a capability, decided when the executor is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Context,
    Calls,
    Executor(usize),
    Run(usize),
    Call,
    Opener(usize),
}

/// The type of a service whose value each run or each call provides.
#[derive(Clone, Copy)]
pub struct DeclaredService {
    pub id: TypeId,
    pub name: &'static str,
}

impl DeclaredService {
    pub fn of<T: ?Sized + 'static>() -> Self {
        Self { id: TypeId::of::<T>(), name: type_name::<T>() }
    }
}

/// The values that an executor provides to all its calls. [`Source`] contains indices into these lists.
#[derive(Default)]
pub struct ProvidedValues {
    pub services: Vec<Value>,
    pub openers: Vec<Value>,
}

/// The services that a run provides to its calls.
#[derive(Clone)]
pub struct RunValues {
    pub executor: Arc<ProvidedValues>,
    /// The services in the order in which the executor's builder declared them; empty for the executor's own run.
    pub own: Arc<[Value]>,
}

/// The source of each capability of one tool.
pub struct Wiring {
    /// The sources, in the order of the tool's capabilities.
    pub sources: Box<[Source]>,
    /// The handler of a run-time tool.
    pub body: Option<Arc<dyn Any + Send + Sync>>,
}

/// The services and other values that a call can pass to its tool.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    run: &'a RunValues,
    wiring: &'a Wiring,
    call: &'a Call<'a>,
    own: Option<&'a Own>,
}

/// The values that belong to one call: its context, for tools that take it and for opening resources, and the value
/// that makes its child calls.
pub struct Own {
    context: ToolContext,
    service: Value,
    calls: Option<Value>,
}

/// The message for a missing source, which is a defect: the builder and the executor check every source before a tool
/// is started.
const CHECKED: &str = "the executor gives every tool what it requires";

impl Own {
    pub fn new(context: ToolContext) -> Self {
        Self { service: Box::new(Arc::new(context.clone())), context, calls: None }
    }

    /// Adds the value with which a tool calls other tools; `calls` is a boxed `Arc` of [`Calls`](crate::calls::Calls).
    #[must_use]
    pub fn with_calls(mut self, calls: Value) -> Self {
        self.calls = Some(calls);
        self
    }
}

impl<'a> Scope<'a> {
    #[inline]
    pub fn new(
        run: &'a RunValues,
        wiring: &'a Wiring,
        call: &'a Call<'a>,
        own: Option<&'a Own>,
    ) -> Self {
        Self { run, wiring, call, own }
    }

    /// Returns the service at `index` of the tool's capabilities.
    #[inline]
    pub fn shared<T: ?Sized>(self, capability: &Capability<T>, index: usize) -> &'a T {
        self.arc(capability, index)
    }

    /// Returns a service as an [`Arc`], for a tool that runs on a thread of its own.
    pub fn share<T: ?Sized>(self, capability: &Capability<T>, index: usize) -> Arc<T> {
        Arc::clone(self.arc(capability, index))
    }

    /// Returns the handler of a run-time tool.
    pub fn body<T: 'static>(self) -> Option<&'a T> {
        self.wiring.body.as_ref()?.downcast_ref()
    }

    async fn open<T: Resource>(self, index: usize) -> Result<T, ToolError> {
        let (Some(Source::Opener(opener)), Some(own)) = (self.wiring.sources.get(index), self.own)
        else {
            return Err(ToolError::internal(CHECKED));
        };
        let opening = Opening { context: own.context.clone() };
        let opener = self.run.executor.openers.get(*opener);
        let opener = opener.and_then(|it| it.downcast_ref::<Opener<T>>()).expect(CHECKED);
        (opener.0)(opening).await
    }

    #[inline]
    fn arc<T: ?Sized>(self, capability: &Capability<T>, index: usize) -> &'a Arc<T> {
        self.value(index, capability.spec.id).and_then(capability.get).expect(CHECKED)
    }

    #[inline]
    fn value(self, index: usize, id: fn() -> TypeId) -> Option<&'a Value> {
        match *self.wiring.sources.get(index)? {
            Source::Executor(service) => self.run.executor.services.get(service),
            Source::Run(service) => self.run.own.get(service),
            Source::Context => self.own.map(|own| &own.service),
            Source::Calls => self.own.and_then(|own| own.calls.as_ref()),
            Source::Call => self.call.value(id()),
            Source::Opener(_) => None,
        }
    }
}

impl Own {
    /// Returns the call's own id.
    pub fn id(&self) -> CallId {
        self.context.call_id()
    }
}

/// Cancels the call's token when the call has ended, so that a blocking tool that still runs can stop.
impl Drop for Own {
    fn drop(&mut self) {
        self.context.end();
    }
}

/// Runs a plain function on the blocking pool. If the function panics, the panic is resumed in the call, which turns it
/// into an answer.
pub async fn blocking<R: Send + 'static>(run: impl FnOnce() -> R + Send + 'static) -> R {
    match BlockingTask(tokio::task::spawn_blocking(run)).await {
        Ok(value) => value,
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The tokio runtime is shutting down and has dropped the function before it began.
            Err(_) => std::future::pending().await,
        },
    }
}

/// A function on the blocking pool. The value is dropped when the call has another answer, such as a time-out. If no
/// thread has begun the function by then, the function never runs.
struct BlockingTask<R>(tokio::task::JoinHandle<R>);

impl<R> Future for BlockingTask<R> {
    type Output = Result<R, tokio::task::JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

impl<R> Drop for BlockingTask<R> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
