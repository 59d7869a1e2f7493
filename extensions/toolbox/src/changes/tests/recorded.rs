//! What the log records of calls, and what an undo makes of it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::{NOW, Place, call, named, written};
use crate::changes::plan::WantedChanges;
use crate::changes::undo::mark;

#[test]
fn each_undo_goes_back_one_change_further() {
    let mut place = Place::new();
    place.put("a", "0", 0o640);
    for content in ["1", "2", "3"] {
        place.write(1, "a", content);
    }
    for expected in ["2", "1", "0"] {
        place.reopen();
        place.undo("a", WantedChanges::Newest).unwrap();
        assert_eq!(place.file("a"), Some((expected.to_owned(), 0o640)));
    }
    let nothing = place.undo("a", WantedChanges::Newest).unwrap_err();
    assert_eq!(nothing.message(), "the log has no change of `a` in effect");
}

#[test]
fn an_undo_that_is_undone_leaves_what_was_there() {
    let place = Place::new();
    place.write(1, "a", "1");
    place.write(2, "a", "2");
    place.undo("a", WantedChanges::Newest).unwrap();
    let undo = place.changes("a").last().unwrap().number;
    assert_eq!(
        place.undo("a", WantedChanges::Change(undo)).unwrap(),
        format!("restored `a`: change {undo} by `undo_file` in turn 9 is undone")
    );
    assert_eq!(place.file("a").unwrap().0, "2");
    // The second change stands again.
    place.undo("a", WantedChanges::Newest).unwrap();
    assert_eq!(place.file("a").unwrap().0, "1");
}

#[test]
fn a_file_that_is_not_what_the_change_left_is_left_alone() {
    let place = Place::new();
    place.write(1, "a", "1");
    place.write(4, "a", "2");
    let [first, second] = [0, 1].map(|index| place.changes("a")[index].number);
    let refused = place.undo("a", WantedChanges::Change(first)).unwrap_err();
    assert_eq!(
        (refused.kind(), refused.message()),
        (
            "file_changed",
            &*format!(
                "`a` is not what change {first} by `write_file` in turn 1 left: change {second} by `write_file` in turn 4 came later; undo that one first"
            )
        )
    );
    place.put("a", "of a person", 0o644);
    let refused = place.undo("a", WantedChanges::Newest).unwrap_err();
    assert!(
        refused.message().ends_with("something that is not in the log changed it later"),
        "{refused}"
    );
    assert_eq!(place.file("a").unwrap().0, "of a person");
    // The mode belongs to what the change left.
    place.put("a", "2", 0o600);
    assert_eq!(place.undo("a", WantedChanges::Newest).unwrap_err().kind(), "file_changed");
}

#[test]
fn folders_are_made_and_removed_with_their_files() {
    let place = Place::new();
    place.write(1, "new/deep/a", "1");
    place.undo("new/deep/a", WantedChanges::Newest).unwrap();
    assert!(!place.path("new").exists());

    place.put("old/deep/a", "0", 0o600);
    fs::set_permissions(place.path("old"), fs::Permissions::from_mode(0o750)).unwrap();
    place.call(&call(1, "delete"), "old/deep/a", |_| {
        fs::remove_dir_all(place.path("old")).unwrap();
    });
    place.undo("old/deep/a", WantedChanges::Newest).unwrap();
    assert_eq!(place.file("old/deep/a"), Some(("0".to_owned(), 0o600)));
    assert_eq!(fs::metadata(place.path("old")).unwrap().permissions().mode() & 0o777, 0o750);
}

#[test]
fn a_folder_with_the_file_of_another_is_not_removed() {
    let place = Place::new();
    place.write(1, "new/a", "1");
    place.put("new/b", "of a person", 0o644);
    place.undo("new/a", WantedChanges::Newest).unwrap();
    assert!(!place.path("new/a").exists() && place.path("new/b").exists());
}

#[test]
fn a_mode_that_a_call_changed_is_restored() {
    let place = Place::new();
    place.put("a", "0", 0o644);
    place.call(&call(1, "make_executable"), "a", |_| place.put("a", "0", 0o755));
    assert_eq!(place.changes("a")[0].operation(), "changed the mode of");
    place.undo("a", WantedChanges::Newest).unwrap();
    assert_eq!(place.file("a"), Some(("0".to_owned(), 0o644)));
}

#[test]
fn a_link_that_is_written_through_stays_a_link() {
    let place = Place::new();
    place.put("real", "0", 0o644);
    symlink("real", place.path("link")).unwrap();
    place.write(1, "link", "1");
    assert_eq!((place.effective("link"), place.effective("real")), (0, 1));
    let meant = place.log.find_changed_name("link", None).unwrap();
    place.undo(meant.as_str(), WantedChanges::Newest).unwrap();
    assert_eq!(place.file("real").unwrap().0, "0");
    assert!(place.path("link").is_symlink());
}

