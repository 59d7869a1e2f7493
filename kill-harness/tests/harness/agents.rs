//! Runs of an agent that are killed: the short form, and proof that a broken promise is found.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kill_harness::Sqlite;
use kill_harness::agent::{AgentLife, AgentSetting, AgentTally, check, kill_agents};
use rustix::process::Signal;
use toolwright_agent::durable::{Head, Runs};

use crate::lives::{PROGRAM, Process, stopped_between_writes, until, with_store};

fn killed(kills: u64, breaks_write_ahead: bool) -> AgentTally {
    let folder = tempfile::tempdir().unwrap();
    let setting = AgentSetting {
        program: PathBuf::from(PROGRAM),
        folder: folder.path().to_owned(),
        breaks_write_ahead,
        lease: Duration::from_millis(300),
    };
    kill_agents(&setting, kills, 3, &Sqlite).unwrap()
}

#[test]
fn runs_whose_processes_are_killed_end_with_sound_histories_and_run_nothing_twice() {
    let tally = killed(20, false);
    assert!(tally.findings.is_empty() && tally.kills() >= 20, "{tally}");
}

#[test]
fn an_answer_of_the_model_that_is_not_durable_before_its_calls_is_found() {
    let tally = killed(100, true);
    assert!(!tally.findings.is_empty(), "{tally}");
}

/// The runs of a folder that go on.
fn open(folder: &Path) -> Vec<Head> {
    with_store(folder, |store| async move {
        Runs::of(store).open().await.unwrap().into_iter().map(Result::unwrap).collect()
    })
}

#[test]
fn a_process_that_stands_still_for_longer_than_its_leases_loses_its_runs_and_runs_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let life = AgentLife {
        folder: folder.path().to_owned(),
        number: 1,
        seed: 5,
        runs: 6,
        kill: None,
        is_late: false,
        lease: 500,
        works: 60_000,
    };
    let start =
        |life: &AgentLife| Process::of(life.command(Path::new(PROGRAM)).unwrap(), folder.path());
    let first = start(&life);
    until("it drives runs", || open(folder.path()).iter().any(|head| head.lease.is_some()));
    stopped_between_writes(&first, folder.path());
    let held = open(folder.path());
    let second = start(&AgentLife { number: 2, ..life.clone() });
    assert_eq!(second.end().code(), Some(0), "it takes all runs to their ends");
    let ends = with_store(folder.path(), |store| async move {
        let runs = Runs::of(store);
        futures::future::join_all((0..6).map(|run| {
            let runs = runs.clone();
            async move { runs.head(&format!("run-{run}")).await.unwrap() }
        }))
        .await
    });
    let driven = held.iter().filter(|head| head.lease.is_some());
    for head in driven {
        let end = ends.iter().find(|it| it.run == head.run).unwrap();
        assert!(end.epoch > head.epoch, "{} was taken", head.run);
    }
    first.signal(Signal::CONT);
    // It finds nothing to do, or its person was about to decide what the other one has decided.
    assert!(matches!(first.end().code(), Some(0 | 2)), "it ends by itself");
    let checked = with_store(folder.path(), |store| async move {
        let now = Runs::of(Arc::clone(&store));
        for end in &ends {
            assert_eq!(now.head(&end.run).await.unwrap(), *end, "the late process wrote something");
        }
        // Each run may have been asked for once more.
        check(&life.folder, store, life.seed, life.runs, 1).await.unwrap()
    });
    assert!(checked.0.is_empty(), "{:#?}", checked.0);
}
