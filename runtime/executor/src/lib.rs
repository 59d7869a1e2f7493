//! Part of `toolwright`, without a public interface of its own: the tools of an application, and the executor that runs
//! their calls, with and without a journal.
#![warn(missing_docs)]

mod attempt;
#[doc(hidden)]
pub mod batch;
mod call;
pub mod catalog;
pub mod dynamic;
pub mod event;
pub mod executor;
#[doc(hidden)]
pub mod file_changes;
mod handed_over;
#[doc(hidden)]
pub mod lifecycle;
mod middleware;
pub mod registry;
pub mod retry;
mod stage;
#[cfg(feature = "opentelemetry")]
pub mod telemetry;

#[doc(hidden)]
pub use call::record::chain;
