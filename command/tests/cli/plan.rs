//! `toolwright plan`: what agents have planned is shown, accepted and rejected.

use serde_json::Value;
use toolwright::journal::{State, Transition};

use super::journal::{Journal, PLANNED, call, of_run};

/// A planned call of another run.
const OTHER: &str = "0199a0b0-000e-7000-8000-0000000000ae";

fn with_another_plan() -> Journal {
    let journal = Journal::with_dead_letters();
    let other = of_run(call(OTHER, "write_file", r#"{"path":"a"}"#), "run-4");
    journal.add(other, &[Transition::Planned]);
    journal
}

fn states(journal: &Journal) -> [State; 2] {
    PLANNED.map(|id| journal.get(id).state)
}

#[test]
fn a_plan_is_shown_in_its_order_with_reasons_and_previews() {
    let journal = Journal::with_dead_letters();
    insta::assert_snapshot!("plan", journal.shown(&["plan", "show"]));
    insta::assert_snapshot!("plan_json", journal.shown(&["plan", "show", "--json"]));
    let none = journal.run(&["plan", "show", "--run", "run-1"]);
    assert_eq!((none.code, none.out.as_str()), (0, ""));
}

#[test]
fn a_whole_plan_is_accepted() {
    let journal = Journal::with_dead_letters();
    insta::assert_snapshot!("accepted", journal.shown(&["plan", "run", "--all"]));
    assert_eq!(states(&journal), [State::Judging; 2]);
    let call = journal.get(PLANNED[0]);
    assert_eq!((call.decision, call.answer.unwrap().is_error), (None, false));
    let again = journal.run(&["plan", "run", PLANNED[0], "--json"]);
    let line: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!((&line["verdict"], &line["repeated"]), (&"accepted".into(), &true.into()));
}

#[test]
fn the_first_calls_of_a_plan_or_some_of_it_are_accepted() {
    let journal = Journal::with_dead_letters();
    assert_eq!(journal.run(&["plan", "run", "--first", "1"]).code, 0);
    assert_eq!(states(&journal), [State::Judging, State::Planned]);
    assert_eq!(journal.run(&["plan", "run", PLANNED[1]]).code, 0);
    assert_eq!(states(&journal), [State::Judging; 2]);
}

/// The agent goes on planning while somebody reads.
#[test]
fn what_was_put_into_a_plan_after_it_was_read_is_not_accepted_with_it() {
    let journal = Journal::with_dead_letters();
    let shown = journal.run(&["plan", "show"]).out;
    let digest = shown.trim_end().rsplit(' ').next().unwrap()[..16].to_owned();
    let added = of_run(call(OTHER, "write_file", r#"{"path":"a"}"#), "run-3");
    journal.add(added, &[Transition::Planned]);
    for which in [&["--all"][..], &["--first", "1"]] {
        let ran = journal.run(&[&["plan", "run", "--digest", &digest], which].concat());
        assert!(ran.code == 4 && ran.err.contains("the plan has 3 calls"), "{}", ran.err);
    }
    assert_eq!(states(&journal), [State::Planned; 2]);
    let digest =
        journal.run(&["plan", "show"]).out.trim_end()[..].rsplit(' ').next().unwrap().to_owned();
    assert_eq!(journal.run(&["plan", "run", "--all", "--digest", &digest]).code, 0);
    assert_eq!(journal.get(OTHER).state, State::Judging);
}

#[test]
fn a_plan_is_rejected_with_a_reason() {
    let journal = Journal::with_dead_letters();
    insta::assert_snapshot!(
        "plan_rejected",
        journal.shown(&["plan", "reject", PLANNED[1], "--reason", "not on a Friday"])
    );
    let call = journal.get(PLANNED[1]);
    assert_eq!(call.answer.unwrap().text, "queued until the plan is accepted");
    assert!(call.result.unwrap().text.contains("not on a Friday"));
    assert_eq!(journal.run(&["plan", "run", PLANNED[1]]).code, 4);
    assert_eq!(journal.run(&["plan", "reject", "--all", "--reason", "no"]).code, 0);
    assert_eq!(states(&journal), [State::Rejected; 2]);
}

/// `--all` of the plans of several agents is seldom what is meant.
#[test]
fn with_the_plans_of_several_runs_it_must_be_said_which() {
    let journal = with_another_plan();
    for command in [
        &["plan", "run", "--all"][..],
        &["plan", "run", "--first", "1"],
        &["plan", "reject", "--all", "--reason", "no"],
    ] {
        let ran = journal.run(command);
        assert!(ran.code == 2 && ran.err.contains("run-3\n  run-4"), "{}", ran.err);
        assert_eq!(states(&journal), [State::Planned; 2]);
    }
    assert_eq!(journal.run(&["plan", "run", "--all", "--run", "run-4"]).code, 0);
    assert_eq!(journal.get(OTHER).state, State::Judging);
    assert_eq!(states(&journal), [State::Planned; 2]);
}

/// Whoever can write to the journal could show one call and have another signed.
#[test]
fn a_planned_call_that_was_altered_is_not_accepted() {
    let journal = Journal::with_dead_letters();
    let shown = r#"{"path":"harmless.md"}"#.to_owned();
    journal.replace(journal.get(PLANNED[0]).with(|it| it.shown = shown));
    let ran = journal.run(&["plan", "run", "--all"]);
    assert!(ran.code == 4 && ran.err.contains("was altered"), "{}", ran.err);
    // The second may build on the first.
    assert_eq!(states(&journal), [State::Planned, State::Planned]);
    assert!(ran.err.contains("leaving: the 1 after it as they are"), "{}", ran.err);
}
