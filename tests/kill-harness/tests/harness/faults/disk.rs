//! Disks that are full, fail, or are slow: under the process of an application stands a library that says so for the
//! files of the journal, and for nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use kill_harness::agent::{AgentLife, Played, check};
use kill_harness::life::Life;
use kill_harness::marks::{self, What};

use crate::agents::{Errors, open};
use crate::lives::{PROGRAM, Process, marks_of, settled, until, with_store};

/// The library, made by the C compiler that the bundled SQLite needs as well.
fn library(folder: &Path) -> PathBuf {
    let library = folder.join("faulty_disk.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/harness/faults/disk.c");
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &source])
        .arg("-ldl")
        .status()
        .unwrap();
    assert!(made.success());
    library
}

/// A life whose disk does as it is told for a while.
fn lived(fault: &str) -> (tempfile::TempDir, Life) {
    let folder = tempfile::tempdir().unwrap();
    let life = Life { works: 3_000, runs: 60, ..Life::new(folder.path(), 23) };
    let (library, control) = (library(folder.path()), folder.path().join("disk"));
    let process =
        Process::start_with(&life, &[("LD_PRELOAD", &library), ("FAULTY_DISK", &control)]);
    let noted = || {
        let marks = marks_of(&life);
        marks.iter().filter(|mark| matches!(mark.what, What::Noted { .. })).count()
    };
    until("some calls are answered", || noted() > 5);
    fs::write(&control, fault).unwrap();
    if fault == "slow" {
        // Nothing fails; some commits take longer than a lease.
        std::thread::sleep(std::time::Duration::from_millis(1_500));
    } else {
        until("the fault is told", || !told(&life).is_empty());
    }
    fs::remove_file(&control).unwrap();
    let before = noted();
    until("calls are answered again", || noted() > before);
    assert_eq!(process.end().code(), Some(0));
    (folder, life)
}

fn told(life: &Life) -> String {
    let errors = fs::read_to_string(life.folder.join("errors")).unwrap_or_default();
    let told = errors.lines().filter(|line| line.starts_with("error:"));
    told.collect::<Vec<_>>().join("\n")
}

#[test]
fn on_a_full_disk_calls_are_not_run_and_it_is_told_so() {
    let (_folder, life) = lived("full");
    assert!(told(&life).contains("has no room left"), "{}", told(&life));
    settled(&life);
}

#[test]
fn on_a_disk_that_does_not_write_calls_are_not_run_and_it_is_told_so() {
    let (_folder, life) = lived("write");
    assert!(told(&life).contains("disk I/O error"), "{}", told(&life));
    settled(&life);
}

#[test]
fn on_a_disk_that_does_not_sync_calls_are_not_run_and_it_is_told_so() {
    let (_folder, life) = lived("sync");
    assert!(told(&life).contains("disk I/O error"), "{}", told(&life));
    settled(&life);
}

#[test]
fn on_a_disk_that_is_slower_than_leases_nothing_runs_twice_that_may_happen_once() {
    let (_folder, life) = lived("slow");
    settled(&life);
}

/// What processes of runs did outside: how often tools acted.
fn acted(folder: &Path) -> usize {
    let marks = marks::read(folder).unwrap();
    marks.iter().filter(|mark| matches!(mark.what, What::Acted(_))).count()
}

#[test]
fn on_a_full_disk_runs_of_an_agent_stop_with_its_error_and_go_on_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let life = AgentLife {
        folder: folder.to_owned(),
        number: 1,
        seed: 29,
        runs: 6,
        kill: None,
        is_late: false,
        lease: 300,
        works: 50_000,
    };
    let (library, control) = (library(folder), folder.join("disk"));
    let mut command = life.command(Path::new(PROGRAM)).unwrap();
    command.env("LD_PRELOAD", &library).env("FAULTY_DISK", &control);
    let _errors = Errors(folder);
    let process = Process::of(command, folder);
    until("some tools have acted", || acted(folder) > 3);
    fs::write(&control, "full").unwrap();
    let stopped = || {
        let errors = fs::read_to_string(folder.join("errors")).unwrap_or_default();
        let is_stopped =
            |it: &&str| it.starts_with("note: run-") && it.contains("has no room left");
        errors.lines().filter(is_stopped).count()
    };
    until("a run stops", || stopped() > 0);
    // What had begun comes to its end, however slow the machine is; nothing else begins.
    let mut before = acted(folder);
    until("no tool acts any more", || {
        sleep(Duration::from_millis(400));
        let now = acted(folder);
        now == std::mem::replace(&mut before, now)
    });
    assert!(!open(folder).is_empty());
    fs::remove_file(&control).unwrap();
    assert_eq!(process.end().code(), Some(0));
    assert!(acted(folder) > before && open(folder).is_empty());
    let (findings, _) = with_store(folder, |store| async move {
        // An answer of the model for which there was no room is asked for again, once for each run.
        let played = Played { seed: life.seed, runs: life.runs, kills: 1, is_alone: false };
        check(&life.folder, store, played).await.unwrap()
    });
    assert!(findings.is_empty(), "{findings:#?}");
}
