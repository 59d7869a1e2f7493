//! An in-memory store with a bound.

use std::num::NonZeroUsize;

use toolwright::journal::{
    CallRecord, CallWrite, Filter, MemoryStore, Page, ParentCall, State, Store, Transaction,
};

use super::support::{call, now};

fn bounded(ended: usize) -> MemoryStore {
    MemoryStore::bounded(NonZeroUsize::new(ended).unwrap())
}

async fn commit(store: &MemoryStore, calls: Vec<CallWrite>) {
    store.commit(Transaction { calls, documents: Vec::new() }, now()).await.unwrap();
}

async fn turns(store: &MemoryStore) -> Vec<u64> {
    let calls = store.list(&Filter::default(), Page::first(1000)).await.unwrap().calls;
    calls.iter().filter_map(|call| call.place.turn).collect()
}

async fn record(store: &MemoryStore, number: u64) -> Option<CallRecord> {
    store.get(call(number, State::Ready).record.id).await.unwrap()
}

#[tokio::test]
async fn the_oldest_ended_calls_are_dropped_with_their_histories_and_slots() {
    let store = bounded(2);
    for number in 1..=4 {
        commit(&store, vec![call(number, State::Succeeded)]).await;
    }
    assert_eq!(turns(&store).await, [3, 4]);
    let first = call(1, State::Succeeded);
    assert_eq!(store.get(first.record.id).await.unwrap(), None);
    assert_eq!(store.history(first.record.id).await.unwrap(), []);
    assert_eq!(store.at(&first.record.place).await.unwrap(), None);
    // Its slot is free: a call that arrives there is a new one.
    commit(&store, vec![first]).await;
    assert_eq!(turns(&store).await, [1, 4]);
}

#[tokio::test]
async fn open_waiting_and_indeterminate_calls_are_never_dropped() {
    let store = bounded(1);
    let open: Vec<State> = State::ALL.into_iter().filter(|state| !state.is_answered()).collect();
    assert!(open.contains(&State::Pending) && open.contains(&State::Indeterminate));
    for (number, state) in (1..).zip(&open) {
        commit(&store, vec![call(number, *state)]).await;
    }
    for number in 100..110 {
        commit(&store, vec![call(number, State::Failed)]).await;
    }
    let mut left: Vec<u64> = (1..).take(open.len()).collect();
    left.push(109);
    assert_eq!(turns(&store).await, left);
}

#[tokio::test]
async fn a_call_that_waited_long_is_not_dropped_the_moment_it_ends() {
    let store = bounded(2);
    commit(&store, vec![call(1, State::Pending)]).await;
    commit(&store, vec![call(2, State::Succeeded), call(3, State::Succeeded)]).await;
    let ended = record(&store, 1).await.unwrap().with(|it| {
        it.version += 1;
        it.state = State::Rejected;
    });
    commit(&store, vec![CallWrite { expects: Some(1), record: ended, entries: vec![] }]).await;
    assert_eq!(turns(&store).await, [1, 3]);
}

#[tokio::test]
async fn a_store_without_a_bound_drops_nothing() {
    let store = MemoryStore::new();
    for number in 1..=500 {
        commit(&store, vec![call(number, State::Succeeded)]).await;
    }
    assert_eq!(turns(&store).await.len(), 500);
}

#[tokio::test]
async fn the_answer_of_a_child_is_held_until_its_parent_has_ended() {
    let store = bounded(1);
    let parent = call(1, State::Waiting).record;
    let child = CallWrite {
        record: call(2, State::Succeeded)
            .record
            .with(|it| it.parent = Some(ParentCall { call: parent.id, index: 0 })),
        ..call(2, State::Succeeded)
    };
    commit(&store, vec![call(1, State::Waiting), child]).await;
    for number in 3..=6 {
        commit(&store, vec![call(number, State::Succeeded)]).await;
    }
    assert!(record(&store, 2).await.is_some());
    let ended = parent.with(|it| {
        it.version += 1;
        it.state = State::Succeeded;
    });
    commit(&store, vec![CallWrite { expects: Some(1), record: ended, entries: vec![] }]).await;
    for number in 7..=9 {
        commit(&store, vec![call(number, State::Succeeded)]).await;
    }
    assert!(record(&store, 2).await.is_none());
}
