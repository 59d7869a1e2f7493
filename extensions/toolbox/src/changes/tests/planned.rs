//! What an undo decides, for chains of changes without files.

use toolwright::ToolContext;

use crate::changes::back::plan_back;
use crate::changes::plan::{Refusal, WantedChanges, plan};
use crate::changes::rows::{CallOf, Change, mark_undone};
use crate::workspace::{Name, State, UnrecordedReason};

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

fn planned(changes: &[Change], wanted: WantedChanges<'_>, now: &str) -> Result<Vec<i64>, String> {
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
    assert_eq!(planned(&changes, WantedChanges::Newest, "1"), Ok(vec![1]));
    assert_eq!(planned(&changes, WantedChanges::Change(2), "1"), Err("already_undone".to_owned()));
    assert_eq!(planned(&changes, WantedChanges::Change(3), "1"), Ok(vec![3]));
    assert_eq!(planned(&changes, WantedChanges::Change(7), "1"), Err("not_found".to_owned()));
    assert_eq!(planned(&changes, WantedChanges::Newest, "2"), Err("file_changed".to_owned()));
}

#[test]
fn a_turn_is_taken_back_as_one_restoration() {
    let changes = chain(&[("0", "1", 1), ("1", "2", 2), ("2", "3", 2)], &[]);
    let turn = |turn| WantedChanges::Turn { run: "run", turn };
    assert_eq!(planned(&changes, turn(2), "3"), Ok(vec![3, 2]));
    assert_eq!(planned(&changes, turn(1), "3"), Err("file_changed".to_owned()));
    assert_eq!(planned(&changes, turn(5), "3"), Err("not_found".to_owned()));
    let other = WantedChanges::Turn { run: "another", turn: 2 };
    assert_eq!(planned(&changes, other, "3"), Err("not_found".to_owned()));
}

#[test]
fn the_refusal_names_the_later_change_that_stands() {
    let changes = chain(&[("0", "1", 1), ("1", "2", 2), ("2", "3", 3), ("3", "2", 4)], &[(3, 4)]);
    let later = |wanted, now| match plan(&changes, wanted, &state(now)).unwrap_err() {
        Refusal::Changed { later, .. } => later.map(|it| it.number),
        refusal => panic!("{refusal:?}"),
    };
    assert_eq!(later(WantedChanges::Change(1), "2"), Some(2));
    // Also where the file happens to be what the change left.
    assert_eq!(later(WantedChanges::Change(1), "1"), Some(2));
    assert_eq!(later(WantedChanges::Change(2), "of a person"), Some(4));
    assert_eq!(planned(&changes, WantedChanges::Change(2), "2"), Ok(vec![2]));
}

#[test]
fn what_has_no_recorded_content_is_not_restored() {
    let mut changes = chain(&[("0", "1", 1)], &[]);
    changes[0].before = State::Unrecorded {
        why: UnrecordedReason::TooLarge,
        size: 1 << 30,
        mode: 0o644,
        modified: 0,
    };
    let refusal = plan(&changes, WantedChanges::Newest, &state("1")).unwrap_err();
    let name = Name::parse("a").unwrap();
    assert_eq!(
        refusal.of(&name).to_string(),
        "change 1 by `tool` in turn 1 of `a` cannot be undone: what was there before has more than 32 MiB"
    );
}

/// What taking these turns back does to a file: the changes, or the kind of the refusal; nothing where the file is as it was.
fn back(changes: &[Change], turns: &[u64], now: &str) -> Result<Vec<i64>, String> {
    let is_taken = |it: &Change| it.call.turn.is_some_and(|turn| turns.contains(&turn));
    match plan_back(changes, is_taken, &state(now)) {
        Ok(back) => {
            Ok(back.map_or_else(Vec::new, |it| it.changes.iter().map(|it| it.number).collect()))
        }
        Err(refusal) => Err(refusal.kind().to_owned()),
    }
}

#[test]
fn the_changes_of_turns_are_taken_back_at_once_with_what_was_undone_among_them() {
    let changed = || Err("file_changed".to_owned());
    let changes = chain(&[("0", "1", 1), ("1", "2", 2), ("2", "3", 3)], &[]);
    assert_eq!(back(&changes, &[2, 3], "3"), Ok(vec![3, 2]));
    assert_eq!(back(&changes, &[2, 3], "1"), Ok(vec![]), "it is as it was");
    assert_eq!(back(&changes, &[2], "3"), changed(), "a later turn stays");
    assert_eq!(back(&changes, &[2, 3], "x"), changed(), "a person changed it since");
    assert_eq!(back(&changes, &[7], "x"), Ok(vec![]), "it was not changed");
    // Between two turns a person wrote it.
    let gap = chain(&[("0", "1", 1), ("1", "2", 2), ("x", "3", 3)], &[]);
    assert_eq!(back(&gap, &[2, 3], "3"), changed());
    assert_eq!(back(&gap, &[3], "3"), Ok(vec![3]));
}

#[test]
fn an_undo_counts_as_what_it_is_to_the_turns_that_are_taken_back() {
    // Turn 3 undoes what turn 2 did: to take 3 back alone is to do it again.
    let undone = chain(&[("0", "1", 1), ("1", "2", 2), ("2", "1", 3)], &[(2, 3)]);
    assert_eq!(back(&undone, &[3], "1"), Ok(vec![3]));
    assert_eq!(back(&undone, &[2, 3], "1"), Ok(vec![]), "both of them leave nothing");
    assert_eq!(back(&undone, &[1, 2, 3], "1"), Ok(vec![1]));
    // A person, in no turn that is taken, has undone turn 2: nothing of it is left.
    assert_eq!(back(&undone, &[2], "1"), Ok(vec![]));
    // A rewind that was taken back, and one that was not, with what came after it.
    let redone =
        chain(&[("0", "1", 1), ("1", "2", 2), ("2", "1", 8), ("1", "2", 9)], &[(2, 3), (3, 4)]);
    assert_eq!(back(&redone, &[2], "2"), Ok(vec![2]));
    let gone_on = chain(&[("0", "1", 1), ("1", "2", 2), ("2", "1", 8), ("1", "5", 5)], &[(2, 3)]);
    assert_eq!(back(&gone_on, &[5], "5"), Ok(vec![4]));
    assert_eq!(back(&gone_on, &[1, 5], "5"), Ok(vec![4, 1]));
    // A call that is still at work, and one of which the log has no content.
    let running = chain(&[("0", "1", 1), ("1", "?", 2)], &[]);
    assert_eq!(back(&running, &[1], "1"), Err("busy".to_owned()));
}
