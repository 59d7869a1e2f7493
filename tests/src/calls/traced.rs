//! Every decision of an executor can be recorded, and replayed with the same result.

use std::fmt;
use std::sync::{Arc, Mutex};

use toolwright::Call;
use toolwright::unstable::lifecycle::{TARGET, TraceRefusal, replay};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::support::*;
use crate::support::subscribed;

/// A call that was asked about, approved, and run by another worker, as it was recorded.
const STORED: &str = include_str!("traced/approved.jsonl");

/// Keeps the steps of decisions.
#[derive(Clone, Default)]
struct Steps(Arc<Mutex<Vec<String>>>);

impl Visit for Steps {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "step" {
            self.0.lock().unwrap().push(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

impl Subscriber for Steps {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == TARGET
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The decisions on a call that is asked about, approved, and run.
async fn approved() -> Vec<String> {
    let (office, steps) = (office(), Steps::default());
    let guard = subscribed(steps.clone());
    let executor = office.builder().record_content().build().unwrap();
    let call = suspended(executor.submit(&a_refund()).await).call;
    office.approve(call).await.unwrap();
    let outcome = executor.worker().unwrap().resume(call).await;
    drop(guard);
    assert_eq!(answered(outcome).text(), "refunded 100 for A-1");
    let steps = steps.0.lock().unwrap();
    steps.clone()
}

/// The numbers of the steps that committed something, but for the last: without it a trace is only shorter.
fn committed(steps: &[&str]) -> Vec<usize> {
    let commits = |step: &str| {
        let step: serde_json::Value = serde_json::from_str(step).unwrap();
        !step["step"]["commit"].is_null()
    };
    let mut committed: Vec<usize> = (0..steps.len()).filter(|at| commits(steps[*at])).collect();
    committed.pop();
    committed
}

#[tokio::test]
async fn the_decisions_on_a_call_are_recorded_and_replayed() {
    let steps = approved().await;
    assert_eq!(replay(&steps.join("\n")).map(|last| last.is_some()), Ok(true), "{steps:#?}");
    let lines: Vec<&str> = steps.iter().map(String::as_str).collect();
    assert_eq!(committed(&lines).len(), 2, "{steps:#?}");
}

#[test]
fn a_stored_trace_is_decided_as_it_was() {
    assert_eq!(replay(STORED).map(|last| last.is_some()), Ok(true));
}

#[test]
fn a_trace_with_a_step_removed_is_refused() {
    let steps: Vec<&str> = STORED.lines().collect();
    let committed = committed(&steps);
    assert_eq!(committed.len(), 2);
    for missing in committed {
        let mut cut = steps.clone();
        cut.remove(missing);
        let refused = replay(&cut.join("\n")).expect_err("a step is missing");
        let is_named =
            matches!(refused, TraceRefusal::Missing { .. } | TraceRefusal::Beginning { .. });
        assert!(is_named, "without step {missing}: {refused}");
    }
}

#[test]
fn a_step_that_was_changed_is_refused() {
    let changed = STORED.replacen("\"effect\":\"once\"", "\"effect\":\"read\"", 1);
    assert_ne!(changed, STORED);
    let refused = replay(&changed).expect_err("the step is another");
    assert!(matches!(refused, TraceRefusal::Otherwise { step: 1, .. }), "{refused}");
}

#[test]
fn a_trace_of_a_newer_version_is_refused_with_a_sentence() {
    let newer = STORED.replacen("{\"format\":1,", "{\"format\":2,", 1);
    assert_eq!(
        replay(&newer).expect_err("it is newer").to_string(),
        "step 1 of the trace has format 2, and this version reads format 1: update"
    );
    // What a newer version knows of a history, this one does not guess.
    let newer = STORED.replace("\"event\":\"approved\"", "\"event\":\"co_approved\"");
    assert_ne!(newer, STORED);
    let refused = replay(&newer).expect_err("no such transition is known");
    assert!(matches!(refused, TraceRefusal::Unreadable { .. }), "{refused}");
}

#[tokio::test]
async fn no_trace_holds_a_secret() {
    let (office, steps) = (office(), Steps::default());
    let guard = subscribed(steps.clone());
    let key = toolwright::journal::SealingKey::generate().unwrap();
    let executor = office
        .builder()
        .journal(office.parking().sealing_key(key))
        .record_content()
        .build()
        .unwrap();
    let arguments = r#"{"site":"bank","password":"hunter2"}"#;
    let call = suspended(executor.submit(&Call::new("kept_sign_in", arguments)).await).call;
    office.approve_unseen(call).await.unwrap();
    let outcome = executor.worker().unwrap().resume(call).await;
    drop(guard);
    assert_eq!(answered(outcome).text(), "signed in with hunter2");
    let steps = steps.0.lock().unwrap().join("\n");
    assert_eq!(replay(&steps).map(|last| last.is_some()), Ok(true));
    assert!(steps.contains("bank") && !steps.contains("hunter2"), "{steps}");
}

#[tokio::test]
async fn decisions_are_recorded_only_where_content_is() {
    let (office, steps) = (office(), Steps::default());
    let guard = subscribed(steps.clone());
    suspended(office.executor().submit(&a_refund()).await);
    drop(guard);
    assert!(steps.0.lock().unwrap().is_empty());
}
