//! Processes that stand still for longer than their leases count.

use kill_harness::life::Life;
use rustix::process::Signal;
use toolwright::journal::{Failure, State, Transition};

use crate::lives::{
    Process, in_state, settled, slow, slow_calls, stopped_between_writes, until, with_store,
};

/// Another process takes its calls; when it goes on, its results are refused.
#[test]
fn the_calls_of_a_process_that_stands_still_are_taken_up_and_its_late_results_refused() {
    let folder = tempfile::tempdir().unwrap();
    let life = Life { works: 60_000, runs: 30, ..slow(folder.path()) };
    let first = Process::start(&life);
    stop(&first, &life);
    let held = in_state(folder.path(), State::Running);
    assert!(!held.is_empty());
    let second = Life { number: 2, works: 3_000, runs: 1, kill: None, ..life.clone() };
    let second = Process::start(&second);
    until("its calls are taken up", || {
        let running = in_state(folder.path(), State::Running);
        !running.iter().any(|now| held.iter().any(|it| it.id == now.id && it.epoch == now.epoch))
    });
    first.signal(Signal::CONT);
    first.signal(Signal::TERM);
    assert_eq!((first.end().code(), second.end().code()), (Some(0), Some(0)));
    for record in &held {
        let history =
            with_store(
                folder.path(),
                |store| async move { store.history(record.id).await.unwrap() },
            );
        let lost =
            |event| matches!(event, Some(Transition::Errored { failure: Failure::OwnerLost, .. }));
        assert!(history.iter().any(|entry| lost(entry.event)), "{history:#?}");
    }
    settled(&Life { number: 2, ..life });
}

/// Stops a process while a slow call runs.
fn stop(process: &Process, life: &Life) {
    until("a slow call runs", || !slow_calls(life).is_empty());
    stopped_between_writes(process, &life.folder);
}
