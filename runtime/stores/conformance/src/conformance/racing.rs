//! Rules about races: of several tasks that write the same thing, exactly one succeeds.

use std::sync::Arc;

use futures::future::{join, join_all};
use tokio::sync::Barrier;
use tokio::task::{JoinError, yield_now};

use super::sample::*;
use toolwright_journal::journal::{
    CommitError, Failure, Filter, Page, State, Store, Transaction, Transition,
};

const TASKS: usize = 32;

/// Commits all transactions at the same time, each from a task of its own, and counts how many succeeded.
async fn race(store: &Arc<impl Store>, units: Vec<Transaction>) -> usize {
    let barrier = Arc::new(Barrier::new(units.len()));
    let tasks = units.into_iter().map(|unit| {
        let (store, barrier) = (Arc::clone(store), Arc::clone(&barrier));
        tokio::spawn(async move {
            barrier.wait().await;
            store.commit(unit, time(0)).await
        })
    });
    join_all(tasks.collect::<Vec<_>>()).await.into_iter().filter(has_won).count()
}

fn has_won(task: &Result<Result<(), CommitError>, JoinError>) -> bool {
    match task {
        Ok(Ok(())) => true,
        Ok(Err(error)) if error.is_conflict() => false,
        Ok(Err(error)) => panic!("a store fails where it should tell a conflict: {error}"),
        Err(error) => panic!("a store panics: {error}"),
    }
}

/// Lets other tasks run first, so that the rounds of a race differ.
async fn hesitate(times: usize) {
    for _ in 0..times {
        yield_now().await;
    }
}

pub async fn one_of_many_commits_of_a_version_wins(store: &Arc<impl Store>) {
    let mut record = add(store, call_at(place("run", 1, 0))).await;
    for round in 0..8 {
        let event = if round % 2 == 0 { Transition::Asked } else { Transition::Edited };
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
            "the winner's transaction is not complete"
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
    let all =
        list(store, &Default::default(), toolwright_journal::journal::Page::first(1_000)).await;
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

/// Reads the id of a journal in many tasks. All of them must get the same id, because a signed statement is valid only
/// in the journal that it names.
pub async fn all_of_many_find_one_id_of_the_journal(store: &Arc<impl Store>) {
    let barrier = Arc::new(Barrier::new(TASKS));
    let tasks = (0..TASKS).map(|_| {
        let (store, barrier) = (Arc::clone(store), Arc::clone(&barrier));
        tokio::spawn(async move {
            barrier.wait().await;
            store.id().await
        })
    });
    let mut ids = Vec::new();
    for task in join_all(tasks.collect::<Vec<_>>()).await {
        match task {
            Ok(Ok(id)) => ids.push(id),
            Ok(Err(error)) => panic!("the journal gives no id: {error}"),
            Err(error) => panic!("a task that looks for the id of the journal panicked: {error}"),
        }
    }
    let again = store.id().await.ok();
    assert!(ids.iter().all(|id| Some(id) == again.as_ref()), "a journal has several ids");
}

/// Opens calls of a run while another task ends the run. A writer that opens a call may have read earlier that the run
/// has not ended.
pub async fn no_call_is_opened_once_a_document_is_there_that_must_not_be(store: &Arc<impl Store>) {
    for round in 0..16 {
        let (run, ended) = (format!("run-{round}"), format!("run/run-{round}/ended"));
        let barrier = Arc::new(Barrier::new(TASKS + 1));
        let openings = (0..TASKS).map(|task| {
            let (store, barrier) = (Arc::clone(store), Arc::clone(&barrier));
            let unit = unit([opening(&call(&run))], [removal(&ended, None)]);
            tokio::spawn(async move {
                barrier.wait().await;
                hesitate(task % 4).await;
                store.commit(unit, time(0)).await
            })
        });
        let openings: Vec<_> = openings.collect();
        barrier.wait().await;
        hesitate(round % 8).await;
        commit(store, unit([], [document(&ended, None, "")])).await;
        let filter = Filter { run: Some(run), ..Filter::default() };
        let before = list(store, &filter, Page::first(1_000)).await;
        let opened = join_all(openings).await.into_iter().filter(has_won).count();
        let after = list(store, &filter, Page::first(1_000)).await;
        assert_eq!(
            after, before,
            "a call is opened on the condition that a document is not there, and it is"
        );
        assert_eq!(
            opened,
            after.len(),
            "not each opening that succeeded is there, or one that did not"
        );
    }
}

/// Takes over a call with an expired lease while the owner renews the lease.
pub async fn either_a_lease_is_renewed_or_its_call_is_taken(store: &Arc<impl Store>) {
    for round in 0..64 {
        let record = running(store).await;
        let (id, epoch, barrier) = (record.id, record.epoch, Arc::new(Barrier::new(2)));
        let lost = Transition::Errored {
            failure: Failure::OwnerLost,
            effect: record.effect,
            exhausted: false,
        };
        let unit = calls([happening(&mut record.clone(), lost)]);
        let (owner, sweeper) = (Arc::clone(store), Arc::clone(store));
        let (owners, sweepers) = (Arc::clone(&barrier), barrier);
        let renewing = tokio::spawn(async move {
            owners.wait().await;
            hesitate(round % 4).await;
            owner.renew(id, epoch, time(60)).await
        });
        let taking = tokio::spawn(async move {
            sweepers.wait().await;
            hesitate(round / 4 % 4).await;
            sweeper.commit(unit, time(30)).await
        });
        let (renewed, taken) = join(renewing, taking).await;
        match (has_won(&renewed), has_won(&taken)) {
            (true, true) => {
                panic!("a lease is renewed, and its call taken from its owner all the same")
            }
            (false, false) => panic!("a lease is not renewed, and its call is not taken either"),
            (renewed, _) => {
                let runs = got(store, id).await.is_some_and(|it| it.state == State::Running);
                assert_eq!(
                    runs, renewed,
                    "a renewal is reported that did not happen, or the other way round"
                );
            }
        }
    }
}

pub async fn commits_that_do_not_conflict_all_stand(store: &Arc<impl Store>) {
    let mut records: Vec<_> = (0..TASKS).map(|_| call("run")).collect();
    let units = records.iter().map(|record| calls([opening(record)]));
    assert_eq!(
        race(store, units.collect()).await,
        TASKS,
        "calls that have nothing in common conflict"
    );
    let units = records.iter_mut().map(|record| calls([happening(record, Transition::Asked)]));
    assert_eq!(
        race(store, units.collect()).await,
        TASKS,
        "calls that have nothing in common conflict"
    );
    for record in records {
        assert_eq!(got(store, record.id).await, Some(record), "a commit that succeeded is lost");
    }
}
