//! Boxes the future of a tool's call. The future has to be `Send`, and it is not `Send` if the type of an input is not.
//!
//! Rustc reports a type that a tool cannot take at the place where the signature names it. The methods of [`Evidence`]
//! exist only if every type is accepted. Otherwise rustc finds the methods of the same names in [`RefusedType`], which
//! accept any future. So one mistake causes one error.

use std::future::pending;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::BoxFuture;

use crate::capability::{self, Exclusive, Service};
use crate::input::Input;
use crate::output::Encode;

/// The types in the signature of a tool, as a list made of nested pairs.
pub struct Evidence<A>(PhantomData<fn(A)>);

/// A parameter whose value comes from the model.
pub struct ModelParameter<T>(PhantomData<fn(T)>);

/// A parameter whose value is a service of the executor, the run or the call.
pub struct ServiceParameter<T: ?Sized>(PhantomData<fn(&T)>);

/// A parameter whose value is a resource that is opened for the call.
pub struct ResourceParameter<T>(PhantomData<fn(T)>);

/// Implemented by lists whose types a tool can take.
pub trait Sound {}

impl Sound for () {}

impl<T: Input, R: Sound> Sound for (ModelParameter<T>, R) {}

impl<T: ?Sized + Service, R: Sound> Sound for (ServiceParameter<T>, R) {}

impl<T: Exclusive, R: Sound> Sound for (ResourceParameter<T>, R) {}

impl<A> Evidence<A> {
    pub const NEW: Self = Self(PhantomData);
}

impl<A: Sound> Evidence<A> {
    /// Puts the call of an async tool into a box, without polling it.
    #[inline]
    pub fn answering<'a, F: Future + Send + 'a, R: 'a>(
        &self,
        future: F,
        codec: impl Encode<F::Output, R> + Send + 'a,
    ) -> BoxFuture<'a, R> {
        Box::pin(Answering { future, codec, marker: PhantomData })
    }

    /// Boxes the future of a call. That future also does work before and after the tool's own future.
    #[inline]
    pub fn boxed<'a, F: Future + Send + 'a>(&self, future: F) -> BoxFuture<'a, F::Output> {
        Box::pin(future)
    }

    /// Runs a plain function on the blocking pool.
    #[inline]
    pub async fn blocking<R: Send + 'static>(&self, run: impl FnOnce() -> R + Send + 'static) -> R {
        capability::blocking(run).await
    }
}

/// The methods that generated code calls if a tool cannot take a type of its signature. They have the names of the
/// methods of [`Evidence`], so that rustc reports only the error about the type. That error stops the build, so these
/// methods never run.
pub trait RefusedType {
    fn answering<'a, F: Future, R: 'a>(
        &self,
        _: F,
        _: impl Encode<F::Output, R>,
    ) -> BoxFuture<'a, R> {
        Box::pin(pending())
    }

    fn boxed<'a, F: Future<Output: 'a>>(&self, _: F) -> BoxFuture<'a, F::Output> {
        Box::pin(pending())
    }

    fn blocking<R>(&self, _: impl FnOnce() -> R) -> impl Future<Output = R> {
        pending()
    }
}

impl<A> RefusedType for Evidence<A> {}

pin_project_lite::pin_project! {
    /// Runs an async tool and encodes its result. An `async` block would contain the tool's future twice.
    struct Answering<F, C, R> {
        #[pin]
        future: F,
        codec: C,
        marker: PhantomData<fn() -> R>,
    }
}

impl<F: Future, C: Encode<F::Output, R>, R> Future for Answering<F, C, R> {
    type Output = R;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<R> {
        let this = self.project();
        this.future.poll(context).map(|value| this.codec.encode(value))
    }
}
