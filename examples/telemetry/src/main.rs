//! Sends spans and metrics of a few calls to a collector: one call is retried, one becomes a dead letter, and one
//! waits for a person. `OTEL_EXPORTER_OTLP_ENDPOINT` is the address of the collector, `http://localhost:4318` by
//! default.

mod calls;
mod export;

use anyhow::Context as _;

fn main() -> anyhow::Result<()> {
    let telemetry = export::start().context("the telemetry could not be set up")?;
    let runtime = tokio::runtime::Runtime::new()?;
    let made = runtime.block_on(calls::make(&telemetry.meter()));
    // Export the telemetry that is still buffered.
    telemetry.stop().context("not everything could be sent")?;
    made
}
