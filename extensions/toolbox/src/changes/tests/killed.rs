//! A process that is killed at each step of a write or an undo: whatever it leaves, the next one can undo it.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use toolwright::CallId;
use toolwright::unstable::changes::ChangingCalls;

use super::{Place, call, open};
use crate::ChangeLimits;
use crate::changes::plan::WantedChanges;
use crate::changes::record::CallFacts;
use crate::footprint::WrittenFiles;
use crate::step::STEPS;
use crate::workspace::{After, Before, Change};

/// What the child does, and where.
const ACT: &str = "TOOLWRIGHT_TOOLBOX_ACT";
const AROUND: &str = "TOOLWRIGHT_TOOLBOX_AROUND";

/// Does what its parent asks for, and nothing where there is no parent.
#[test]
fn a_child_writes_and_undoes_what_its_parent_says() {
    let (Ok(act), Ok(around)) = (std::env::var(ACT), std::env::var(AROUND)) else { return };
    let around = Path::new(&around);
    let log = open(around, ChangeLimits::default());
    let name = super::named(NAME);
    if act == "undo" {
        log.undo(&call(2, "undo_file"), &name, WantedChanges::Newest, super::NOW).unwrap();
        return;
    }
    if act == "back" {
        log.taken_back(&taken(), &rewind(), super::NOW).unwrap();
        return;
    }
    let mut written = super::written(NAME);
    if act == "patch" {
        written.names.push(super::named(OTHER));
    }
    let begun = log.begin(&call(1, &act), &written, super::NOW).unwrap();
    match act.as_str() {
        // As a patch of two files is written.
        "patch" => {
            let (before, after) = (Before::Any, After::Content(b"after"));
            let changes =
                written.names.iter().map(|name| Change { name, before, after }).collect::<Vec<_>>();
            log.0.workspace.change(&changes).unwrap();
        }
        "delete" => fs::remove_dir_all(around.join("work/deep")).unwrap(),
        _ => {
            log.0.workspace.write(NAME, b"after").unwrap();
        }
    }
    log.finish(begun).unwrap();
    log.prune(super::NOW);
}

/// The second turn of the run.
fn taken() -> ChangingCalls {
    ChangingCalls { turns: vec![("run".to_owned(), 2)], calls: Vec::new() }
}

/// The call by which it is taken back, also by the next process.
fn rewind() -> CallFacts {
    let id = CallId::from_bytes([7; 16]);
    CallFacts { id, turn: None, place: None, ..call(0, "rewind") }
}

const NAME: &str = "deep/a";
const OTHER: &str = "new/b";

