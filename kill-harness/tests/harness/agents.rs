//! Runs of an agent that are killed: the short form, and proof that a broken promise is found.

use std::path::PathBuf;
use std::time::Duration;

use kill_harness::Sqlite;
use kill_harness::agent::{AgentSetting, AgentTally, kill_agents};

use crate::lives::PROGRAM;

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
