//! Reports what happens in a run: as events for readers, as notices for listeners, and as spans and metrics. Readers
//! never delay the run.
//!
//! ```text
//!   AgentRun ──▶ Observer ──▶ listeners, spans, metrics, accounts
//!                   └───────▶ ring of the last events ──▶ RunEvents, any number of readers, each at its own number
//! ```

mod end;
mod guard_report;
mod kind;
mod listening;
mod notice;
mod observer;
mod readers;
mod ring;
pub(crate) mod spans;
#[cfg(feature = "opentelemetry")]
mod telemetry;

pub use self::end::RunEnd;
pub use self::guard_report::{GuardAction, GuardReport, GuardStage};
pub use self::kind::{CalledTool, NumberedEvent, RunEvent, ToolCallEvent, ToolResultEvent};
pub(crate) use self::listening::Listening;
pub use self::notice::{NoticeKind, RunNotice};
pub(crate) use self::observer::{Observer, StartPoint};
pub use self::readers::RunEvents;
pub(crate) use self::readers::{EventWriter, Rings};
#[cfg(feature = "opentelemetry")]
pub(crate) use self::telemetry::Metrics;
