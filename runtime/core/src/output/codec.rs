//! Turns the return value of a function into an answer. The actual type decides, not its name: a `Result` is recognised
//! behind any alias, and its `Err` never becomes a success.

#![expect(missing_docs, reason = "what has no docs here is hidden: generated code alone names it")]

use crate::error_kind;
use std::any::Any;
use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::Serialize;

use super::sent::{NestedResult, SentValue, Single};
use super::{Answer, Output};
use crate::error::ToolError;
use crate::spec::SchemaOf;

/// Determines whether a function returns a `Result`. For a `Result` under any name, rustc finds the inherent method;
/// for all other types it finds the method of [`Plain`].
pub struct Probe<R>(PhantomData<R>);

impl<R> Probe<R> {
    pub const NEW: Self = Self(PhantomData);
}

impl<T, E> Probe<Result<T, E>> {
    #[inline(always)]
    pub fn kind(&self) -> Fallible<T, E> {
        Fallible(PhantomData)
    }
}

/// Implemented for all types. For a `Result`, rustc prefers the inherent method of [`Probe`].
pub trait Plain<R> {
    fn kind(&self) -> Infallible<R>;
}

impl<R> Plain<R> for Probe<R> {
    #[inline(always)]
    fn kind(&self) -> Infallible<R> {
        Infallible(PhantomData)
    }
}

pub struct Fallible<T, E>(PhantomData<(T, E)>);

pub struct Infallible<R>(PhantomData<R>);

/// Converts the return value of a function to `A`.
pub trait Encode<R, A> {
    fn encode(&self, value: R) -> A;
}

/// An encoder that applies one function to every value.
pub struct Codec<R, A>(pub fn(R) -> A);

impl<R, A> Encode<R, A> for Codec<R, A> {
    #[inline(always)]
    fn encode(&self, value: R) -> A {
        (self.0)(value)
    }
}

/// The encoder for a return type that is not a `Result`. `D` says whether the type contains a `Result`: it is
/// [`Single`] or [`NestedResult`].
pub struct OutputCodec<R, D> {
    value: fn(R, D) -> Answer,
    depth: D,
}

impl<R, D: Copy> Encode<R, Answer> for OutputCodec<R, D> {
    #[inline(always)]
    fn encode(&self, value: R) -> Answer {
        (self.value)(value, self.depth)
    }
}

pub struct FallibleCodec<T, E, D> {
    value: fn(T, D) -> Answer,
    error: fn(E) -> ToolError,
    depth: D,
}

impl<T, E, D: Copy> Encode<Result<T, E>, Answer> for FallibleCodec<T, E, D> {
    #[inline(always)]
    fn encode(&self, value: Result<T, E>) -> Answer {
        match value {
            Ok(value) => (self.value)(value, self.depth),
            Err(error) => (self.error)(error).into(),
        }
    }
}

impl<T, E> Fallible<T, E> {
    /// Makes the value with which rustc checks the type of `Ok`, for a tool that sends its result as JSON.
    pub fn sent(&self) -> SentValue<T> {
        SentValue::NEW
    }

    /// Makes the encoder. The value and the error are converted by separate functions, so that rustc reports a missing
    /// trait at the type that lacks it.
    #[inline(always)]
    pub fn codec<D>(
        &self,
        depth: D,
        value: fn(T, D) -> Answer,
        error: fn(E) -> ToolError,
    ) -> FallibleCodec<T, E, D> {
        FallibleCodec { value, error, depth }
    }
}

impl<R> Infallible<R> {
    /// Makes the value with which rustc checks the type, for a tool that sends its result as JSON.
    pub fn sent(&self) -> SentValue<R> {
        SentValue::NEW
    }

    #[inline(always)]
    pub fn codec<D>(
        &self,
        depth: D,
        value: fn(R, D) -> Answer,
        _: fn(ToolError) -> ToolError,
    ) -> OutputCodec<R, D> {
        OutputCodec { value, depth }
    }
}

impl<T: JsonSchema, E> Fallible<T, E> {
    pub fn schema(&self) -> Option<SchemaOf> {
        Some(|generator| T::json_schema(generator))
    }
}

impl<R: JsonSchema> Infallible<R> {
    pub fn schema(&self) -> Option<SchemaOf> {
        Some(|generator| R::json_schema(generator))
    }
}

/// Implemented for all types. For a type with a schema, rustc prefers the inherent methods above.
pub trait NoSchema {
    fn schema(&self) -> Option<SchemaOf> {
        None
    }
}

impl<T, E> NoSchema for Fallible<T, E> {}

impl<R> NoSchema for Infallible<R> {}

/// Types that can be the `E` in a tool's `Result<T, E>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    label = "it does not say what the model may read of it",
    note = "return `ToolError`, or write `impl From<{Self}> for ToolError`; `ToolError::internal(error)` hides the cause from the model"
)]
pub trait Failure {
    fn into_error(self) -> ToolError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<ToolError>> Failure for E {
    #[inline(always)]
    fn into_error(self) -> ToolError {
        self.into()
    }
}

/// Types that a tool may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a tool",
    label = "it has no JSON form",
    note = "write `#[toolwright::data]` on the type, or return text, a `serde_json::Value` or `Output`"
)]
pub trait ToolOutput<D = Single> {
    fn into_answer(self, depth: D) -> Answer;
}