#[test]
fn a_link_that_a_call_replaced_is_a_link_again() {
    let place = Place::new();
    place.put("real", "0", 0o644);
    symlink("real", place.path("link")).unwrap();
    place.call(&call(1, "replace"), "link", |_| {
        fs::remove_file(place.path("link")).unwrap();
        place.put("link", "1", 0o644);
    });
    place.undo("link", WantedChanges::Newest).unwrap();
    assert_eq!(fs::read_link(place.path("link")).unwrap().to_str(), Some("real"));
}

#[test]
fn a_call_that_is_run_again_logs_no_second_change() {
    let mut place = Place::new();
    place.put("a", "0", 0o644);
    let first = place.write(1, "a", "1");
    place.reopen();
    place.repeat(&first, "a", "1");
    assert_eq!(place.changes("a").len(), 1);
    place.undo("a", WantedChanges::Newest).unwrap();
    assert_eq!(place.file("a").unwrap().0, "0");
    // Run again after it was undone, it changes the file once more.
    place.repeat(&first, "a", "1");
    assert_eq!(place.effective("a"), 3);
    place.undo("a", WantedChanges::Newest).unwrap();
    assert_eq!(place.file("a").unwrap().0, "0");
}

#[test]
fn a_call_that_is_cut_short_and_run_again_is_one_change() {
    let mut place = Place::new();
    place.put("a", "0", 0o644);
    let first = call(1, "write_file");
    drop(place.log.begin(&first, &written("a"), NOW).unwrap());
    place.put("a", "half", 0o644);
    place.reopen();
    place.repeat(&first, "a", "1");
    assert_eq!(place.effective("a"), 1);
    place.undo("a", WantedChanges::Newest).unwrap();
    assert_eq!(place.file("a").unwrap().0, "0");
}

#[test]
fn a_call_that_was_cut_short_is_completed_before_the_next_one_writes() {
    let place = Place::new();
    place.put("a", "0", 0o644);
    drop(place.log.begin(&call(1, "write_file"), &written("a"), NOW).unwrap());
    place.write(2, "a", "1");
    drop(place.log.begin(&call(3, "write_file"), &written("a"), NOW).unwrap());
    place.put("a", "2", 0o644);
    place.write(4, "a", "3");
    let tools: Vec<_> = place
        .changes("a")
        .into_iter()
        .filter(|it| it.is_effective())
        .map(|it| it.call.turn)
        .collect();
    assert_eq!(tools, [Some(2), Some(3), Some(4)]);
    for expected in ["2", "1", "0"] {
        place.undo("a", WantedChanges::Newest).unwrap();
        assert_eq!(place.file("a").unwrap().0, expected);
    }
}

#[test]
fn what_a_running_call_may_still_write_is_not_undone() {
    let place = Place::new();
    place.write(1, "a", "1");
    let begun = place.log.begin(&call(2, "write_file"), &written("a"), NOW).unwrap();
    let refused = place.undo("a", WantedChanges::Newest).unwrap_err();
    assert_eq!(refused.kind(), "busy", "{refused}");
    drop(begun);
    place.undo("a", WantedChanges::Newest).unwrap();
    assert!(!place.path("a").exists());
}

/// Whichever of them began first.
#[test]
fn calls_that_overlap_are_undone_in_the_order_in_which_they_ended() {
    for is_first_first in [true, false] {
        let place = Place::new();
        place.put("a", "0", 0o644);
        let one = place.log.begin(&call(1, "write_file"), &written("a"), NOW).unwrap();
        let other = place.log.begin(&call(2, "write_file"), &written("a"), NOW).unwrap();
        let (sooner, later) = if is_first_first { (one, other) } else { (other, one) };
        place.put("a", "1", 0o644);
        place.log.finish(sooner).unwrap();
        place.put("a", "2", 0o644);
        place.log.finish(later).unwrap();
        for expected in ["1", "0"] {
            place.undo("a", WantedChanges::Newest).unwrap();
            assert_eq!(place.file("a").unwrap().0, expected);
        }
        assert_eq!(place.undo("a", WantedChanges::Newest).unwrap_err().kind(), "not_found");
    }
}

#[test]
fn what_another_program_wrote_after_a_killed_undo_is_not_its_effect() {
    let place = Place::new();
    place.put("a", "0", 0o644);
    place.write(1, "a", "1");
    let undo = place.log.begin(&call(2, "undo_file"), &written("a"), NOW).unwrap();
    let own = undo.change(&named("a")).unwrap();
    let first = &place.changes("a")[0];
    mark(&mut place.log.connection(), own, &[first]).unwrap();
    drop(undo);
    place.put("a", "of a person", 0o644);
    place.log.complete_cut_short(&named("a")).unwrap();
    let changes = place.changes("a");
    assert_eq!(changes[0].undone_by, None);
    assert!(changes.iter().all(|it| !it.is_undo), "{changes:?}");
}

