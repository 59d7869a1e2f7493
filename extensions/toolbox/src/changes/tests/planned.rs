//! What an undo decides, for chains of changes without files.

use toolwright::ToolContext;

use crate::changes::plan::{Refusal, Wanted, plan};
use crate::changes::rows::{CallOf, Change, mark_undone};
use crate::workspace::{Name, State, Unrecorded};

fn state(hash: &str) -> State {
    State::File { hash: hash.to_owned(), size: 1, mode: 0o644 }
}

/// A chain of changes, each from one content to the next, with the marks of undos among them.
fn chain(contents: &[(&str, &str, u64)], marks: &[(i64, i64)]) -> Vec<Change> {
    let changes = contents.iter().zip(1..).map(|((before, after, turn), number)| Change {
        number,
        call: CallOf {
            id: ToolContext::test().call_id(),
            run: Some("run".to_owned()),
            turn: Some(*turn),
            place: None,
            tool: "tool".to_owned(),
            began: number,
        },
        name: Name::parse("a").unwrap(),
        before: state(before),
        after: (*after != "?").then(|| state(after)),
        above: Vec::new(),
        is_undo: marks.iter().any(|(_, by)| *by == number),
        undone_by: None,
    });
    let mut changes: Vec<Change> = changes.collect();
    mark_undone(&mut changes, marks);
    changes
}

fn planned(changes: &[Change], wanted: Wanted<'_>, now: &str) -> Result<Vec<i64>, String> {
    match plan(changes, wanted, &state(now)) {
        Ok(plan) => Ok(plan.changes.iter().map(|it| it.number).collect()),
        Err(refusal) => Err(refusal.kind().to_owned()),
    }
}

#[test]
fn an_undo_of_an_undo_lets_the_change_stand_again() {
    let contents = [("0", "1", 1), ("1", "0", 2), ("0", "1", 3)];
    let undone = |marks: &[(i64, i64)]| -> Vec<Option<i64>> {
        chain(&contents, marks).iter().map(|it| it.undone_by).collect()
    };
    assert_eq!(undone(&[(1, 2)]), [Some(2), None, None]);
    assert_eq!(undone(&[(1, 2), (2, 3)]), [None, Some(3), None]);
    // An undo that changed nothing takes nothing back.
    let void = chain(&[("0", "1", 1), ("1", "1", 2)], &[(1, 2)]);
    assert_eq!(void[0].undone_by, None);
}

#[test]
fn the_newest_change_that_stands_is_taken_back_first() {
    let changes = chain(&[("0", "1", 1), ("1", "2", 1), ("2", "1", 2)], &[(2, 3)]);
    assert_eq!(planned(&changes, Wanted::Newest, "1"), Ok(vec![1]));
    assert_eq!(planned(&changes, Wanted::Change(2), "1"), Err("already_undone".to_owned()));
    assert_eq!(planned(&changes, Wanted::Change(3), "1"), Ok(vec![3]));
    assert_eq!(planned(&changes, Wanted::Change(7), "1"), Err("not_found".to_owned()));
    assert_eq!(planned(&changes, Wanted::Newest, "2"), Err("file_changed".to_owned()));
}

#[test]
fn a_turn_is_taken_back_as_one_restoration() {
    let changes = chain(&[("0", "1", 1), ("1", "2", 2), ("2", "3", 2)], &[]);
    let turn = |turn| Wanted::Turn { run: "run", turn };
    assert_eq!(planned(&changes, turn(2), "3"), Ok(vec![3, 2]));
    assert_eq!(planned(&changes, turn(1), "3"), Err("file_changed".to_owned()));
    assert_eq!(planned(&changes, turn(5), "3"), Err("not_found".to_owned()));
    let other = Wanted::Turn { run: "another", turn: 2 };
    assert_eq!(planned(&changes, other, "3"), Err("not_found".to_owned()));
}

#[test]
fn the_refusal_names_the_later_change_that_stands() {
    let changes = chain(&[("0", "1", 1), ("1", "2", 2), ("2", "3", 3), ("3", "2", 4)], &[(3, 4)]);
    let later = |wanted, now| match plan(&changes, wanted, &state(now)).unwrap_err() {
        Refusal::Changed { later, .. } => later.map(|it| it.number),
        refusal => panic!("{refusal:?}"),
    };
    assert_eq!(later(Wanted::Change(1), "2"), Some(2));
    // Also where the file happens to be what the change left.
    assert_eq!(later(Wanted::Change(1), "1"), Some(2));
    assert_eq!(later(Wanted::Change(2), "of a person"), Some(4));
    assert_eq!(planned(&changes, Wanted::Change(2), "2"), Ok(vec![2]));
}

#[test]
fn what_has_no_recorded_content_is_not_restored() {
    let mut changes = chain(&[("0", "1", 1)], &[]);
    changes[0].before =
        State::Unrecorded { why: Unrecorded::TooLarge, size: 1 << 30, mode: 0o644, modified: 0 };
    let refusal = plan(&changes, Wanted::Newest, &state("1")).unwrap_err();
    let name = Name::parse("a").unwrap();
    assert_eq!(
        refusal.of(&name).to_string(),
        "change 1 by `tool` in turn 1 of `a` cannot be undone: what was there before has more than 32 MiB"
    );
}
