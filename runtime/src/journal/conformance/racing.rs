//! Many tasks that want the same: one gets it.

use std::sync::Arc;

use futures::future::join_all;
use tokio::sync::Barrier;

use super::sample::*;
use crate::journal::{Event, Store, Unit};

const TASKS: usize = 32;

/// Commits all units at once, each from a task of its own; how many won.
async fn race(store: &Arc<impl Store>, units: Vec<Unit>) -> usize {
    let barrier = Arc::new(Barrier::new(units.len()));
    let tasks = units.into_iter().map(|unit| {
        let (store, barrier) = (Arc::clone(store), Arc::clone(&barrier));
        tokio::spawn(async move {
            barrier.wait().await;
            store.commit(unit, time(0)).await
        })
    });
    let mut won = 0;
    for task in join_all(tasks.collect::<Vec<_>>()).await {
        match task {
            Ok(Ok(())) => won += 1,
            Ok(Err(error)) if error.is_conflict() => {}
            Ok(Err(error)) => panic!("a store fails where it should tell a conflict: {error}"),
            Err(error) => panic!("a commit panics: {error}"),
        }
    }
    won
}

pub async fn one_of_many_commits_of_a_version_wins(store: &Arc<impl Store>) {
    let mut record = added(store, call_at(place("run", 1, 0))).await;
    for round in 0..8 {
        let event = if round % 2 == 0 { Event::Asked } else { Event::Edited };
        let units = (0..TASKS).map(|task| {
            let mut copy = record.clone();
            copy.owner = Some(task.to_string());
            let mut write = happening(&mut copy, event);
            write.record.owner = Some(task.to_string());
            unit([write], [document(&format!("{round}/{task}"), None, "won")])
        });
        let won = race(store, units.collect()).await;
        assert_eq!(won, 1, "{won} of {TASKS} commits of one version win");
        let Some(found) = got(store, record.id).await else { panic!("the call is lost") };
        let owner = found.owner.clone().unwrap_or_default();
        let expected = vec![format!("{round}/{owner}")];
        assert_eq!(
            keys(store, &format!("{round}/")).await,
            expected,
            "the winner's unit is not whole"
        );
        let entries = history(store, record.id).await.len();
        assert_eq!(entries, round + 2, "a loser left an entry");
        record = found;
    }
}

pub async fn one_of_many_calls_gets_a_place(store: &Arc<impl Store>) {
    for turn in 0..8 {
        let units = (0..TASKS).map(|_| calls([opening(&call_at(place("run", turn, 0)))]));
        let won = race(store, units.collect()).await;
        assert_eq!(won, 1, "{won} of {TASKS} calls get one place");
    }
    let all = listed(store, &Default::default(), crate::journal::Page::first(1_000)).await;
    assert_eq!(all.len(), 8, "a loser left a call");
}

pub async fn one_of_many_makes_a_document(store: &Arc<impl Store>) {
    let units = (0..TASKS).map(|task| unit([], [document("one", None, &task.to_string())]));
    let won = race(store, units.collect()).await;
    assert_eq!(won, 1, "{won} of {TASKS} commits make one document");
    let units = (0..TASKS).map(|task| unit([], [document("one", Some(1), &task.to_string())]));
    let won = race(store, units.collect()).await;
    assert_eq!(won, 1, "{won} of {TASKS} commits change one version of a document");
    assert_eq!(
        read(store, "one").await.map(|it| it.version),
        Some(2),
        "a version is not counted once"
    );
}

pub async fn commits_that_do_not_conflict_all_stand(store: &Arc<impl Store>) {
    let mut records: Vec<_> = (0..TASKS).map(|_| call("run")).collect();
    let units = records.iter().map(|record| calls([opening(record)]));
    assert_eq!(
        race(store, units.collect()).await,
        TASKS,
        "calls of their own are in each other's way"
    );
    let units = records.iter_mut().map(|record| calls([happening(record, Event::Asked)]));
    assert_eq!(
        race(store, units.collect()).await,
        TASKS,
        "calls of their own are in each other's way"
    );
    for record in records {
        assert_eq!(got(store, record.id).await, Some(record), "a commit that succeeded is lost");
    }
}
