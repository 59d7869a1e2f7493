//! Runs of an agent that are killed: the short form, and proof that a broken promise is found.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kill_harness::Sqlite;
use kill_harness::agent::{AgentLife, AgentSetting, AgentTally, Played, check, kill_agents};
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
    assert!(tally.is_good() && tally.kills() >= 20, "{tally}");
}

#[test]
fn an_answer_of_the_model_that_is_not_durable_before_its_calls_is_found() {
    let tally = killed(100, true);
    assert!(!tally.findings.is_empty(), "{tally}");
}

/// A process that is killed around the acknowledgement of a call, and one that goes on with its runs.
fn killed_around_an_acknowledgement(point: &str) {
    let folder = tempfile::tempdir().unwrap();
    let _errors = Errors(folder.path());
    let life = AgentLife { kill: Some((point.to_owned(), 1)), ..life(folder.path()) };
    let start =
        |life: &AgentLife| Process::of(life.command(Path::new(PROGRAM)).unwrap(), folder.path());
    assert_eq!(start(&life).end().signal(), Some(Signal::KILL.as_raw()));
    assert_eq!(start(&AgentLife { number: 2, kill: None, ..life.clone() }).end().code(), Some(0));
    let (findings, _) = with_store(folder.path(), |store| async move {
        let played = Played { seed: life.seed, runs: life.runs, kills: 1, is_alone: true };
        check(&life.folder, store, played).await.unwrap()
    });
    assert!(findings.is_empty(), "{findings:#?}");
}

#[test]
fn calls_are_acknowledged_by_the_next_process_where_the_first_is_killed_before_it() {
    killed_around_an_acknowledgement("before-acknowledgement");
}

#[test]
fn calls_are_acknowledged_once_where_the_process_is_killed_after_it() {
    killed_around_an_acknowledgement("after-acknowledgement");
}

fn life(folder: &Path) -> AgentLife {
    AgentLife {
        folder: folder.to_owned(),
        number: 1,
        seed: 5,
        runs: 6,
        kill: None,
        is_late: false,
        lease: 500,
        works: 60_000,
    }
}

/// Shows what the processes of a folder wrote, where the test fails.
pub struct Errors<'a>(pub &'a Path);

impl Drop for Errors<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", std::fs::read_to_string(self.0.join("errors")).unwrap_or_default());
            open(self.0).iter().for_each(|head| eprintln!("{head:?} waits for {:?}", head.waiting));
        }
    }
}

/// The runs of a folder that go on.
pub fn open(folder: &Path) -> Vec<Head> {
    with_store(folder, |store| async move {
        Runs::of(store).list_open().await.unwrap().into_iter().map(Result::unwrap).collect()
    })
}

#[test]
fn a_process_that_stands_still_for_longer_than_its_leases_loses_its_runs_and_runs_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let life = life(folder.path());
    let start =
        |life: &AgentLife| Process::of(life.command(Path::new(PROGRAM)).unwrap(), folder.path());
    let _errors = Errors(folder.path());
    let first = start(&life);
    until("it drives runs", || open(folder.path()).iter().any(|head| head.lease.is_some()));
    stopped_between_writes(&first, folder.path());
    let held = open(folder.path());
    let driven: Vec<&Head> = held.iter().filter(|head| head.lease.is_some()).collect();
    let second = start(&AgentLife { number: 2, ..life.clone() });
    until("its runs are taken", || {
        let now = open(folder.path());
        // One that goes on no more has ended.
        let is_taken = |head: &&Head| {
            now.iter().find(|it| it.run == head.run).is_none_or(|it| it.epoch > head.epoch)
        };
        driven.iter().all(is_taken)
    });
    first.signal(Signal::CONT);
    // It goes on for a while, beside the one that has its runs. Then both die, so that what they did not finish is settled.
    std::thread::sleep(Duration::from_secs(1));
    drop((first, second));
    let settles = start(&AgentLife { number: 3, works: 50_000, ..life.clone() });
    assert_eq!(settles.end().code(), Some(0));
    let checked = with_store(folder.path(), |store| async move {
        // Each run may have been asked for once more by each.
        let played = Played { seed: life.seed, runs: life.runs, kills: 3, is_alone: false };
        check(&life.folder, store, played).await.unwrap()
    });
    assert!(checked.0.is_empty(), "{:#?}", checked.0);
}