#[test]
fn a_file_that_is_out_of_reach_does_not_hide_the_history_of_the_others() {
    let place = Place::new();
    place.write(1, "dir/a", "1");
    place.write(2, "b", "1");
    let list = || {
        let entries = place.log.history(None, 20, call(9, "file_history").id).unwrap();
        entries.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    fs::rename(place.path("dir"), place.path("old")).unwrap();
    symlink("/", place.path("dir")).unwrap();
    let history = list();
    assert!(history.contains("`dir/a`") && history.contains("`b`"), "{history}");
    // The state of this file would complete the change of an interrupted call.
    fs::remove_file(place.path("dir")).unwrap();
    fs::rename(place.path("old"), place.path("dir")).unwrap();
    drop(place.log.begin(&call(3, "write_file"), &written("dir/a"), NOW).unwrap());
    fs::rename(place.path("dir"), place.path("old")).unwrap();
    symlink("/", place.path("dir")).unwrap();
    let history = list();
    assert!(history.contains("still runs") && history.contains("`b`"), "{history}");
}

#[test]
fn an_undo_whose_log_fails_after_it_says_that_the_file_is_restored() {
    let place = Place::new();
    place.put("a", "0", 0o644);
    place.write(1, "a", "1");
    // The change that the undo makes cannot be completed: what it took back is still marked.
    place.log.connection().execute_batch(
        "CREATE TEMP TRIGGER fails BEFORE UPDATE OF after ON changes BEGIN SELECT RAISE(ABORT, 'disk full'); END",
    ).unwrap();
    let words = place.undo("a", WantedChanges::Newest).unwrap();
    assert!(words.starts_with("restored `a`") && words.contains("not recorded yet"), "{words}");
    assert_eq!(place.file("a").unwrap().0, "0");
}

#[test]
fn a_call_that_does_not_begin_leaves_what_an_earlier_attempt_recorded() {
    let place = Place::new();
    place.put("a", "0", 0o644);
    let first = call(1, "write_file");
    drop(place.log.begin(&first, &written("a"), NOW).unwrap());
    place.put("a", "1", 0o644);
    place.log.forget(place.log.begin(&first, &written("a"), NOW).unwrap());
    place.log.forget(place.log.begin(&call(2, "write_file"), &written("a"), NOW).unwrap());
    place.undo("a", WantedChanges::Newest).unwrap();
    assert_eq!(place.file("a").unwrap().0, "0");
}

#[test]
fn an_attempt_that_does_not_begin_leaves_what_the_next_attempt_continues() {
    let place = Place::new();
    let facts = call(1, "write_file");
    let [first, second] = [0, 1].map(|_| place.log.begin(&facts, &written("a"), NOW).unwrap());
    place.log.forget(first);
    place.put("a", "1", 0o644);
    place.log.finish(second).unwrap();
    assert_eq!(place.effective("a"), 1);
}

#[test]
fn a_call_that_changes_nothing_is_not_in_the_log() {
    let place = Place::new();
    place.put("a", "0", 0o644);
    place.write(1, "a", "0");
    assert_eq!(place.changes("a"), []);
    let contents: i64 = place
        .log
        .connection()
        .query_row(
            "SELECT (SELECT count(*) FROM contents) + (SELECT count(*) FROM calls)",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(contents, 0);
}

#[test]
fn the_log_is_for_its_owner_alone() {
    let place = Place::new();
    place.write(1, "a", "a secret");
    for end in ["", "-wal", "-shm"] {
        let file = format!("{}{end}", place.log.file().display());
        let mode = fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{end}");
    }
}

#[test]
fn a_turn_is_undone_from_its_newest_change_and_a_gap_ends_it() {
    let place = Place::new();
    place.put("a", "0", 0o644);
    place.write(1, "a", "1");
    place.write(1, "a", "2");
    let wanted = WantedChanges::Turn { run: "run", turn: 1 };
    let undone = place.log.undo(&call(9, "undo_turn"), &named("a"), wanted, NOW).unwrap();
    assert_eq!(
        (undone.words.as_str(), undone.rest),
        ("restored `a`: changes 2, 1 are undone", None)
    );
    assert_eq!(place.file("a").unwrap().0, "0");

    place.write(3, "a", "3");
    place.put("a", "of a person", 0o644);
    place.write(3, "a", "4");
    let wanted = WantedChanges::Turn { run: "run", turn: 3 };
    let undone = place.log.undo(&call(9, "undo_turn"), &named("a"), wanted, NOW).unwrap();
    assert!(undone.rest.unwrap().contains("is not what change"));
    assert_eq!(place.file("a").unwrap().0, "of a person");
}

#[test]
fn other_files_are_no_change_logs() {
    let place = Place::new();
    let other = place.around.path().join("other.db");
    rusqlite::Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE notes (text TEXT)")
        .unwrap();
    let workspace = place.log.0.workspace.clone();
    let refused = crate::ChangeLog::open(&other, workspace.clone()).unwrap_err();
    assert!(
        refused
            .to_string()
            .ends_with("is not a change log, expected one or an unused name; name another file"),
        "{refused}"
    );
    fs::write(&other, "no database at all, but a text that is long enough to be looked at")
        .unwrap();
    crate::ChangeLog::open(&other, workspace.clone()).unwrap_err();
    crate::ChangeLog::open(place.around.path().join("no/such/folder"), workspace).unwrap_err();
}
