//! Rules about acknowledging answers.

use std::sync::Arc;

use super::sample::*;
use toolwright_core::context::CallId;
use toolwright_journal::journal::{CommitError, Filter, Page, Store, Transition};

async fn acknowledge(store: &Arc<impl Store>, call: CallId) {
    if let Err(error) = store.acknowledge(call).await {
        panic!("an answer cannot be acknowledged: {error}");
    }
}

async fn listed_as(store: &Arc<impl Store>, delivered: bool) -> Vec<CallId> {
    let filter = Filter { delivered: Some(delivered), ..Filter::default() };
    list(store, &filter, Page::first(9)).await
}

pub async fn an_answer_is_acknowledged_without_a_new_version(store: &Arc<impl Store>) {
    let before = running(store).await;
    let entries = history(store, before.id).await;
    for _ in 0..2 {
        acknowledge(store, before.id).await;
        let expected = before.clone().with(|it| it.delivered = true);
        assert_eq!(
            got(store, before.id).await,
            Some(expected),
            "an acknowledgement changes more than that, or nothing"
        );
    }
    assert_eq!(history(store, before.id).await, entries, "an acknowledgement is in the history");
    assert_eq!(listed_as(store, true).await, [before.id], "a call is not listed as delivered");
    assert_eq!(listed_as(store, false).await, [], "a call is listed as not delivered");
}

pub async fn whoever_runs_a_call_keeps_it_when_it_is_acknowledged(store: &Arc<impl Store>) {
    let mut record = running(store).await;
    acknowledge(store, record.id).await;
    if let Err(error) = store.renew(record.id, record.epoch, time(60)).await {
        panic!("an owner cannot renew its lease after an acknowledgement: {error}");
    }
    // The owner commits without knowing of the acknowledgement.
    commit(store, calls([happening(&mut record, Transition::Succeeded)])).await;
    let expected = record.clone().with(|it| it.delivered = true);
    assert_eq!(got(store, record.id).await, Some(expected), "a commit undoes an acknowledgement");
    record.digest = "d2".to_owned();
    commit(store, calls([revision(&mut record)])).await;
    let expected = record.clone().with(|it| it.delivered = true);
    assert_eq!(got(store, record.id).await, Some(expected), "a commit undoes an acknowledgement");
    assert_eq!(listed_as(store, true).await, [record.id], "a call is not listed as delivered");
}

pub async fn a_call_that_is_not_there_cannot_be_acknowledged(store: &Arc<impl Store>) {
    let call = new_id();
    match store.acknowledge(call).await {
        Err(CommitError::NoCall { call: reported }) => {
            assert_eq!(reported, call, "another call is reported")
        }
        other => panic!("that there is no call is reported as: {other:?}"),
    }
    assert_eq!(got(store, call).await, None, "an acknowledgement makes a call");
}
