//! The short form of the harness, and proof that it finds what it looks for.

use std::path::PathBuf;
use std::time::Duration;

use kill_harness::Sqlite;
use kill_harness::broken::Break;
use kill_harness::harness::{Tally, run};
use kill_harness::world::Setting;

use crate::lives::PROGRAM;

fn killed(kills: u64, processes: usize, breaks: Option<Break>) -> Tally {
    let folder = tempfile::tempdir().unwrap();
    let setting = Setting {
        program: PathBuf::from(PROGRAM),
        folder: folder.path().to_owned(),
        processes,
        breaks,
        lease: Duration::from_millis(300),
    };
    run(&setting, kills, 7, 2, &Sqlite).unwrap()
}

#[test]
fn an_application_that_is_killed_keeps_every_promise() {
    let tally = killed(60, 1, None);
    assert!(tally.is_good() && tally.kills() >= 60, "{tally}");
}

#[test]
fn two_processes_on_one_journal_that_are_killed_and_stopped_keep_every_promise() {
    let tally = killed(30, 2, None);
    assert!(tally.is_good() && tally.kills() >= 30, "{tally}");
}

#[test]
fn a_late_owner_whose_result_is_taken_is_found() {
    found(Break::Fence);
}

#[test]
fn a_claim_that_is_not_durable_is_found() {
    found(Break::WriteAhead);
}

#[test]
fn a_commit_that_ignores_the_version_is_found() {
    found(Break::Cas);
}

#[test]
fn a_lease_that_is_not_renewed_is_found() {
    found(Break::Renew);
}

#[test]
fn a_second_result_that_is_taken_for_a_call_carried_out_elsewhere_is_found() {
    found(Break::Supply);
}

#[track_caller]
fn found(promise: Break) {
    let tally = killed(400, promise.processes(), Some(promise));
    assert!(!tally.checked.findings.is_empty(), "{promise}: {tally}");
}
