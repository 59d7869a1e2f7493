//! Approvers, which decide on calls. An approver is a function, a channel, or a type of the application.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::grant::GrantTerms;
use super::request::ApprovalRequest;

/// An approver decides whether a call may run. It asks a person, or decides by code.
///
/// An error, a panic or no reply at all is never an approval.
pub trait Approver: Send + Sync + 'static {
    /// Asks for a decision on a call. When the call expires or its run ends, the executor may drop the future, and a
    /// decision has no effect any more.
    fn ask<'a>(
        &'a self,
        request: &'a ApprovalRequest,
    ) -> BoxFuture<'a, Result<Reply, ApproverError>>;
}

/// The reply of an approver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The approver decided.
    Decided(Response),
    /// A reviewer decided instead of the approver: a model, or code. The record names the reviewer and the reason. For
    /// a call on which a person has to decide ([`ApprovalRequest::person`]), this counts as no decision.
    Reviewed {
        /// The decision that the reviewer made.
        response: Response,
        /// The name of the reviewer.
        by: String,
        /// Why the reviewer decided in this way.
        reason: String,
    },
    /// The request was passed on. The decision comes later, through an [`ApprovalService`](super::ApprovalService).
    Noted,
}

/// The decision of an approver on a call.
#[derive(Clone, PartialEq, Eq)]
pub enum Response {
    /// The call may run.
    Approve,
    /// The call may run, and later calls that meet these terms may run without a decision, unless a policy rule
    /// requires a decision on each of them.
    ApproveWithGrant(GrantTerms),
    /// The call may run with these arguments instead of its own. The text is the JSON of all arguments.
    Edit(String),
    /// The call must not run.
    Reject {
        /// Why the call is rejected; the model reads this text.
        reason: Option<String>,
    },
}

/// Omits arguments, which may be secret.
impl fmt::Debug for Response {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Approve => "Approve",
            Self::ApproveWithGrant(_) => "ApproveWithGrant(..)",
            Self::Edit(_) => "Edit(..)",
            Self::Reject { .. } => "Reject { .. }",
        })
    }
}

/// The approver could not be asked, or gave no decision.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApproverError {
    /// Why the approver failed. The message should name the approver.
    pub message: String,
}
toolwright_core::debug_as_sentence!(ApproverError);

impl ApproverError {
    /// Makes the error. The message should name the approver, what it found, and what to do.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for ApproverError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for ApproverError {}

/// An approver that decides at once, by calling a function.
///
/// ```
/// use toolwright::approval::{Callback, Response};
///
/// let approver = Callback::new(|request| match request.tool.as_str() {
///     "lend_book" => Response::Approve,
///     _ => Response::Reject { reason: Some("only books are lent today".to_owned()) },
/// });
/// # let _ = approver;
/// ```
pub struct Callback<F>(F);

impl<F> Callback<F>
where
    F: Fn(&ApprovalRequest) -> Response + Send + Sync + 'static,
{
    /// Makes an approver that decides by calling this function.
    pub fn new(decides: F) -> Self {
        Self(decides)
    }
}

impl<F> Approver for Callback<F>
where
    F: Fn(&ApprovalRequest) -> Response + Send + Sync + 'static,
{
    fn ask<'a>(
        &'a self,
        request: &'a ApprovalRequest,
    ) -> BoxFuture<'a, Result<Reply, ApproverError>> {
        let decision = catch_unwind(AssertUnwindSafe(|| (self.0)(request)));
        let panicked = |_| {
            let call = request.call;
            ApproverError::new(format!(
                "the function that approves panicked over call {call}, which is not approved"
            ))
        };
        ready(decision.map(Reply::Decided).map_err(panicked)).boxed()
    }
}

/// An approver that passes requests on to another task. The decisions come through an
/// [`ApprovalService`](super::ApprovalService).
///
/// ```
/// use toolwright::approval::Channel;
///
/// let (sender, mut requests) = tokio::sync::mpsc::channel(16);
/// let approver = Channel::new(sender);
/// // Elsewhere: while let Some(request) = requests.recv().await { … }
/// # let _ = (approver, requests.try_recv());
/// ```
#[derive(Debug, Clone)]
pub struct Channel(mpsc::Sender<ApprovalRequest>);

impl Channel {
    /// Makes an approver that sends each request into this channel.
    #[must_use]
    pub fn new(sender: mpsc::Sender<ApprovalRequest>) -> Self {
        Self(sender)
    }
}

impl Approver for Channel {
    /// Sends the request. A full channel is an error at once, because waiting would delay the call.
    fn ask<'a>(
        &'a self,
        request: &'a ApprovalRequest,
    ) -> BoxFuture<'a, Result<Reply, ApproverError>> {
        let call = request.call;
        let sent = self.0.try_send(request.clone()).map_err(|error| match error {
            TrySendError::Full(_) => ApproverError::new(format!(
                "the approval channel is full with {} requests, and call {call} is one more: read them faster, or \
                 make it longer",
                self.0.max_capacity()
            )),
            TrySendError::Closed(_) => ApproverError::new(format!(
                "the receiver of the approval channel was dropped, so call {call} cannot be approved: keep the receiver"
            )),
        });
        ready(sent.map(|()| Reply::Noted)).boxed()
    }
}