/// [`OneResult`] refuses a type with a `Result` inside. This implementation has no bounds, so that rustc does not
/// report a second error for the same type.
#[diagnostic::do_not_recommend]
impl<T> ToolOutput<NestedResult> for T {
    fn into_answer(self, _: NestedResult) -> Answer {
        unserialisable(serde::ser::Error::custom("a `Result` inside another type"))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + 'static> ToolOutput for T {
    #[inline(always)]
    fn into_answer(self, _: Single) -> Answer {
        let mut value = Some(self);
        if let Some(text) = (&mut value as &mut dyn Any).downcast_mut::<Option<String>>() {
            return Answer::from_text(text.take().unwrap_or_default());
        }
        match serde_json::to_string(&value) {
            Ok(json) if json.starts_with('"') => as_text(json),
            Ok(json) => Answer::from_json(json),
            Err(error) => unserialisable(error),
        }
    }
}

#[diagnostic::do_not_recommend]
impl ToolOutput for Output {
    fn into_answer(self, _: Single) -> Answer {
        self.into()
    }
}

/// Makes an answer from a value that serialises to a JSON string. The answer is the text of the string.
#[cold]
fn as_text(json: String) -> Answer {
    match serde_json::from_str(&json) {
        Ok(text) => Answer::from_text(text),
        Err(error) => unserialisable(error),
    }
}

#[cold]
fn unserialisable(error: serde_json::Error) -> Answer {
    ToolError::new(error_kind::INVALID_OUTPUT, "the tool ran, but its result has no JSON form")
        .caused_by(error)
        .into()
}

/// The result of a `validate` function: the error is the reason why the call is refused.
pub type Validated = Result<(), ToolError>;

#[diagnostic::on_unimplemented(
    message = "a `validate` function cannot return `{Self}`",
    label = "expected a function that returns `Result<(), E>`",
    note = "`E` turns into `ToolError`, as in a tool; a future is awaited: `async |…| ….await`"
)]
pub trait IntoValidated {
    fn into_validated(self) -> Validated;
}

#[diagnostic::do_not_recommend]
impl<E: Failure> IntoValidated for Result<(), E> {
    fn into_validated(self) -> Validated {
        self.map_err(E::into_error)
    }
}

/// The result of an `approval` function: the reason why the call needs approval, or `None` if it needs none.
pub type Asking = Result<Option<Cow<'static, str>>, ToolError>;

#[diagnostic::on_unimplemented(
    message = "an `approval` function cannot return `{Self}`",
    label = "expected a function that returns `Option<String>` or `Result<Option<String>, E>`",
    note = "`None` asks for no approval; `E` turns into `ToolError`, as in a tool; a future is awaited: `async |…| ….await`"
)]
pub trait IntoAsking {
    fn into_asking(self) -> Asking;
}

#[diagnostic::do_not_recommend]
impl<R: Into<Cow<'static, str>>> IntoAsking for Option<R> {
    fn into_asking(self) -> Asking {
        Ok(self.map(Into::into))
    }
}

#[diagnostic::do_not_recommend]
impl<R: Into<Cow<'static, str>>, E: Failure> IntoAsking for Result<Option<R>, E> {
    fn into_asking(self) -> Asking {
        self.map(|reason| reason.map(Into::into)).map_err(E::into_error)
    }
}

/// The text that a `preview` function shows to an approver.
pub type Preview = Result<String, ToolError>;

/// What a `reconcile` function found out about a call whose outcome is unknown.
#[derive(Debug)]
pub enum Reconciled {
    /// The call happened, and this is its result.
    Happened(Output),
    /// The call did not happen, so it may be started again.
    DidNotHappen,
    /// The tool cannot determine the outcome, so a person has to find it out.
    Unknown,
}

/// The result of a `reconcile` function, or the error with which it failed.
pub type Reconciling = Result<Reconciled, ToolError>;

#[diagnostic::on_unimplemented(
    message = "a `preview` function cannot return `{Self}`",
    label = "expected a function that returns `String` or `Result<String, E>`",
    note = "`E` turns into `ToolError`, as in a tool; a future is awaited: `async |…| ….await`"
)]
pub trait IntoPreview {
    fn into_preview(self) -> Preview;
}

#[diagnostic::do_not_recommend]
impl IntoPreview for String {
    fn into_preview(self) -> Preview {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<E: Failure> IntoPreview for Result<String, E> {
    fn into_preview(self) -> Preview {
        self.map_err(E::into_error)
    }
}

#[diagnostic::on_unimplemented(
    message = "a `reconcile` function cannot return `{Self}`",
    label = "expected a function that returns `Reconciled` or `Result<Reconciled, E>`",
    note = "`E` turns into `ToolError`, as in a tool; a future is awaited: `async |…| ….await`"
)]
pub trait IntoReconciled {
    fn into_reconciled(self) -> Reconciling;
}

#[diagnostic::do_not_recommend]
impl IntoReconciled for Reconciled {
    fn into_reconciled(self) -> Reconciling {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<E: Failure> IntoReconciled for Result<Reconciled, E> {
    fn into_reconciled(self) -> Reconciling {
        self.map_err(E::into_error)
    }
}
