//! What the runtime hands to a tool besides its input: services, and resources opened for one call.
//!
//! - A tool gets what its signature names and nothing else.
//! - Where each one comes from is decided when the executor is built; a call only indexes.

#![expect(missing_docs, reason = "what has no docs here is hidden: generated code alone names it")]

mod resource;

use std::any::{Any, TypeId};
use std::marker::PhantomData;
use std::sync::Arc;

use crate::error::ToolError;
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
pub struct Scope<'a> {
    pub(crate) sources: &'a [Source],
    pub(crate) requirements: &'a [CapabilitySpec],
    pub(crate) services: &'a [Value],
    pub(crate) run: &'a [Value],
    pub(crate) call: &'a [(TypeId, Value)],
    pub(crate) openers: &'a [Value],
    /// The tool's context as a service, made only for tools that name it.
    pub(crate) context: Option<&'a Value>,
    pub(crate) opening: Option<&'a Opening>,
}

/// The builder and the executor have checked every source before a tool is started.
const CHECKED: &str = "the executor gives every tool what it requires";

impl<'a> Scope<'a> {
    /// The service at `index` of the tool's capabilities.
    #[inline]
    pub fn shared<T: ?Sized>(&'a self, capability: &Capability<T>, index: usize) -> &'a T {
        self.arc(capability, index)
    }

    /// The same to keep, for a thread of its own.
    pub fn share<T: ?Sized>(&'a self, capability: &Capability<T>, index: usize) -> Arc<T> {
        Arc::clone(self.arc(capability, index))
    }

    /// Opens the resource at `index` for this call.
    pub async fn open<T: Resource>(&self, _: &Capability<T>, index: usize) -> Result<T, ToolError> {
        let (Some(Source::Opener(opener)), Some(opening)) = (self.sources.get(index), self.opening)
        else {
            return Err(ToolError::internal(CHECKED));
        };
        let opener =
            self.openers.get(*opener).and_then(|it| it.downcast_ref::<Opener<T>>()).expect(CHECKED);
        (opener.0)(opening.clone()).await
    }

    #[inline]
    fn arc<T: ?Sized>(&'a self, capability: &Capability<T>, index: usize) -> &'a Arc<T> {
        self.value(index).and_then(capability.get).expect(CHECKED)
    }

    #[inline]
    fn value(&'a self, index: usize) -> Option<&'a Value> {
        match *self.sources.get(index)? {
            Source::Executor(service) => self.services.get(service),
            Source::Run(service) => self.run.get(service),
            Source::Context => self.context,
            Source::Call => {
                let wanted = (self.requirements.get(index)?.id)();
                self.call.iter().rev().find(|(id, _)| *id == wanted).map(|(_, value)| value)
            }
            Source::Opener(_) => None,
        }
    }
}

/// Runs a plain function on the blocking pool. Its panic goes on in the call, which answers it.
pub async fn blocking<R: Send + 'static>(run: impl FnOnce() -> R + Send + 'static) -> R {
    match tokio::task::spawn_blocking(run).await {
        Ok(value) => value,
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down and dropped the call before it began.
            Err(_) => std::future::pending().await,
        },
    }
}
