//! Metrics of what becomes of calls, by OpenTelemetry (feature `opentelemetry`). What exports them is the application's
//! choice.
//!
//! | instrument | | counts or measures | attributes |
//! | --- | --- | --- | --- |
//! | `gen_ai.execute_tool.duration` | histogram, s | a call from taken in to answered, as its span does | `gen_ai.operation.name`, `gen_ai.tool.name`, `gen_ai.tool.type`, `error.type` |
//! | `toolwright.decision.wait` | histogram, s | how long a call waited for a person, until they decided or the time was up | `gen_ai.tool.name`, `toolwright.decision` |
//! | `toolwright.decisions` | counter | decisions that were acted on, and deadlines that passed | `gen_ai.tool.name`, `toolwright.decision` |
//! | `toolwright.judgements` | counter | what the policy said | `gen_ai.tool.name`, `toolwright.verdict` |
//! | `toolwright.repairs` | counter | calls whose input was mended | `gen_ai.tool.name` |
//! | `toolwright.retries` | counter | attempts that failed and are followed by another | `gen_ai.tool.name`, `error.type` |
//! | `toolwright.dead_letters` | counter | calls that failed for good | `gen_ai.tool.name`, `error.type` |
//!
//! The first is by the [conventions for generative AI](https://github.com/open-telemetry/semantic-conventions-genai),
//! which are in development; the others are ours.
//!
//! - No attribute is an id, a run, an argument or a text of a person. The name of a tool that is unknown is what a model
//!   made up, so it is `_OTHER`. The values of `error.type` are the kinds of errors: a tool that makes up a kind for each
//!   error makes as many series.
//! - A call that waits for a person in place is measured with the wait, as its span is; one that is put aside and gone on
//!   with is measured from there.
//! - Each process counts what its own executors do. A decision that ends a call is counted by the executor that finds it; see
//!   [`ToolEventKind`](crate::ToolEventKind).

pub use toolwright_executor::telemetry::Metrics;
