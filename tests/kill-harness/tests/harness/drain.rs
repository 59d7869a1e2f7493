//! An application that is told to end: `SIGTERM`.

use kill_harness::RELEASED;
use kill_harness::life::Life;
use kill_harness::marks::What;
use rustix::process::Signal;
use toolwright::Effect;
use toolwright::journal::{CallRecord, State};

use crate::lives::{Process, in_state, marks_of, records, settled, slow, slow_calls, until};

/// Begins slow calls and is told to end while they run.
fn told_to_end(life: &Life) -> Option<i32> {
    let process = Process::start(life);
    until("a slow call runs", || !slow_calls(life).is_empty());
    process.signal(Signal::TERM);
    process.end().code()
}

/// How many tools were begun, and how many of them are over.
fn begun_and_over(life: &Life) -> (usize, usize) {
    let marks = marks_of(life);
    let begun = marks.iter().filter(|mark| matches!(mark.what, What::Begun(_))).count();
    (begun, marks.iter().filter(|mark| matches!(mark.what, What::Left { .. })).count())
}

#[test]
fn what_runs_is_finished_within_the_grace_and_nothing_new_is_begun() {
    let folder = tempfile::tempdir().unwrap();
    let life = slow(folder.path());
    assert_eq!(told_to_end(&life), Some(0));
    let (begun, over) = begun_and_over(&life);
    assert_eq!(begun, over);
    assert_eq!(in_state(folder.path(), State::Running), []);
    settled(&life);
}

#[test]
fn what_does_not_finish_is_released_for_others() {
    let folder = tempfile::tempdir().unwrap();
    // A slow call takes one and a half leases.
    let life = Life { lease: 20_000, grace: 50, ..slow(folder.path()) };
    assert_eq!(told_to_end(&life), Some(RELEASED.into()));
    let (begun, over) = begun_and_over(&life);
    assert_eq!(begun, over);
    let begun: Vec<_> = marks_of(&life)
        .into_iter()
        .filter_map(|mark| match mark.what {
            What::Begun(attempt) => Some(attempt.call),
            _ => None,
        })
        .collect();
    let is_released =
        |it: &CallRecord| it.shown.contains("\"slow\"") && begun.contains(&it.id.to_string());
    let released: Vec<_> = records(folder.path()).into_iter().filter(is_released).collect();
    assert!(!released.is_empty());
    for record in released {
        // A person may have looked into it by now, and then it is judged again.
        let expected = match record.effect {
            Effect::Once => vec![State::Indeterminate, State::Judging],
            _ => vec![State::Ready],
        };
        assert!(expected.contains(&record.state) && record.answer.is_none(), "{record:?}");
    }
    // Another process takes them up at once: it does not wait for leases.
    settled(&Life { lease: 300, ..life });
}
