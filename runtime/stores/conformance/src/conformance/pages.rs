//! Rules about pages of lists.

use std::sync::Arc;

use super::sample::*;
use toolwright_core::context::CallId;
use toolwright_journal::journal::{Filter, Page, State, Store};

fn id(number: u8) -> CallId {
    CallId::from_bytes([number; 16])
}

/// Adds calls in another order than that of their ids.
async fn shuffle(store: &Arc<impl Store>) -> Vec<CallId> {
    let order = [200, 3, 90, 15, 255, 127, 128, 1, 60, 61, 0];
    for number in order {
        let state = if number % 2 == 0 { State::Pending } else { State::Dead };
        let record = call("run").with(|it| {
            it.id = id(number);
            it.state = state;
        });
        add(store, record).await;
    }
    let mut ids: Vec<_> = order.into_iter().map(id).collect();
    ids.sort();
    ids
}

async fn page_by_page(store: &Arc<impl Store>, filter: &Filter, first: Page) -> Vec<CallId> {
    let (mut page, mut all) = (first, Vec::new());
    loop {
        let found = list(store, filter, page).await;
        assert!(found.len() <= page.limit, "a page of {} has {} calls", page.limit, found.len());
        let Some(last) = found.last() else { return all };
        page = page.after(*last);
        all.extend(found);
        assert!(all.len() < 1_000, "the pages do not end");
    }
}

pub async fn calls_are_listed_in_the_order_of_their_ids(store: &Arc<impl Store>) {
    let mut ids = shuffle(store).await;
    let filter = Filter::default();
    assert_eq!(
        list(store, &filter, Page::first(99)).await,
        ids,
        "calls are listed in another order"
    );
    ids.reverse();
    let latest = Page { latest_first: true, ..Page::first(99) };
    assert_eq!(list(store, &filter, latest).await, ids, "the latest calls are not listed first");
}

pub async fn pages_meet_without_gap_or_overlap(store: &Arc<impl Store>) {
    let mut ids = shuffle(store).await;
    for latest_first in [false, true] {
        for limit in [1, 2, 3, 11, 12] {
            let first = Page { latest_first, ..Page::first(limit) };
            let found = page_by_page(store, &Filter::default(), first).await;
            assert_eq!(found, ids, "pages of {limit} miss or repeat calls");
        }
        ids.reverse();
    }
    let none = list(store, &Filter::default(), Page::first(0)).await;
    assert_eq!(none, [], "a page of no calls has calls");
    let most = list(store, &Filter::default(), Page::first(usize::MAX)).await;
    assert_eq!(most, ids, "a page of all calls misses some");
}

pub async fn no_call_is_missed_while_others_are_added(store: &Arc<impl Store>) {
    let mut there = Vec::new();
    for _ in 0..20 {
        there.push(add(store, call("run").with(|it| it.state = State::Pending)).await.id);
    }
    let filter = Filter { states: vec![State::Pending, State::Ready], ..Filter::default() };
    let (mut page, mut seen) = (Page::first(3), Vec::new());
    while seen.len() < there.len() {
        let found = list(store, &filter, page).await;
        let Some(last) = found.last() else { panic!("the pages end before the last call") };
        page = page.after(*last);
        seen.extend(found);
        add(store, call("run").with(|it| it.state = State::Ready)).await;
    }
    assert_eq!(seen[..there.len()], there, "a call is missed or repeated while others are added");
}

pub async fn a_page_begins_after_a_call_that_is_not_there(store: &Arc<impl Store>) {
    let ids = shuffle(store).await;
    let after = Page::first(99).after(id(100));
    let found = list(store, &Filter::default(), after).await;
    let expected: Vec<_> = ids.iter().copied().filter(|it| *it > id(100)).collect();
    assert_eq!(found, expected, "a page does not begin after the id that is named");
    let before = Page { latest_first: true, ..after };
    let found = list(store, &Filter::default(), before).await;
    let expected: Vec<_> = ids.iter().copied().rev().filter(|it| *it < id(100)).collect();
    assert_eq!(found, expected, "a page, latest first, does not begin before the id that is named");
}

pub async fn a_filter_counts_on_every_page(store: &Arc<impl Store>) {
    let ids = shuffle(store).await;
    let even = ids.iter().copied().filter(|it| it.as_bytes()[0] % 2 == 0);
    let mut even: Vec<_> = even.collect();
    let filters = [
        Filter { states: vec![State::Pending], ..Filter::default() },
        Filter { states: vec![State::Planned, State::Pending], ..Filter::default() },
        Filter {
            states: vec![State::Pending],
            run: Some("run".to_owned()),
            tool: Some("read_file".to_owned()),
            text: Some("{".to_owned()),
            ..Filter::default()
        },
    ];
    for latest_first in [false, true] {
        for filter in &filters {
            for limit in [1, 2, 5] {
                let first = Page { latest_first, ..Page::first(limit) };
                let found = page_by_page(store, filter, first).await;
                assert_eq!(found, even, "pages of {limit} by {filter:?} miss or repeat calls");
            }
        }
        even.reverse();
    }
}
