//! Metrics about calls, by OpenTelemetry (feature `opentelemetry`). The application chooses the exporter.
//!
//! | instrument | | counts or measures | attributes |
//! | --- | --- | --- | --- |
//! | `gen_ai.execute_tool.duration` | histogram, s | a call from its start to its answer, as its span does | `gen_ai.operation.name`, `gen_ai.tool.name`, `gen_ai.tool.type`, `error.type` |
//! | `toolwright.decision.wait` | histogram, s | how long a call waited for a person, until the decision or the deadline | `gen_ai.tool.name`, `toolwright.decision` |
//! | `toolwright.turn.wait` | histogram, s | how long a call waited for earlier calls of its turn that it conflicts with | `gen_ai.tool.name` |
//! | `toolwright.decisions` | counter | decisions that the executor acted on, and deadlines that passed | `gen_ai.tool.name`, `toolwright.decision` |
//! | `toolwright.judgements` | counter | decisions of the policy | `gen_ai.tool.name`, `toolwright.verdict` |
//! | `toolwright.repairs` | counter | calls whose input was repaired | `gen_ai.tool.name` |
//! | `toolwright.retries` | counter | attempts that failed and are followed by another | `gen_ai.tool.name`, `error.type` |
//! | `toolwright.dead_letters` | counter | calls that failed for good | `gen_ai.tool.name`, `error.type` |
//! | `toolwright.reserved` | counter | calls that did not begin because another run has reserved what they touch | `gen_ai.tool.name` |
//! | `toolwright.cached` | counter | calls that were answered from a cache | `gen_ai.tool.name` |
//!
//! The first instrument follows the [conventions for generative
//! AI](https://github.com/open-telemetry/semantic-conventions-genai), which are in development; the other instruments
//! are ours.
//!
//! - No attribute is an id, a run, an argument or a person's text. The name of an unknown tool was made up by a model,
//!   so its attribute is `_OTHER`. The values of `error.type` are the kinds of errors: a tool that makes up a kind for
//!   each error creates as many time series.
//! - If a call waits for a person while its caller waits, the call's duration includes that wait, as its span does. If
//!   a call is suspended and resumed, its duration counts from the resumption.
//! - Each process counts what its own executors do. A decision that ends a call is counted by the executor that finds
//!   it; see [`ToolEventKind`](crate::ToolEventKind).

pub use toolwright_executor::telemetry::Metrics;
