//! Metrics about calls, through OpenTelemetry (feature `opentelemetry`). The application chooses the exporter.
//!
//! | instrument | | counts or measures | attributes |
//! | --- | --- | --- | --- |
//! | `gen_ai.execute_tool.duration` | histogram, s | how long a call took until its answer or until its caller dropped it, like its span | `gen_ai.operation.name`, `gen_ai.tool.name`, `gen_ai.tool.type`, `error.type` |
//! | `toolwright.decision.wait` | histogram, s | how long a call waited for a person until the decision, or for a decision or a supplied result until the deadline | `gen_ai.tool.name`, `toolwright.decision` |
//! | `toolwright.turn.wait` | histogram, s | how long a call waited for conflicting earlier calls of its turn | `gen_ai.tool.name` |
//! | `toolwright.decisions` | counter | decisions on which the executor acted, and deadlines that passed | `gen_ai.tool.name`, `toolwright.decision` |
//! | `toolwright.judgements` | counter | decisions of the policy | `gen_ai.tool.name`, `toolwright.verdict` |
//! | `toolwright.repairs` | counter | calls whose input was repaired | `gen_ai.tool.name` |
//! | `toolwright.retries` | counter | failed attempts that are followed by another attempt | `gen_ai.tool.name`, `error.type` |
//! | `toolwright.dead_letters` | counter | calls that failed for good | `gen_ai.tool.name`, `error.type` |
//! | `toolwright.reserved` | counter | calls that did not begin because another run has reserved a resource | `gen_ai.tool.name` |
//! | `toolwright.cached` | counter | calls that were answered from a cache | `gen_ai.tool.name` |
//!
//! The first instrument follows the [conventions for generative
//! AI](https://github.com/open-telemetry/semantic-conventions-genai), which are in development. The other instruments
//! are specific to Toolwright.
//!
//! - No attribute contains an id, a run, an argument or a person's text. Models can invent names of tools, so the
//!   attribute of an unknown tool is `_OTHER`. The values of `error.type` are the kinds of errors. A tool that invents
//!   a kind for each error therefore creates a time series for each error.
//! - If a caller waits while a person decides, the duration of the call includes that wait. If the call is suspended
//!   and resumed, the duration counts from the resumption. The call's span has the same duration.
//! - Each process counts what its own executors do. A decision that ends a call is counted by the executor that finds
//!   the decision; see [`ToolEventKind`].

use std::time::Duration;
use toolwright_core::error_kind;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter};

use crate::event::{ToolEvent, ToolEventKind};
use crate::executor::ExecutorBuilder;
use toolwright_core::error::ToolError;
use toolwright_journal::approval::Decision;
use toolwright_journal::journal::State;
use toolwright_policy::policy::PolicyDecision;

/// The bounds of the buckets for durations of tools, in seconds, as the conventions give them.
const TOOL_BOUNDS: [f64; 14] =
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/// The bounds of the buckets for the time that people take, from a second to a day.
const PEOPLE_BOUNDS: [f64; 12] =
    [1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0, 7_200.0, 14_400.0, 28_800.0, 57_600.0, 86_400.0];

/// The attribute of a tool whose name is unknown.
const OTHER: &str = "_OTHER";

/// The OpenTelemetry instruments of an executor, made with a meter of the application.
///
/// ```
/// use toolwright::telemetry::Metrics;
/// use toolwright::{Executor, Registry};
///
/// // The meter of the provider that the application has set up. Without a provider, nothing is recorded.
/// let meter = opentelemetry::global::meter("my-agent");
/// let executor = Executor::builder(Registry::empty()).metrics(&meter).build()?;
///
/// // For a listener that also does something else:
/// let metrics = Metrics::new(&meter);
/// let executor = Executor::builder(Registry::empty()).listen(move |event| metrics.record(event)).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Metrics {
    durations: Histogram<f64>,
    waits: Histogram<f64>,
    turn_waits: Histogram<f64>,
    decisions: Counter<u64>,
    judgements: Counter<u64>,
    repairs: Counter<u64>,
    retries: Counter<u64>,
    dead_letters: Counter<u64>,
    reserved: Counter<u64>,
    cached: Counter<u64>,
}

