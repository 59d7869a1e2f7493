//! Exports `tracing` spans and metrics with the OpenTelemetry SDK, over OTLP by HTTP.

use opentelemetry::metrics::{Meter, MeterProvider as _};
use opentelemetry::trace::{TraceContextExt as _, TraceId, TracerProvider as _};
use opentelemetry_otlp::{MetricExporter, SpanExporter};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;

const NAME: &str = "telemetry-example";

/// The exporters of spans and metrics. They are shut down before the program ends, so that no data is lost.
pub struct Telemetry {
    spans: SdkTracerProvider,
    metrics: SdkMeterProvider,
}

pub fn start() -> anyhow::Result<Telemetry> {
    let resource = Resource::builder().with_service_name(NAME).build();
    let spans = SdkTracerProvider::builder()
        .with_batch_exporter(SpanExporter::builder().with_http().build()?)
        .with_resource(resource.clone())
        .build();
    let metrics = SdkMeterProvider::builder()
        .with_periodic_exporter(MetricExporter::builder().with_http().build()?)
        .with_resource(resource)
        .build();
    let layer = tracing_opentelemetry::layer().with_tracer(spans.tracer(NAME));
    // Spans of calls have level INFO. Those of the exporter itself have a lower level and are not exported.
    let subscriber = tracing_subscriber::registry().with(LevelFilter::INFO).with(layer);
    tracing::subscriber::set_global_default(subscriber)?;
    Ok(Telemetry { spans, metrics })
}

impl Telemetry {
    pub fn meter(&self) -> Meter {
        self.metrics.meter(NAME)
    }

    pub fn stop(self) -> anyhow::Result<()> {
        self.spans.shutdown()?;
        self.metrics.shutdown()?;
        Ok(())
    }
}

/// Returns the id of the current trace; `None` outside of a trace.
pub fn trace_id() -> Option<String> {
    let context = tracing::Span::current().context();
    let trace = context.span().span_context().trace_id();
    (trace != TraceId::INVALID).then(|| trace.to_string())
}
