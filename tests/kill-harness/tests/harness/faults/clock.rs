//! Clocks that jump.

use std::fs;

use kill_harness::life::Life;
use toolwright::journal::State;

use crate::lives::{Process, in_state, settled, slow, slow_calls, until};

const HOUR: i64 = 3_600_000;

fn jumps(life: &Life, ahead: i64) {
    fs::write(life.folder.join("clock"), ahead.to_string()).unwrap();
}

/// Every lease lapses at once while its owner works: what may be repeated is repeated, what may not is indeterminate, and
/// whoever ran it is refused.
#[test]
fn a_clock_that_jumps_forward_runs_nothing_twice_that_may_happen_once() {
    let folder = tempfile::tempdir().unwrap();
    let life = Life { clock_jumps: true, ..slow(folder.path()) };
    let process = Process::start(&life);
    until("a slow call runs", || !slow_calls(&life).is_empty());
    jumps(&life, HOUR);
    assert_eq!(process.end().code(), Some(0));
    settled(&life);
}

/// Leases of before lie in the future, so what a killed process left is taken up later, and not lost.
#[test]
fn a_clock_that_jumps_back_delays_what_was_left_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let life = Life { clock_jumps: true, ..slow(folder.path()) };
    jumps(&life, HOUR);
    let process = Process::start(&life);
    until("a slow call runs", || !slow_calls(&life).is_empty());
    drop(process);
    let left = in_state(folder.path(), State::Running);
    assert!(!left.is_empty());
    jumps(&life, -HOUR);
    let life = Life { number: 2, works: 500, runs: 2, kill: None, ..life };
    assert_eq!(Process::start(&life).end().code(), Some(0));
    for record in left {
        let now = in_state(folder.path(), State::Running);
        assert!(now.iter().any(|it| it.id == record.id && it.epoch == record.epoch));
    }
    jumps(&life, 3 * HOUR);
    settled(&life);
}
