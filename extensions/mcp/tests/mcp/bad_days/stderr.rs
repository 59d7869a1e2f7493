//! The standard error of a server, as the log of the application has it.

use std::fmt;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use serde_json::json;
use tracing::field::Field;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing::{Dispatch, Event, Level, Metadata, Subscriber};

use crate::client::Application;

/// Collects the events of the log target of standard errors: the level, and each field with its value.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "toolwright_mcp::stderr"
    }

    fn event(&self, event: &Event<'_>) {
        assert_eq!(*event.metadata().level(), Level::INFO);
        event.record(&mut |field: &Field, value: &dyn fmt::Debug| {
            self.0.lock().unwrap().push(format!("{field}={value:?}"));
        });
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Sends this thread's events to the log, until the guard is dropped. Beside it are two subscribers that want nothing:
/// `tracing` remembers of each place in the code whether a subscriber wants it, and with one subscriber alone it asks only
/// the thread that comes there first, whose test may have none.
fn subscribed(log: &Log) -> DefaultGuard {
    static OTHERS: LazyLock<[Dispatch; 2]> =
        LazyLock::new(|| [(); 2].map(|()| Dispatch::new(NoSubscriber::new())));
    LazyLock::force(&OTHERS);
    tracing::subscriber::set_default(log.clone())
}

/// Operators filter by the target, and a line must not act on the terminal that shows the log.
#[tokio::test]
async fn a_line_of_a_servers_standard_error_goes_to_the_log_under_its_target() {
    let log = Log::default();
    let _subscribed = subscribed(&log);
    let application = Application::trusting();
    assert!(!application.call("peer__noise", json!({})).await.is_error());
    for _ in 0..400 {
        if !log.0.lock().unwrap().is_empty() {
            break;
        }
        // The line comes by another pipe than the answer.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let mut logged = log.0.lock().unwrap().clone();
    logged.sort();
    assert_eq!(logged, [r"message=no\u{1b}[2Jise", "server=\"peer\""]);
}
