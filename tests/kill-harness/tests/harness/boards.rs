//! Runners of a board that are killed: the short form, and proof that what is not so is found.

use std::fs::File;
use std::path::{Path, PathBuf};

use kill_harness::board::{BoardLife, BoardSetting, Finding, begin, check, kill_runners};

use crate::lives::PROGRAM;

#[test]
fn a_board_whose_runners_are_killed_has_every_ticket_worked_on_once_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let setting =
        BoardSetting { program: PathBuf::from(PROGRAM), folder: folder.path().to_owned() };
    let tally = kill_runners(&setting, 12, 5).unwrap();
    assert!(tally.is_good() && tally.kills() >= 12 && tally.in_model > 0, "{tally}");
}

fn found(folder: &Path) -> Vec<Finding> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(check(folder)).unwrap()
}

#[test]
fn a_ticket_that_another_works_on_and_what_was_lost_or_added_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let board = begin(folder).unwrap();
    // Another works on ticket 3.
    let lock = File::create(folder.join("lock-3")).unwrap();
    lock.try_lock().unwrap();
    let life = BoardLife { folder: folder.to_owned(), number: 1, kill: None };
    assert!(life.command(Path::new(PROGRAM)).unwrap().status().unwrap().success());
    assert_eq!(found(folder), [Finding::Twice(1)]);
    std::fs::remove_file(folder.join("twice")).unwrap();
    assert_eq!(found(folder), []);

    let rows = rusqlite::Connection::open(board.path()).unwrap();
    rows.execute("DELETE FROM comment WHERE ticket = 1 AND kind = 'completion'", []).unwrap();
    rows.execute(
        "INSERT INTO transition (ticket, from_state, to_state, reason, moved_by, moved_at) \
         VALUES (2, 'VERIFICATION', 'DONE', 'so', 'agent', 0)",
        [],
    )
    .unwrap();
    std::fs::remove_file(folder.join("worktrees/ticket-4/docs/ticket-4.md")).unwrap();
    let findings = found(folder);
    let of = |part: &str| findings.iter().filter(|it| it.to_string().starts_with(part)).count();
    assert_eq!(findings.len(), 3, "{findings:#?}");
    assert_eq!(of("lost: ticket 1: has the comments"), 1, "{findings:#?}");
    assert_eq!(of("unexplained transition: ticket 2"), 1, "{findings:#?}");
    assert_eq!(of("lost: ticket 4: its file"), 1, "{findings:#?}");
}
