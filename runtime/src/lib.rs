//! Toolwright turns annotated functions into tools for language-model agents.
#![warn(missing_docs)]

#[doc(hidden)]
pub mod __private0;
mod call;
mod capability;
#[cfg(feature = "cli")]
pub mod cli;
mod context;
mod error;
mod event;
mod executor;
mod footprint;
mod input;
mod output;
pub mod provider;
mod registry;
mod schema;
mod spec;
mod stage;
mod tool;

pub use call::Call;
pub use capability::{Closing, Opening, Resource};
pub use context::{CallId, ToolContext};
pub use error::{Class, OrFail, ToolError};
pub use event::{Event, EventKind};
pub use executor::{
    BuildError, BuildProblem, Drained, Executor, ExecutorBuilder, MissingServices, RunBuilder,
};
pub use footprint::{Facts, Footprint, ResourceKind, ResourceName};
pub use output::{Answer, Content, Output, ProcessOutput, Reconciled};
pub use registry::{Registry, RegistryError, RegistryProblem};
pub use schema::SchemaProblem;
pub use spec::{Handle, Location};
pub use tool::{
    Danger, DeclaredApproval, DeclaredDanger, Definition, Effect, Exposure, Parameter, Repair,
    Requirement, Retry, Timeout,
};
pub use toolwright_macros::{data, tool, tools};
