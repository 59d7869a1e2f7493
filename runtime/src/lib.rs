//! Toolwright turns annotated functions into tools for language-model agents.
//!
//! [`#[tool]`](macro@tool) makes a tool from a function. A [`Registry`] contains tools by name, an [`Executor`] runs
//! [`Call`]s of them and gives each exactly one [`Answer`], [`provider`] reads and writes the messages of model
//! providers, and [`cli`] is an application's command line.
//!
//! ```
//! use toolwright::{Call, Executor, Registry, ToolError, tool};
//!
//! /// Divide one number by another.
//! #[tool(effect = read)]
//! async fn divide(
//!     /// What is divided.
//!     dividend: i64,
//!     /// By what.
//!     divisor: i64,
//! ) -> Result<i64, ToolError> {
//!     dividend.checked_div(divisor).ok_or_else(|| ToolError::invalid("nothing can be divided by zero"))
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let executor = Executor::builder(Registry::of([DIVIDE])?).build()?;
//! let answer = executor.call(&Call::new("divide", r#"{"dividend":84,"divisor":2}"#)).await;
//! assert_eq!(answer.text(), "42");
//!
//! // The function is still a function.
//! assert!(divide(1, 0).await.is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![warn(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod address;
#[cfg(feature = "executor")]
#[cfg_attr(docsrs, doc(cfg(feature = "executor")))]
pub mod approval;
// The module is hidden only while docs are built. If it were hidden from the compiler too, messages would name a
// private path.
#[cfg_attr(doc, doc(hidden))]
pub mod bounds;
#[cfg(feature = "cli")]
#[cfg_attr(docsrs, doc(cfg(feature = "cli")))]
pub mod cli;
#[cfg(feature = "executor")]
#[cfg_attr(docsrs, doc(cfg(feature = "executor")))]
pub mod dialect;
#[cfg(feature = "executor")]
#[cfg_attr(docsrs, doc(cfg(feature = "executor")))]
pub mod journal;
mod macros;
#[cfg(feature = "executor")]
#[cfg_attr(docsrs, doc(cfg(feature = "executor")))]
pub mod policy;
pub mod printable;
#[cfg(feature = "executor")]
#[cfg_attr(docsrs, doc(cfg(feature = "executor")))]
pub mod provider;
#[cfg(feature = "executor")]
#[cfg_attr(docsrs, doc(cfg(feature = "executor")))]
pub mod repair;
#[cfg(feature = "executor")]
#[cfg_attr(docsrs, doc(cfg(feature = "executor")))]
pub mod retry;
#[cfg(feature = "opentelemetry")]
#[cfg_attr(docsrs, doc(cfg(feature = "opentelemetry")))]
pub mod telemetry;
#[cfg(feature = "executor")]
#[cfg_attr(docsrs, doc(cfg(feature = "executor")))]
pub mod unstable;
pub mod untrusted;

pub use self::macros::{data, tool, tools};
#[doc(hidden)]
pub use toolwright_core::__private0;
pub use toolwright_core::adaptation::Adaptation;
pub use toolwright_core::call::Call;
pub use toolwright_core::calls::{CallTo, CallableTool, Calls};
pub use toolwright_core::capability::{Closing, Opening, Resource};
pub use toolwright_core::context::{CallId, InvalidCallId, ToolContext};
pub use toolwright_core::error::{ErrorClass, OrFail, ToolError};
pub use toolwright_core::error_kind;
pub use toolwright_core::footprint::{
    Facts, File, Footprint, Holds, NestedCalls, ResourceKind, ResourceName, ResourceScope,
    ResourceStamp, TouchedResource,
};
pub use toolwright_core::linked::{ExpectedTools, UnexpectedTools};
pub use toolwright_core::output::{
    Answer, Content, Output, ProcessOutput, Reconciled, StoredAnswer, StoredAnswerError,
};
pub use toolwright_core::registration::{IntoTool, Registration};
pub use toolwright_core::schema::SchemaProblem;
pub use toolwright_core::spec::{Handle, Location};
pub use toolwright_core::tool::{
    Danger, DeclaredApproval, DeclaredDanger, Definition, Effect, Exposure, Parameter, Repair,
    Requirement, Retry, Summary, Timeout,
};
pub use toolwright_core::{expected_tools, link};
#[cfg(feature = "executor")]
#[cfg_attr(docsrs, doc(cfg(feature = "executor")))]
pub use toolwright_executor::catalog::{
    Catalog, InvalidPattern, Profile, ProfileError, Profiles, UnknownProfile,
};
#[cfg(feature = "executor")]
#[cfg_attr(docsrs, doc(cfg(feature = "executor")))]
pub use toolwright_executor::dynamic::DynamicTool;
#[cfg(feature = "executor")]
#[cfg_attr(docsrs, doc(cfg(feature = "executor")))]
pub use toolwright_executor::event::{ToolEvent, ToolEventKind};
#[cfg(feature = "executor")]
#[cfg_attr(docsrs, doc(cfg(feature = "executor")))]
pub use toolwright_executor::executor::{
    AfterCall, BeforeCall, BuildError, BuildProblem, Bundle, CallFailure, Calling, DrainReport,
    Executor, ExecutorBuilder, Middleware, MiddlewareCall, MissingServices, OnNoApprover, OpenTurn,
    Outcome, Resolver, Run, RunBuilder, SharedServices, SuspendedCall, Swept, TurnAnswers, Worker,
};
#[cfg(feature = "executor")]
#[cfg_attr(docsrs, doc(cfg(feature = "executor")))]
pub use toolwright_executor::registry::{
    Listening, Registry, RegistryError, RegistryEvent, RegistryEventKind, RegistryProblem,
    UnknownTool,
};
#[cfg(feature = "conformance")]
#[cfg_attr(docsrs, doc(cfg(feature = "conformance")))]
pub use toolwright_journal::{pass_on_leases, pass_on_questions};

/// Cancels calls and runs; re-exported from tokio-util.
pub use tokio_util::sync::CancellationToken;
