//! Metrics of calls, as an exporter is given them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

use opentelemetry::metrics::MeterProvider as _;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};

use toolwright::approval::{ApprovalRequest, ApproverKey, Callback, Response};
use toolwright::journal::MemoryStore;
use toolwright::policy::{Policy, Rule};
use toolwright::retry::{Jitter, RetryPolicy};
use toolwright::{
    Call, ErrorClass, Executor, ExecutorBuilder, Footprint, Registry, ResourceKind, ToolError, tool,
};
use toolwright_middleware::{ReadCache, Reservations};

/// Fails as often as it is told to, and then works.
#[tool(name = "metric_flaky", effect = idempotent, writes())]
async fn flaky(
    tried: &AtomicU32,
    /// How often it fails.
    times: u32,
) -> Result<String, ToolError> {
    if tried.fetch_add(1, SeqCst) < times {
        return Err(ToolError::new("busy", "too busy").class(ErrorClass::Transient));
    }
    Ok("done".to_owned())
}

/// Sends money.
#[tool(name = "metric_pay", approval = "it sends money")]
async fn pay(
    /// To whom.
    to: String,
) {
    drop(to);
}

/// The points of each instrument: attributes and what was counted.
type Points = BTreeMap<String, Vec<String>>;

struct Metered {
    provider: SdkMeterProvider,
    exporter: InMemoryMetricExporter,
}

impl Metered {
    fn new() -> Self {
        let exporter = InMemoryMetricExporter::default();
        let provider = SdkMeterProvider::builder().with_periodic_exporter(exporter.clone()).build();
        Self { provider, exporter }
    }

    fn builder(&self) -> ExecutorBuilder {
        let even = RetryPolicy::TOOL.delay(Duration::from_millis(1)).jitter(Jitter::None);
        Executor::builder(Registry::of([FLAKY, PAY]).unwrap())
            .service(AtomicU32::new(0))
            .retry(even)
            .metrics(&self.provider.meter("test"))
    }

    fn points(&self) -> Points {
        self.provider.force_flush().unwrap();
        let mut points = Points::new();
        for exported in self.exporter.get_finished_metrics().unwrap() {
            for metric in exported.scope_metrics().flat_map(|scope| scope.metrics()) {
                let lines = match metric.data() {
                    AggregatedMetrics::U64(MetricData::Sum(sum)) => sum
                        .data_points()
                        .map(|it| line(it.attributes(), it.value()))
                        .collect::<Vec<_>>(),
                    AggregatedMetrics::F64(MetricData::Histogram(histogram)) => {
                        assert_eq!(metric.unit(), "s");
                        histogram
                            .data_points()
                            .map(|it| line(it.attributes(), it.count()))
                            .collect()
                    }
                    other => panic!("{other:?}"),
                };
                points.insert(metric.name().to_owned(), lines);
            }
        }
        points.values_mut().for_each(|lines| lines.sort());
        points
    }
}

fn line<'a>(attributes: impl Iterator<Item = &'a opentelemetry::KeyValue>, count: u64) -> String {
    let mut all: Vec<String> = attributes.map(|it| format!("{}={}", it.key, it.value)).collect();
    all.sort();
    format!("{} × {count}", all.join(" "))
}

