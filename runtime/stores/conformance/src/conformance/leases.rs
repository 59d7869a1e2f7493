//! Rules about leases.

use std::sync::Arc;

use super::sample::*;
use toolwright_core::context::CallId;
use toolwright_journal::journal::{CommitError, Failure, Filter, Page, Store, Transition};

async fn check_fenced(store: &Arc<impl Store>, call: CallId, epoch: u64, why: &str) {
    match store.renew(call, epoch, time(99)).await {
        Ok(()) => panic!("a lease is renewed, although {why}"),
        Err(CommitError::Fenced { call: reported, epoch: by }) => {
            assert_eq!((reported, by), (call, epoch))
        }
        Err(other) => panic!("that {why} is reported as: {other}"),
    }
}

pub async fn a_lease_is_renewed_without_a_new_version(store: &Arc<impl Store>) {
    let before = running(store).await;
    let entries = history(store, before.id).await;
    for seconds in [60, 90, 45] {
        if let Err(error) = store.renew(before.id, before.epoch, time(seconds)).await {
            panic!("an owner cannot renew its lease: {error}");
        }
        let expected = before.clone().with(|it| it.lease = Some(time(seconds)));
        let found = got(store, before.id).await;
        assert_eq!(
            found,
            Some(expected),
            "a renewed lease changes more than the lease, or nothing"
        );
    }
    assert_eq!(history(store, before.id).await, entries, "a renewed lease is in the history");
}

pub async fn a_lease_is_renewed_by_its_epoch_alone(store: &Arc<impl Store>) {
    let record = running(store).await;
    check_fenced(store, record.id, record.epoch - 1, "its epoch is over").await;
    check_fenced(store, record.id, record.epoch + 1, "its epoch has not begun").await;
    assert_eq!(got(store, record.id).await, Some(record), "a late owner changes a call");
}

pub async fn a_call_that_does_not_run_has_no_lease_to_renew(store: &Arc<impl Store>) {
    let mut record = running(store).await;
    commit(store, calls([happening(&mut record, Transition::Succeeded)])).await;
    check_fenced(store, record.id, record.epoch, "the call has ended").await;
    let waiting = add(store, call("run")).await;
    check_fenced(store, waiting.id, waiting.epoch, "the call was never claimed").await;
    check_fenced(store, new_id(), 0, "there is no such call").await;
    for record in [record, waiting] {
        assert_eq!(
            got(store, record.id).await,
            Some(record),
            "a call that does not run gets a lease"
        );
    }
}

pub async fn a_renewed_lease_is_when_the_call_is_due(store: &Arc<impl Store>) {
    let record = running(store).await;
    let due = |seconds| Filter { due: Some(time(seconds)), ..Filter::default() };
    assert_eq!(
        list(store, &due(30), Page::first(9)).await,
        [record.id],
        "a lease that ended is not due"
    );
    if let Err(error) = store.renew(record.id, record.epoch, time(60)).await {
        panic!("an owner cannot renew its lease: {error}");
    }
    assert_eq!(
        list(store, &due(59), Page::first(9)).await,
        [],
        "a renewed lease is due before its end"
    );
    assert_eq!(
        list(store, &due(60), Page::first(9)).await,
        [record.id],
        "a lease that ended is not due"
    );
}

pub async fn a_lease_that_is_written_counts(store: &Arc<impl Store>) {
    let mut record = running(store).await;
    if let Err(error) = store.renew(record.id, record.epoch, time(60)).await {
        panic!("an owner cannot renew its lease: {error}");
    }
    record.lease = Some(time(40));
    commit(store, calls([revision(&mut record)])).await;
    let lease = got(store, record.id).await.and_then(|it| it.lease);
    assert_eq!(
        lease,
        Some(time(40)),
        "an earlier renewal counts more than what is written after it"
    );
    commit(store, calls([happening(&mut record, Transition::Succeeded)])).await;
    let lease = got(store, record.id).await.map(|it| it.lease);
    assert_eq!(lease, Some(None), "a call that has ended keeps a lease");
}

/// Takes a call over before and after its lease ends. A writer that takes a call over may have read the call before its
/// owner renewed the lease.
pub async fn a_call_is_taken_from_its_owner_when_its_lease_has_ended(store: &Arc<impl Store>) {
    let lost =
        |effect| Transition::Errored { failure: Failure::OwnerLost, effect, exhausted: false };
    let record = running(store).await;
    if let Err(error) = store.renew(record.id, record.epoch, time(60)).await {
        panic!("an owner cannot renew its lease: {error}");
    }
    let (event, owned) = (lost(record.effect), got(store, record.id).await);
    for now in [30, 59] {
        let write = happening(&mut record.clone(), event);
        match store.commit(unit([write], [document("of it", None, "")]), time(now)).await {
            Err(CommitError::Leased { call, until }) => {
                assert_eq!((call, until), (record.id, time(60)), "another lease is reported");
            }
            Ok(()) => panic!("a call is taken from an owner whose lease was renewed"),
            Err(other) => panic!("that the lease was renewed is reported as: {other}"),
        }
        assert_eq!(got(store, record.id).await, owned, "a call that is not taken is changed");
        assert_eq!(read(store, "of it").await, None, "a part of the unit is done");
    }
    let late = record.clone().with(|it| it.version = record.version + 1);
    let write = happening(&mut late.clone(), event);
    match store.commit(calls([write]), time(30)).await {
        Err(CommitError::Call { .. }) => {}
        other => panic!("a version that is not there is reported as: {other:?}"),
    }
    let write = happening(&mut record.clone(), event);
    if let Err(error) = store.commit(calls([write]), time(60)).await {
        panic!("a call whose lease has ended cannot be taken from its owner: {error}");
    }

    // The owner itself may end the call at any time.
    let mut record = running(store).await;
    commit(store, calls([happening(&mut record, Transition::Succeeded)])).await;
}