/// Runs the child, and says whether it came to its end.
fn ends(place: &Place, act: &str, steps: u32) -> bool {
    let child = "changes::tests::killed::a_child_writes_and_undoes_what_its_parent_says";
    let output = Command::new(std::env::current_exe().unwrap())
        .args([child, "--exact", "--nocapture"])
        .env(STEPS, steps.to_string())
        .env(ACT, act)
        .env(AROUND, place.around.path())
        .output()
        .unwrap();
    let killed = output.status.signal() == Some(9);
    assert!(killed || output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    !killed
}

/// Kills the child at each of its steps, and calls `check` after each.
fn at_each_step(act: &str, prepare: impl Fn(&Place), check: impl Fn(&Place)) -> u32 {
    for steps in 1..100 {
        let mut place = Place::new();
        prepare(&place);
        let ends = ends(&place, act, steps);
        place.reopen();
        check(&place);
        if ends {
            return steps - 1;
        }
    }
    panic!("`{act}` does not end");
}

const BEFORE: (&str, u32) = ("before", 0o640);

fn is(place: &Place, content: &str) -> bool {
    place.file(NAME).is_some_and(|(found, mode)| found == content && mode == BEFORE.1)
}

#[test]
fn a_write_that_is_killed_at_any_step_can_be_undone() {
    let steps = at_each_step(
        "write_file",
        |place| place.put(NAME, BEFORE.0, BEFORE.1),
        |place| {
            if is(place, "after") {
                place.undo(NAME, WantedChanges::Newest).unwrap();
            } else {
                assert_eq!(
                    place.undo(NAME, WantedChanges::Newest).unwrap_err().kind(),
                    "not_found"
                );
            }
            assert!(is(place, BEFORE.0), "{:?}", place.file(NAME));
        },
    );
    assert!(steps >= 8, "{steps} steps");
}

#[test]
fn a_file_that_is_made_by_a_call_that_is_killed_can_be_removed() {
    at_each_step(
        "write_file",
        |_| {},
        |place| {
            match place.path(NAME).exists() {
                true => drop(place.undo(NAME, WantedChanges::Newest).unwrap()),
                false => drop(place.undo(NAME, WantedChanges::Newest).unwrap_err()),
            }
            assert!(!place.path(NAME).exists());
        },
    );
}

#[test]
fn a_change_of_two_files_that_is_killed_at_any_step_can_be_undone() {
    let steps = at_each_step(
        "patch",
        |place| place.put(NAME, BEFORE.0, BEFORE.1),
        |place| {
            // The newest file first, and each as far as it was changed.
            for (name, is_changed) in
                [(OTHER, place.path(OTHER).exists()), (NAME, is(place, "after"))]
            {
                let wanted = WantedChanges::Turn { run: "run", turn: 1 };
                assert_eq!(place.undo(name, wanted).is_ok(), is_changed, "{name}");
            }
            assert!(is(place, BEFORE.0), "{:?}", place.file(NAME));
            assert!(!place.path(OTHER).exists());
        },
    );
    assert!(steps >= 10, "{steps} steps");
}

#[test]
fn a_deletion_that_is_killed_at_any_step_can_be_undone() {
    at_each_step(
        "delete",
        |place| place.put(NAME, BEFORE.0, BEFORE.1),
        |place| {
            if !place.path(NAME).exists() {
                place.undo(NAME, WantedChanges::Newest).unwrap();
            }
            assert!(is(place, BEFORE.0), "{:?}", place.file(NAME));
        },
    );
}

#[test]
fn an_undo_that_is_killed_at_any_step_is_done_or_can_be_done_again() {
    let steps = at_each_step(
        "undo",
        |place| {
            place.put(NAME, BEFORE.0, BEFORE.1);
            place.write(1, NAME, "after");
        },
        |place| {
            if is(place, "after") {
                place.undo(NAME, WantedChanges::Newest).unwrap();
            }
            assert!(is(place, BEFORE.0), "{:?}", place.file(NAME));
            // It is an undo: nothing stands, and it can be undone itself.
            assert_eq!(place.undo(NAME, WantedChanges::Newest).unwrap_err().kind(), "not_found");
            let changes = place.changes(NAME);
            let undo = changes.iter().rfind(|it| it.is_undo && it.is_effective()).unwrap();
            place.undo(NAME, WantedChanges::Change(undo.number)).unwrap();
            assert!(is(place, "after"), "{:?}", place.file(NAME));
        },
    );
    assert!(steps >= 8, "{steps} steps");
}

#[test]
fn an_undo_that_makes_folders_anew_can_be_killed_at_any_step() {
    at_each_step(
        "undo",
        |place| {
            place.put(NAME, BEFORE.0, BEFORE.1);
            place.call(&call(1, "delete"), NAME, |_| {
                fs::remove_dir_all(place.path("deep")).unwrap();
            });
        },
        |place| {
            if !place.path(NAME).exists() {
                place.undo(NAME, WantedChanges::Newest).unwrap();
            }
            assert!(is(place, BEFORE.0), "{:?}", place.file(NAME));
        },
    );
}

#[test]
fn a_turn_that_is_taken_back_by_a_process_that_is_killed_is_finished_by_the_next_or_done_again() {
    let again = |place: &Place| {
        place.log.taken_back(&taken(), &rewind(), super::NOW).unwrap();
        assert!(is(place, "first"), "{:?}", place.file(NAME));
        assert!(!place.path(OTHER).exists());
    };
    let steps = at_each_step(
        "back",
        |place| {
            place.put(NAME, BEFORE.0, BEFORE.1);
            place.write(1, NAME, "first");
            place.write(2, NAME, "second");
            place.write(2, OTHER, "other");
        },
        |place| {
            again(place);
            // Taken back itself, by the same means.
            let redo = ChangingCalls { turns: Vec::new(), calls: vec![rewind().id] };
            let by = CallFacts { id: CallId::from_bytes([8; 16]), ..rewind() };
            let redone = place.log.taken_back(&redo, &by, super::NOW).unwrap();
            assert_eq!(redone.restored.len(), 2, "{redone:?}");
            assert!(is(place, "second"), "{:?}", place.file(NAME));
            assert_eq!(place.file(OTHER).unwrap().0, "other");
        },
    );
    assert!(steps >= 16, "{steps} steps");
}

#[test]
fn a_turn_that_is_too_old_for_the_log_is_taken_back_as_a_whole() {
    let place =
        Place::with(ChangeLimits { age: Duration::from_secs(1), ..ChangeLimits::default() });
    let names = ["a", "b", "c"];
    for name in names {
        place.put(name, "earlier", 0o644);
    }
    let names_written = names.map(super::named).to_vec();
    let written = WrittenFiles { names: names_written, unnamed: None };
    let begun = place.log.begin(&call(2, "apply_patch"), &written, super::NOW).unwrap();
    for name in names {
        place.put(name, "later", 0o644);
    }
    place.log.finish(begun).unwrap();
    let done = place.log.taken_back(&taken(), &rewind(), super::NOW + 10_000).unwrap();
    assert_eq!(done.restored.len(), 3, "{done:?}");
    for name in names {
        assert_eq!(place.file(name).unwrap().0, "earlier", "{name}");
    }
}

#[test]
fn a_turn_is_taken_back_as_a_whole_or_not_at_all() {
    let place = Place::new();
    place.write(2, NAME, "second");
    place.write(2, OTHER, "other");
    place.put(OTHER, "by hand", 0o644);
    let refused = place.log.taken_back(&taken(), &rewind(), super::NOW).unwrap();
    assert!(refused.restored.is_empty(), "{refused:?}");
    assert_eq!(refused.refused.len(), 1);
    assert!(
        refused.refused[0].why.contains("`new/b` is not what change 2 by `write_file`"),
        "{refused:?}"
    );
    assert_eq!(place.file(NAME).unwrap().0, "second");
    place.put(OTHER, "other", 0o644);
    let done = place.log.taken_back(&taken(), &rewind(), super::NOW).unwrap();
    assert_eq!((done.restored.len(), done.recorded.len()), (2, 2), "{done:?}");
    assert!(!place.path(NAME).exists() && !place.path(OTHER).exists());
}
