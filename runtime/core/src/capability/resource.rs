//! Resources opened for one call and closed after it: a connection, a transaction, a lock.

use std::future::Future;
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::context::ToolContext;
use crate::error::ToolError;
use crate::output::Answer;

/// A value that a tool borrows as `&mut T`. The executor opens it before the tool runs, and closes it after the tool.
///
/// A call that is cancelled, panics or runs out of time may drop the resource instead of closing it. So a resource must
/// be safe to drop: a dropped transaction, for instance, must roll back.
///
/// ```
/// use toolwright::{Closing, Resource, ToolError};
///
/// struct Transaction(Vec<String>);
///
/// impl Resource for Transaction {
///     async fn close(self, outcome: Closing) -> Result<(), ToolError> {
///         match outcome {
///             Closing::Succeeded => println!("commit {} writes", self.0.len()),
///             _ => println!("roll back"),
///         }
///         Ok(())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no resource",
    label = "a resource is opened before a call and closed after it",
    note = "implement `toolwright::Resource` for it"
)]
pub trait Resource: Send + Sized + 'static {
    /// Closes the resource. If closing fails after the tool has succeeded, this error becomes the call's answer,
    /// because the work was not saved.
    fn close(self, outcome: Closing) -> impl Future<Output = Result<(), ToolError>> + Send;
}

/// How the call for which the resource was opened has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Closing {
    /// The tool returned a result: save the changes.
    Succeeded,
    /// The tool returned an error, or the resource was used for a preview or a reconciliation: undo the work.
    Failed,
}

/// The call for which a resource is opened.
#[derive(Clone)]
pub struct Opening {
    pub(crate) context: ToolContext,
}

impl Opening {
    /// Returns the context of the call that the resource is opened for.
    pub fn context(&self) -> &ToolContext {
        &self.context
    }

    /// Returns a service of the run or of the executor; `None` if neither has a service of this type.
    pub fn service<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.context.service::<T>()
    }
}

impl std::fmt::Debug for Opening {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Opening").field("context", &self.context).finish_non_exhaustive()
    }
}

#[doc(hidden)]
pub type Open<T> = dyn Fn(Opening) -> BoxFuture<'static, Result<T, ToolError>> + Send + Sync;

/// The function that opens a resource for a call.
#[doc(hidden)]
pub struct Opener<T>(pub Box<Open<T>>);

/// The result of a use of resources: an answer, a preview or a reconciliation.
pub trait CallEnd {
    /// Makes the value for a use that failed with this error.
    fn failed(error: ToolError) -> Self;
    /// Whether a successful use saves its work; a preview, for instance, does not.
    const KEEPS_WORK: bool;
    /// Returns whether the use failed.
    fn is_failure(&self) -> bool;
}

impl CallEnd for Answer {
    const KEEPS_WORK: bool = true;

    fn failed(error: ToolError) -> Self {
        error.into()
    }

    fn is_failure(&self) -> bool {
        self.is_error()
    }
}

impl<T> CallEnd for Result<T, ToolError> {
    const KEEPS_WORK: bool = false;

    fn failed(error: ToolError) -> Self {
        Err(error)
    }

    fn is_failure(&self) -> bool {
        self.is_err()
    }
}
