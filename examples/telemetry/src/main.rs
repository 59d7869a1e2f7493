//! Sends spans and metrics of a few calls to a collector: one that is tried again, one that dies, one that waits for a
//! person. Where the collector is, `OTEL_EXPORTER_OTLP_ENDPOINT` says; `http://localhost:4318` unless set.

mod calls;
mod export;

use anyhow::Context as _;

fn main() -> anyhow::Result<()> {
    let telemetry = export::start().context("the telemetry could not be set up")?;
    let runtime = tokio::runtime::Runtime::new()?;
    let made = runtime.block_on(calls::make(&telemetry.meter()));
    // What is not sent by now is sent here.
    telemetry.stop().context("not everything could be sent")?;
    made
}