#[tokio::test]
async fn durations_are_by_the_conventions_and_retries_by_tool_and_error() {
    let metered = Metered::new();
    let executor = metered.builder().unrestricted().build().unwrap();
    executor.call(&Call::new("metric_flaky", r#"{"times":"2"}"#)).await;
    executor.call(&Call::new("metric_flaky", r#"{"times":99}"#)).await;
    insta::assert_debug_snapshot!(metered.points());
}

#[tokio::test]
async fn judgements_decisions_waits_and_dead_letters_are_counted() {
    let metered = Metered::new();
    let ada = || ApproverKey::from_seed("ada", [1; 32]).unwrap();
    let approver = Callback::new(|request: &ApprovalRequest| {
        if request.arguments.contains("eve") {
            Response::Reject { reason: None }
        } else {
            Response::Approve
        }
    });
    let allow = Rule::allow("it is harmless").named("flaky").tool("metric_flaky");
    let executor = metered
        .builder()
        .policy(Policy::builder().rule(allow))
        .journal(MemoryStore::new())
        .approver(ada(), approver)
        .build()
        .unwrap();
    executor.call(&Call::new("metric_pay", r#"{"to":"bob"}"#)).await;
    executor.call(&Call::new("metric_pay", r#"{"to":"eve"}"#)).await;
    executor.call(&Call::new("metric_flaky", r#"{"times":99}"#)).await;
    insta::assert_debug_snapshot!(metered.points());
}

#[tokio::test]
async fn a_name_that_a_model_made_up_is_no_attribute() {
    let metered = Metered::new();
    let executor = metered.builder().unrestricted().build().unwrap();
    executor.call(&Call::new("made_up_7f3a", "{}")).await;
    let text = format!("{:?}", metered.points());
    assert!(text.contains("gen_ai.tool.name=_OTHER"), "{text}");
    assert!(!text.contains("made_up"), "{text}");
}

#[tokio::test]
async fn buckets_are_those_of_the_conventions() {
    let metered = Metered::new();
    let executor = metered.builder().unrestricted().build().unwrap();
    executor.call(&Call::new("metric_flaky", r#"{"times":0}"#)).await;
    metered.provider.force_flush().unwrap();
    let exported = metered.exporter.get_finished_metrics().unwrap();
    let metric = exported[0].scope_metrics().flat_map(|it| it.metrics()).next().unwrap();
    let AggregatedMetrics::F64(MetricData::Histogram(histogram)) = metric.data() else {
        panic!("{metric:?}")
    };
    let bounds_of_the_conventions =
        [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
    let bounds: Vec<f64> = histogram.data_points().next().unwrap().bounds().collect();
    assert_eq!(
        (metric.name(), &bounds[..]),
        ("gen_ai.execute_tool.duration", &bounds_of_the_conventions[..])
    );
}

/// Tells a page of a book.
#[tool(name = "metric_page", effect = read, reads(Book = title))]
async fn page(
    /// Which.
    title: String,
) -> String {
    title
}

struct Book;

impl ResourceKind for Book {
    const LABEL: &'static str = "book";
}

#[tokio::test]
async fn calls_that_are_refused_as_reserved_or_answered_from_the_cache_are_counted() {
    let metered = Metered::new();
    let reservations = Reservations::new();
    let executor = Executor::builder(Registry::of([PAGE]).unwrap())
        .metrics(&metered.provider.meter("test"))
        .retry(RetryPolicy::NONE)
        .unrestricted()
        .middleware(reservations.clone())
        .middleware(ReadCache::new())
        .build()
        .unwrap();
    let book = Footprint::nothing().writing::<Book>("emma");
    for is_reserved in [false, false, false, true] {
        if is_reserved {
            reservations.reserve("another run", &book).unwrap();
        }
        executor.call(&Call::new("metric_page", r#"{"title":"emma"}"#)).await;
    }
    let points = metered.points();
    assert_eq!(points["toolwright.cached"], ["gen_ai.tool.name=metric_page × 2"]);
    assert_eq!(points["toolwright.reserved"], ["gen_ai.tool.name=metric_page × 1"]);
}

/// Takes 30 milliseconds.
#[tool(name = "metric_doze", effect = read)]
async fn doze(
    /// Whether to fail then.
    fail: bool,
) -> Result<(), ToolError> {
    tokio::time::sleep(Duration::from_millis(30)).await;
    if fail { Err(ToolError::new("failed", "as told")) } else { Ok(()) }
}

#[tokio::test]
async fn a_duration_is_how_long_the_call_took_in_seconds() {
    let metered = Metered::new();
    let executor = Executor::builder(Registry::of([DOZE]).unwrap())
        .metrics(&metered.provider.meter("test"))
        .unrestricted()
        .build()
        .unwrap();
    let start = Instant::now();
    for arguments in [r#"{"fail":false}"#, r#"{"fail":true}"#] {
        executor.call(&Call::new("metric_doze", arguments)).await;
    }
    let most = start.elapsed().as_secs_f64();
    metered.provider.force_flush().unwrap();
    let exported = metered.exporter.get_finished_metrics().unwrap();
    let metric = exported[0].scope_metrics().flat_map(|it| it.metrics()).next().unwrap();
    let AggregatedMetrics::F64(MetricData::Histogram(histogram)) = metric.data() else {
        panic!("{metric:?}")
    };
    let sums: Vec<f64> = histogram.data_points().map(|it| it.sum()).collect();
    assert_eq!(sums.len(), 2, "one that completed and one that failed");
    for seconds in sums {
        assert!((0.029..=most).contains(&seconds), "{seconds} of {most}");
    }
}
