//! Rules about calls that cannot be read: all other calls must stay readable.

use std::sync::Arc;

use super::Damage;
use super::sample::*;
use toolwright_core::context::CallId;
use toolwright_journal::journal::{
    CallPage, CallRecord, Filter, Page, State, Store, StoreError, StoreErrorKind, Transition,
};

/// The calls of a store, of which the first, the third and the last are damaged.
struct Field {
    damaged: Vec<CallRecord>,
    whole: Vec<CallRecord>,
}

async fn field<S: Store>(store: &Arc<S>, damage: &Damage<S>) -> Field {
    let (mut damaged, mut whole) = (Vec::new(), Vec::new());
    for number in 0..7_u8 {
        let record = call_at(place("run", 1, u32::from(number))).with(|it| {
            it.id = CallId::from_bytes([number + 1; 16]);
            it.state = State::Pending;
            it.ask = Some(ask(time(10)));
        });
        let record = add(store, record).await;
        if [0, 2, 6].contains(&number) {
            damage(store, record.id).await;
            damaged.push(record);
        } else {
            whole.push(record);
        }
    }
    Field { damaged, whole }
}

fn ids(records: &[CallRecord]) -> Vec<CallId> {
    records.iter().map(|record| record.id).collect()
}

async fn page(store: &Arc<impl Store>, filter: &Filter, page: Page) -> CallPage<CallRecord> {
    match store.list(filter, page).await {
        Ok(listed) => listed,
        Err(error) => panic!("a damaged call stops a list: {error}"),
    }
}

fn names_it(error: &StoreError, call: CallId) {
    let is_named = error.to_string().contains(&call.to_string());
    assert!(is_named, "the error of a damaged call does not name it: {error}");
    let is_damage = matches!(error.kind(), StoreErrorKind::Corrupt | StoreErrorKind::Newer);
    assert!(is_damage, "a damaged call is reported as {}", error.kind());
}

pub async fn a_damaged_call_is_listed_as_damaged_and_hides_no_other<S: Store>(
    store: &Arc<S>,
    damage: &Damage<S>,
) {
    let field = field(store, damage).await;
    let pending = Filter {
        states: vec![State::Pending],
        run: Some("run".to_owned()),
        due: Some(time(10)),
        ..Filter::default()
    };
    for filter in [Filter::default(), pending] {
        let found = page(store, &filter, Page::first(99)).await;
        assert_eq!(ids(&found.calls), ids(&field.whole), "a damaged call hides others");
        let damaged: Vec<_> = found.damaged.iter().map(|it| it.id).collect();
        assert_eq!(damaged, ids(&field.damaged), "damaged calls are not reported");
        found.damaged.iter().for_each(|it| names_it(&it.error, it.id));
        assert_eq!(found.next, None, "a page that is not full is not the last");
    }
}

pub async fn damaged_calls_end_no_walk_through_the_pages<S: Store>(
    store: &Arc<S>,
    damage: &Damage<S>,
) {
    let field = field(store, damage).await;
    for (limit, latest_first) in [(1, false), (2, false), (3, true), (7, false), (1, true)] {
        let mut next = Page { latest_first, ..Page::first(limit) };
        let (mut calls, mut damaged) = (Vec::new(), Vec::new());
        loop {
            let found = page(store, &Filter::default(), next).await;
            assert!(found.len() <= limit, "a page of {limit} has {} calls", found.len());
            calls.extend(ids(&found.calls));
            damaged.extend(found.damaged.iter().map(|it| it.id));
            assert!(calls.len() + damaged.len() < 99, "the pages do not end");
            match found.next {
                Some(last) => next = next.after(last),
                None => break,
            }
        }
        if latest_first {
            calls.reverse();
            damaged.reverse();
        }
        assert_eq!(calls, ids(&field.whole), "pages of {limit} miss or repeat calls");
        assert_eq!(damaged, ids(&field.damaged), "pages of {limit} miss or repeat damaged calls");
    }
}

pub async fn a_damaged_call_is_refused_by_its_id<S: Store>(store: &Arc<S>, damage: &Damage<S>) {
    let field = field(store, damage).await;
    for record in &field.damaged {
        for found in [store.get(record.id).await, store.at(&record.place).await] {
            match found {
                Err(error) => names_it(&error, record.id),
                Ok(_) => panic!("a damaged call is read, or is not there"),
            }
        }
    }
    for record in &field.whole {
        let found = got(store, record.id).await;
        assert!(found.as_ref() == Some(record), "a call beside a damaged one does not come back");
        let found = stood_at(store, &record.place).await;
        assert!(found.as_ref() == Some(record), "a call beside a damaged one is not at its place");
        assert_eq!(history(store, record.id).await.len(), 1, "a history is not there");
    }
}

pub async fn a_damaged_call_leaves_the_summaries_of_others<S: Store>(
    store: &Arc<S>,
    damage: &Damage<S>,
) {
    let field = field(store, damage).await;
    let found = match store.summaries(&Filter::default(), Page::first(99)).await {
        Ok(found) => found,
        Err(error) => panic!("a damaged call stops the summaries: {error}"),
    };
    // A store may make a summary without the record, so a damaged call may have a summary.
    let others = found.calls.iter().map(|it| it.id);
    let others: Vec<_> = others.filter(|id| !ids(&field.damaged).contains(id)).collect();
    assert_eq!(others, ids(&field.whole), "a damaged call hides the summaries of others");
    let seen = found.calls.iter().map(|it| it.id).chain(found.damaged.iter().map(|it| it.id));
    assert_eq!(seen.count(), 7, "a damaged call is neither summarized nor reported");
}

pub async fn calls_beside_a_damaged_one_go_on<S: Store>(store: &Arc<S>, damage: &Damage<S>) {
    let mut field = field(store, damage).await;
    let mut record = field.whole.remove(0);
    commit(store, calls([happening(&mut record, Transition::Approved)])).await;
    assert!(got(store, record.id).await.as_ref() == Some(&record), "a change is not there");
    let running = running(store).await;
    damage(store, field.whole.remove(0).id).await;
    if let Err(error) = store.renew(running.id, running.epoch, time(60)).await {
        panic!("a lease cannot be renewed beside a damaged call: {error}");
    }
    if let Err(error) = store.acknowledge(running.id).await {
        panic!("an answer cannot be acknowledged beside a damaged call: {error}");
    }
    add(store, call("run")).await;
}
