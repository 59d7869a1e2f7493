//! The kinds of the errors with which Toolwright itself answers calls. Programs match on kinds; people read messages.
//!
//! ```
//! use toolwright::{Call, Executor, Registry, error_kind, tool};
//!
//! /// Say hello.
//! #[tool(effect = read)]
//! async fn greet() -> &'static str {
//!     "hello"
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! let executor = Executor::builder(Registry::of([GREET])?).build()?;
//! let answer = executor.call(&Call::new("greeet", "{}")).await;
//! assert_eq!(answer.error().expect("there is no such tool").kind(), error_kind::UNKNOWN_TOOL);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A tool passes kinds of its own, in snake case, to [`ToolError::new`](crate::error::ToolError::new). If one of the
//! kinds below fits, the tool should use it.

/// The call needs approval, and either it is waiting for an approver or there is no approver.
pub const APPROVAL_REQUIRED: &str = "approval_required";
/// The call or its run was cancelled, or the run has ended.
pub const CANCELLED: &str = "cancelled";
/// A policy forbids the call.
pub const DENIED: &str = "denied";
/// The tool is switched off.
pub const DISABLED_TOOL: &str = "disabled_tool";
/// The deadline of the call passed without a decision or a supplied result.
pub const EXPIRED: &str = "expired";
/// The call may have had its effect; the outcome is unknown.
pub const INDETERMINATE: &str = "indeterminate";
/// The tool failed, and only operators see the cause.
pub const INTERNAL_ERROR: &str = "internal_error";
/// The arguments do not fit the tool.
pub const INVALID_INPUT: &str = "invalid_input";
/// The tool ran, but its result has no JSON form, or does not match the tool's output schema.
pub const INVALID_OUTPUT: &str = "invalid_output";
/// The journal failed, so the call was not run. The call may be in the journal nevertheless.
pub const JOURNAL_FAILED: &str = "journal_failed";
/// The tool needs a service that the application does not provide.
pub const MISSING_SERVICE: &str = "missing_service";
/// An object that the call names does not exist.
pub const NOT_FOUND: &str = "not_found";
/// A tool that runs again makes another call than its earlier attempt made at this index, or passes other arguments.
pub const OTHER_CHILD: &str = "other_child";
/// A person decided against the call, or earlier against the same call of the run.
pub const REJECTED: &str = "rejected";
/// The executor is shutting down and begins no more calls.
pub const SHUTTING_DOWN: &str = "shutting_down";
/// The call took longer than its timeout allows, or could not begin in time.
pub const TIMEOUT: &str = "timeout";
/// The call is nested too deeply.
pub const TOO_DEEP: &str = "too_deep";
/// A child touches a resource that its parent does not declare.
pub const UNDECLARED_ACCESS: &str = "undeclared_access";
/// The answer of a call does not have the type that the calling tool expects.
pub const UNEXPECTED_ANSWER: &str = "unexpected_answer";
/// No tool has the name in the call.
pub const UNKNOWN_TOOL: &str = "unknown_tool";