impl Metrics {
    /// Makes the instruments with this meter.
    #[must_use]
    pub fn new(meter: &Meter) -> Self {
        let histogram = |name: &'static str, bounds: &[f64], what: &'static str| {
            let histogram = meter.f64_histogram(name).with_unit("s").with_description(what);
            histogram.with_boundaries(bounds.to_vec()).build()
        };
        let counter = |name: &'static str, unit: &'static str, what: &'static str| {
            meter.u64_counter(name).with_unit(unit).with_description(what).build()
        };
        Self {
            durations: histogram(
                "gen_ai.execute_tool.duration",
                &TOOL_BOUNDS,
                "The duration of a single tool execution.",
            ),
            waits: histogram(
                "toolwright.decision.wait",
                &PEOPLE_BOUNDS,
                "How long calls wait for a person to decide.",
            ),
            turn_waits: histogram(
                "toolwright.turn.wait",
                &TOOL_BOUNDS,
                "How long calls wait for earlier calls of their turn.",
            ),
            decisions: counter(
                "toolwright.decisions",
                "{decision}",
                "What people decided about calls, and deadlines that passed.",
            ),
            judgements: counter(
                "toolwright.judgements",
                "{judgement}",
                "Decisions of the policy about calls.",
            ),
            repairs: counter("toolwright.repairs", "{call}", "Calls whose input was repaired."),
            retries: counter(
                "toolwright.retries",
                "{attempt}",
                "Failed attempts that are followed by another.",
            ),
            dead_letters: counter(
                "toolwright.dead_letters",
                "{call}",
                "Calls that failed for good.",
            ),
            reserved: counter(
                "toolwright.reserved",
                "{call}",
                "Calls that did not begin because another run holds what they touch.",
            ),
            cached: counter(
                "toolwright.cached",
                "{call}",
                "Calls that were answered from a cache.",
            ),
        }
    }

    /// Records an event of a call.
    pub fn record(&self, event: &ToolEvent<'_>) {
        let tool = || KeyValue::new("gen_ai.tool.name", event.tool.to_owned());
        match event.kind {
            ToolEventKind::Completed { elapsed, .. } => self.duration(event.tool, None, elapsed),
            ToolEventKind::Failed { error, elapsed } => {
                self.duration(known(event.tool, error), Some(error.kind()), elapsed);
            }
            ToolEventKind::Abandoned { elapsed } => {
                self.duration(event.tool, Some("abandoned"), elapsed);
            }
            ToolEventKind::Waited { waited } => {
                self.turn_waits.record(waited.as_secs_f64(), &[tool()]);
            }
            ToolEventKind::Repaired { .. } => self.repairs.add(1, &[tool()]),
            ToolEventKind::Judged { verdict, .. } => {
                self.judgements
                    .add(1, &[tool(), KeyValue::new("toolwright.verdict", said(verdict))]);
            }
            ToolEventKind::Decided { verdict, waited, .. } => {
                let attributes = [tool(), KeyValue::new("toolwright.decision", decided(verdict))];
                self.decisions.add(1, &attributes);
                if ends_a_wait(verdict) {
                    self.waits.record(waited.as_secs_f64(), &attributes);
                }
            }
            ToolEventKind::Expired { waited } => {
                let attributes = [tool(), KeyValue::new("toolwright.decision", "expired")];
                self.decisions.add(1, &attributes);
                self.waits.record(waited.as_secs_f64(), &attributes);
            }
            ToolEventKind::Retrying { error, .. } => {
                self.retries.add(1, &[tool(), kind(error.kind())])
            }
            ToolEventKind::OwnerLost { state: State::Ready } => {
                self.retries.add(1, &[tool(), kind("owner_lost")]);
            }
            ToolEventKind::Dead { kind: of, .. } => self.dead_letters.add(1, &[tool(), kind(of)]),
            ToolEventKind::Reserved { .. } => self.reserved.add(1, &[tool()]),
            ToolEventKind::Cached => self.cached.add(1, &[tool()]),
            _ => {}
        }
    }

    /// Makes a listener that records every event.
    pub fn listener(self) -> impl Fn(&ToolEvent<'_>) + Send + Sync + 'static {
        move |event| self.record(event)
    }

    fn duration(&self, tool: &str, error: Option<&str>, elapsed: Duration) {
        let mut attributes = vec![
            KeyValue::new("gen_ai.operation.name", "execute_tool"),
            KeyValue::new("gen_ai.tool.name", tool.to_owned()),
            KeyValue::new("gen_ai.tool.type", "function"),
        ];
        attributes.extend(error.map(kind));
        self.durations.record(elapsed.as_secs_f64(), &attributes);
    }
}

impl ExecutorBuilder {
    /// Records [`Metrics`] of every call with the instruments of this meter.
    #[must_use]
    pub fn metrics(self, meter: &Meter) -> Self {
        self.listen(Metrics::new(meter).listener())
    }
}

/// Returns the name of a tool, or `_OTHER` if a model made the name up.
fn known<'a>(tool: &'a str, error: &ToolError) -> &'a str {
    if error.kind() == error_kind::UNKNOWN_TOOL { OTHER } else { tool }
}

fn kind(kind: &str) -> KeyValue {
    KeyValue::new("error.type", kind.to_owned())
}

fn said(verdict: &PolicyDecision) -> &'static str {
    match verdict {
        PolicyDecision::Allow => "allow",
        PolicyDecision::Ask { .. } => "ask",
        PolicyDecision::Deny { .. } => "deny",
        PolicyDecision::Queue => "queue",
    }
}

fn decided(decision: &Decision) -> &'static str {
    match decision {
        Decision::Approve { .. } => "approved",
        Decision::Edit { .. } => "edited",
        Decision::Reject { .. } => "rejected",
        Decision::Happened { .. } => "happened",
        Decision::DidNotHappen => "did_not_happen",
        Decision::Accept => "accepted",
        Decision::Requeue { .. } => "requeued",
        Decision::Discard { .. } => "discarded",
        Decision::Revoke => "revoked",
    }
}

/// Returns whether the call had to wait for this decision before it could run or end.
fn ends_a_wait(decision: &Decision) -> bool {
    matches!(
        decision,
        Decision::Approve { .. }
            | Decision::Edit { .. }
            | Decision::Reject { .. }
            | Decision::Accept
    )
}
