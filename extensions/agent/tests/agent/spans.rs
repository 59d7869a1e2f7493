//! A run as a collector of traces sees it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex};

use toolwright_agent::{ModelAnswer, ModelError, ScriptedModel, Usage};
use tracing::Dispatch;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::NoSubscriber;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::{LookupSpan, Registry};

use crate::support::{Log, agent, run};

type Fields = BTreeMap<&'static str, String>;

/// The fields of each span, and the name of the one that it is in.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<(u64, Fields)>>>);

struct Put<'a>(&'a mut Fields);

impl Visit for Put<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl<S: tracing::Subscriber + for<'l> LookupSpan<'l>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::new();
        attributes.record(&mut Put(&mut fields));
        let span = context.span(id).unwrap();
        fields.insert("name", span.name().to_owned());
        if let Some(parent) = span.parent() {
            fields.insert("parent", parent.name().to_owned());
        }
        self.0.lock().unwrap().push((id.into_u64(), fields));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let mut spans = self.0.lock().unwrap();
        let span = spans.iter_mut().rev().find(|it| it.0 == id.into_u64()).unwrap();
        values.record(&mut Put(&mut span.1));
    }
}

/// Two more subscribers, which want nothing and live as long as the program: `tracing` remembers of each place in the code
/// whether anybody wants it, and beside a single subscriber asks only the thread that comes there first, whose test may have
/// none.
fn ask_every_subscriber() {
    static OTHERS: LazyLock<[Dispatch; 2]> =
        LazyLock::new(|| [(); 2].map(|()| Dispatch::new(NoSubscriber::new())));
    LazyLock::force(&OTHERS);
}

/// The spans of one message to a model of this script, in the order in which they began.
fn spans(model: ScriptedModel) -> Vec<Fields> {
    ask_every_subscriber();
    let spans = Spans::default();
    let guard = tracing::subscriber::set_default(Registry::default().with(spans.clone()));
    let mut run = run(agent(&Log::default(), model));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _ = runtime.block_on(run.send("What is it?"));
    drop(guard);
    spans.0.lock().unwrap().iter().map(|it| it.1.clone()).collect()
}

#[test]
fn requests_and_calls_are_spans_below_that_of_their_run() {
    let call = toolwright::provider::ToolCall {
        id: Some("c1".to_owned()),
        name: "add".to_owned(),
        arguments: r#"{"a":1,"b":2}"#.to_owned(),
    };
    let first = ModelAnswer::new("", vec![call]).usage(Usage::new(20, 5).cached(12));
    let found = spans(ScriptedModel::new().answers(first).says("3"));
    let names: Vec<_> = found.iter().map(|it| (it["name"].as_str(), it.get("parent"))).collect();
    let below = Some("invoke_agent".to_owned());
    let below = below.as_ref();
    let expected =
        [("invoke_agent", None), ("chat", below), ("execute_tool", below), ("chat", below)];
    assert_eq!(names, expected);
    let fields = |span: &Fields, keys: &[&str]| -> Vec<String> {
        keys.iter().map(|key| span.get(key).cloned().unwrap_or_default()).collect()
    };
    assert_eq!(
        fields(
            &found[0],
            &["otel.name", "gen_ai.agent.name", "toolwright.run.ended", "error.type"]
        ),
        ["invoke_agent agent", "agent", "text", ""]
    );
    assert_eq!(
        fields(
            &found[1],
            &[
                "gen_ai.provider.name",
                "gen_ai.usage.input_tokens",
                "gen_ai.usage.cache_read.input_tokens",
                "gen_ai.usage.output_tokens",
                "gen_ai.response.finish_reasons"
            ]
        ),
        ["anthropic", "20", "12", "5", "[\"tool_calls\"]"]
    );
    assert_eq!(fields(&found[3], &["gen_ai.response.finish_reasons"]), ["[\"stop\"]"]);
    // What was said is in none of them.
    assert!(!format!("{found:?}").contains("What is it"), "{found:?}");
}

#[test]
fn a_model_that_fails_is_an_error_of_its_request_and_of_the_run() {
    let error = ModelError::new("quota_spent", "there is nothing left");
    let found = spans(ScriptedModel::new().fails(error));
    let errors: Vec<_> = found
        .iter()
        .map(|it| (it["error.type"].as_str(), it["otel.status_code"].as_str()))
        .collect();
    assert_eq!(errors, [("quota_spent", "ERROR"), ("quota_spent", "ERROR")]);
    assert_eq!(found[0]["toolwright.run.ended"], "model_failed");
}

#[test]
fn requests_are_measured_by_model_and_error_and_tokens_by_their_kind() {
    use opentelemetry::metrics::MeterProvider as _;
    use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
    use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};

    let exporter = InMemoryMetricExporter::default();
    let provider = SdkMeterProvider::builder().with_periodic_exporter(exporter.clone()).build();
    let meter = provider.meter("test");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    for model in [
        ScriptedModel::new().answers(ModelAnswer::text("3").usage(Usage::new(20, 5))),
        ScriptedModel::new().fails(ModelError::new("quota_spent", "there is nothing left")),
    ] {
        let mut run = run(agent(&Log::default(), model).metrics(&meter));
        let _ = runtime.block_on(run.send("What is it?"));
    }
    provider.force_flush().unwrap();
    let mut points = Vec::new();
    for exported in exporter.get_finished_metrics().unwrap() {
        for metric in exported.scope_metrics().flat_map(|scope| scope.metrics()) {
            let mut point = |attributes: Vec<String>, what: String| {
                let attributes = attributes.join(" ");
                points.push(format!("{} {attributes}: {what}", metric.name()));
            };
            let words = |attributes: &mut dyn Iterator<Item = &opentelemetry::KeyValue>| {
                let mut words: Vec<String> = attributes
                    .filter(|it| matches!(it.key.as_str(), "error.type" | "gen_ai.token.type"))
                    .map(|it| it.value.to_string())
                    .collect();
                words.sort();
                words
            };
            match metric.data() {
                AggregatedMetrics::F64(MetricData::Histogram(histogram)) => histogram
                    .data_points()
                    .for_each(|it| point(words(&mut it.attributes()), it.count().to_string())),
                AggregatedMetrics::U64(MetricData::Histogram(histogram)) => histogram
                    .data_points()
                    .for_each(|it| point(words(&mut it.attributes()), it.sum().to_string())),
                other => panic!("{other:?}"),
            }
        }
    }
    points.sort();
    assert_eq!(
        points,
        [
            "gen_ai.client.operation.duration : 1",
            "gen_ai.client.operation.duration quota_spent: 1",
            "gen_ai.client.token.usage input: 20",
            "gen_ai.client.token.usage output: 5",
        ]
    );
}
