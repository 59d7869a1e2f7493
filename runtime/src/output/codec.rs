//! From what a function returned to an answer. The type decides, not its name: `Result` is found
//! through any alias, and its `Err` never becomes a success.

#![expect(missing_docs, reason = "what has no docs here is hidden: generated code alone names it")]

use std::any::Any;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Answer, Output};
use crate::error::ToolError;
use crate::spec::SchemaOf;

/// Turns a returned value into `A`.
pub struct Codec<R, A> {
    encode: fn(R) -> A,
}

impl<R, A> Codec<R, A> {
    #[inline(always)]
    pub fn encode(&self, value: R) -> A {
        (self.encode)(value)
    }
}

/// Asks for what kind of value a function returns: the inherent method is found for `Result` under
/// any name, the trait's for all else.
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

/// Values that are no `Result`.
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

impl<T: ToolOutput, E: Failure> Fallible<T, E> {
    #[inline(always)]
    pub fn codec(&self) -> Codec<Result<T, E>, Answer> {
        Codec {
            encode: |value| match value {
                Ok(value) => value.into_answer(),
                Err(error) => error.into().into(),
            },
        }
    }
}

impl<R: ToolOutput> Infallible<R> {
    #[inline(always)]
    pub fn codec(&self) -> Codec<R, Answer> {
        Codec { encode: R::into_answer }
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

/// The output has no schema: the inherent methods above are found where it has one.
pub trait NoSchema {
    fn schema(&self) -> Option<SchemaOf> {
        None
    }
}

impl<T, E> NoSchema for Fallible<T, E> {}

impl<R> NoSchema for Infallible<R> {}

/// What may stand for `E` in a tool's `Result<T, E>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    label = "it does not say what the model may read of it",
    note = "return `ToolError`, or write `impl From<{Self}> for ToolError`; `ToolError::internal(error)` hides the cause from the model"
)]
pub trait Failure: Into<ToolError> {}

#[diagnostic::do_not_recommend]
impl<E: Into<ToolError>> Failure for E {}

/// What a tool may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a tool",
    label = "it has no JSON form",
    note = "write `#[toolwright::data]` on the type, or return text, a `serde_json::Value` or `Output`"
)]
pub trait ToolOutput {
    fn into_answer(self) -> Answer;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + 'static> ToolOutput for T {
    #[inline(always)]
    fn into_answer(self) -> Answer {
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

impl ToolOutput for Output {
    fn into_answer(self) -> Answer {
        self.into()
    }
}

/// A value that serialises to one string is text, and is sent without quotes.
#[cold]
fn as_text(json: String) -> Answer {
    match serde_json::from_str(&json) {
        Ok(text) => Answer::from_text(text),
        Err(error) => unserialisable(error),
    }
}

#[cold]
fn unserialisable(error: serde_json::Error) -> Answer {
    ToolError::new("invalid_output", "the tool ran, but its result has no JSON form")
        .caused_by(error)
        .into()
}

/// What a `preview` function shows to an approver.
pub type Preview = Result<String, ToolError>;

/// What a `reconcile` function found out about a call whose outcome is unknown.
#[derive(Debug)]
pub enum Reconciled {
    /// It happened, with this result.
    Happened(Output),
    /// It did not happen; the call may be judged again.
    DidNotHappen,
    /// It cannot be told; a person decides.
    Unknown,
}

/// What a `reconcile` function found, or why it could not look.
pub type Reconciling = Result<Reconciled, ToolError>;

/// Text, or a `Result` of text.
pub fn preview_codec<R: IntoPreview>() -> Codec<R, Preview> {
    Codec { encode: R::into_preview }
}

/// [`Reconciled`], or a `Result` of it.
pub fn reconciled_codec<R: IntoReconciled>() -> Codec<R, Reconciling> {
    Codec { encode: R::into_reconciled }
}

#[diagnostic::on_unimplemented(
    message = "a `preview` function returns `String` or `Result<String, E>`, not `{Self}`",
    note = "it takes the tool's own parameters"
)]
pub trait IntoPreview {
    fn into_preview(self) -> Preview;
}

impl IntoPreview for String {
    fn into_preview(self) -> Preview {
        Ok(self)
    }
}

impl<E: Failure> IntoPreview for Result<String, E> {
    fn into_preview(self) -> Preview {
        self.map_err(Into::into)
    }
}

#[diagnostic::on_unimplemented(
    message = "a `reconcile` function returns `Reconciled` or `Result<Reconciled, E>`, not `{Self}`",
    note = "it takes the tool's own parameters"
)]
pub trait IntoReconciled {
    fn into_reconciled(self) -> Reconciling;
}

impl IntoReconciled for Reconciled {
    fn into_reconciled(self) -> Reconciling {
        Ok(self)
    }
}

impl<E: Failure> IntoReconciled for Result<Reconciled, E> {
    fn into_reconciled(self) -> Reconciling {
        self.map_err(Into::into)
    }
}
