//! Rules about summaries of calls.

use std::sync::Arc;

use super::sample::*;
use toolwright_journal::journal::{CallSummary, Filter, Page, State, Store, Transition};

async fn summarize(store: &Arc<impl Store>, filter: &Filter, page: Page) -> Vec<CallSummary> {
    match store.summaries(filter, page).await {
        Ok(found) => found.calls,
        Err(error) => panic!("calls cannot be summarized: {error}"),
    }
}

async fn all(store: &Arc<impl Store>) -> Vec<CallSummary> {
    summarize(store, &Filter::default(), Page::first(1_000)).await
}

pub async fn a_summary_says_what_its_record_says(store: &Arc<impl Store>) {
    let mut expected = Vec::new();
    for (number, state) in State::ALL.into_iter().enumerate() {
        let record = call("run").with(|it| {
            it.state = state;
            it.version = 1 + number as u64;
            it.ask = Some(ask(time(100)));
            it.not_before = (number % 2 == 0).then(|| time(200));
            it.lease = (state == State::Running).then(|| time(300));
        });
        expected.push(CallSummary::of(&add(store, record).await));
    }
    assert_eq!(all(store).await, expected, "summaries are not those of their records");
    let mut record = add(store, call("run")).await;
    for event in [Transition::Asked, Transition::Approved, Transition::Claimed] {
        commit(store, calls([happening(&mut record, event)])).await;
        let found = all(store).await.last().copied();
        assert_eq!(found, Some(CallSummary::of(&record)), "a summary is of an earlier version");
    }
}

pub async fn a_summary_follows_a_renewed_lease(store: &Arc<impl Store>) {
    let record = running(store).await;
    if let Err(error) = store.renew(record.id, record.epoch, time(60)).await {
        panic!("a lease cannot be renewed: {error}");
    }
    let found: Vec<_> = all(store).await.into_iter().map(|it| (it.version, it.due)).collect();
    assert_eq!(
        found,
        [(record.version, Some(time(60)))],
        "a summary does not say when a renewed lease ends"
    );
}

pub async fn summaries_are_those_of_the_calls_that_a_filter_takes(store: &Arc<impl Store>) {
    let mut records = Vec::new();
    for number in 0..24_u32 {
        let record = call(["one", "two"][number as usize % 2]).with(|it| {
            it.tool = ["read", "write"][number as usize / 2 % 2].to_owned();
            it.digest = format!("d{}", number / 4 % 2);
            it.state = [State::Pending, State::Ready, State::Succeeded][number as usize / 8];
            it.ask = Some(ask(time(100 + i64::from(number))));
            it.created = time(i64::from(number));
            it.shown = if number % 3 == 0 { "Äpfel" } else { "pears" }.to_owned();
        });
        records.push(add(store, record).await);
    }
    let none = Filter::default;
    let filters = [
        Filter { states: vec![State::Pending], ..none() },
        Filter { states: vec![State::Ready, State::Pending], ..none() },
        Filter { states: vec![State::Pending], run: Some("one".to_owned()), ..none() },
        Filter { states: vec![State::Pending], tool: Some("write".to_owned()), ..none() },
        Filter { states: vec![State::Pending], due: Some(time(103)), ..none() },
        Filter { run: Some("two".to_owned()), digest: Some("d1".to_owned()), ..none() },
        Filter { text: Some("Äpfel".to_owned()), ..none() },
        Filter { created_before: Some(time(9)), ..none() },
    ];
    for filter in filters {
        let taken = records.iter().filter(|it| filter.takes(it));
        let expected: Vec<_> = taken.map(CallSummary::of).collect();
        assert!(!expected.is_empty(), "a rule is written wrongly: nothing is taken by {filter:?}");
        let found = summarize(store, &filter, Page::first(1_000)).await;
        assert_eq!(found, expected, "other calls are summarized than {filter:?} takes");
    }
}

pub async fn summaries_come_in_the_pages_of_a_list(store: &Arc<impl Store>) {
    let mut ids = Vec::new();
    // The due times of these calls are in another order than their ids.
    for number in 0..23_i64 {
        let state = if number % 4 == 3 { State::Ready } else { State::Pending };
        let deadline = time(100 + number * 7 % 23);
        let record = call("run").with(|it| {
            it.state = state;
            it.ask = Some(ask(deadline));
        });
        ids.push(add(store, record).await.id);
    }
    for states in [vec![], vec![State::Pending], vec![State::Pending, State::Ready]] {
        let filter = Filter { states, ..Filter::default() };
        for latest_first in [false, true] {
            let mut page = Page { latest_first, ..Page::first(5) };
            loop {
                let expected = list(store, &filter, page).await;
                let found = summarize(store, &filter, page).await;
                let found: Vec<_> = found.into_iter().map(|it| it.id).collect();
                assert_eq!(found, expected, "a page of summaries is not the page of the list");
                match found.last() {
                    Some(last) => page = page.after(*last),
                    None => break,
                }
            }
        }
    }
    assert_eq!(summarize(store, &Filter::default(), Page::first(0)).await, []);
}
