//! `toolwright calls`: what is in the journal, for people and for programs.

use super::journal::{DEAD, INDETERMINATE, Journal, PENDING, SECRET, SUCCEEDED};

#[test]
fn calls_are_listed_whole_ids_and_all() {
    insta::assert_snapshot!(Journal::new().shown(&["calls", "list"]));
}

#[test]
fn a_list_can_be_narrowed_and_gone_on_with() {
    let journal = Journal::new();
    let ids = |arguments: &[&str]| -> Vec<String> {
        let ran = journal.run(&[&["calls", "list", "--json"], arguments].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        let id =
            |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].clone();
        ran.out.lines().map(|line| id(line).as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&["--state", "dead", "--state", "succeeded"]), [SUCCEEDED, DEAD]);
    assert_eq!(ids(&["--run", "run-2"]), [SUCCEEDED]);
    assert_eq!(ids(&["--tool", "charge"]), [INDETERMINATE]);
    assert_eq!(ids(&["--text", "no answer in 30 s"]), [DEAD]);
    assert_eq!(ids(&["--limit", "1"]), [PENDING]);
    assert_eq!(ids(&["--limit", "1", "--latest"]), [DEAD]);
    assert_eq!(ids(&["--after", INDETERMINATE]), [SUCCEEDED, DEAD]);
    assert_eq!(
        ids(&["--after", INDETERMINATE, "--latest", "--limit", "1"]),
        ["0199a0b0-0006-7000-8000-0000000000a6"]
    );
    let ran = journal.run(&["calls", "list", "--limit", "1"]);
    assert_eq!(ran.err, format!("note: there are more: go on with --after {PENDING}\n"));
    let ran = journal.run(&["calls", "list", "--tool", "none"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    assert_eq!(ran.err, "note: there is no such call\n");
}

#[test]
fn programs_read_a_call_on_a_line() {
    let journal = Journal::new();
    insta::assert_snapshot!(journal.shown(&["calls", "show", SUCCEEDED, "--json"]));
}

#[test]
fn a_call_is_shown_with_what_became_of_it() {
    let journal = Journal::new();
    insta::assert_snapshot!("a_call_that_succeeded", journal.shown(&["calls", "show", SUCCEEDED]));
    insta::assert_snapshot!("a_call_that_waits", journal.shown(&["calls", "show", PENDING]));
}

#[test]
fn what_may_repeat_a_secret_is_not_shown() {
    let journal = Journal::new();
    let mut call = journal.get(SECRET);
    call.id = "0199a0b0-000a-7000-8000-0000000000aa".parse().unwrap();
    call.place.index = 10;
    call.answer = Some(toolwright::journal::AnswerRecord::text("hunter2"));
    journal.add(call, &[]);
    for arguments in [&["calls", "show", "000000aa"][..], &["calls", "show", "000000aa", "--json"]]
    {
        let ran = journal.run(arguments);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains("(secret)") && !ran.out.contains("hunter2"), "{}", ran.out);
    }
}

#[test]
fn the_history_says_who_did_what() {
    let journal = Journal::new();
    assert_eq!(journal.run(&["approvals", "reject", PENDING, "--reason", "not to Eve"]).code, 0);
    insta::assert_snapshot!("a_history", journal.shown(&["calls", "history", PENDING]));
    let json = journal.shown(&["calls", "history", INDETERMINATE, "--json"]);
    insta::assert_snapshot!("a_history_for_programs", json);
}

#[test]
fn a_trace_says_why_a_call_was_looked_at_what_was_decided_and_what_was_committed() {
    let journal = Journal::new();
    assert_eq!(journal.run(&["approvals", "reject", PENDING, "--reason", "not to Eve"]).code, 0);
    insta::assert_snapshot!("a_trace", journal.shown(&["calls", "trace", PENDING]));
    let json = journal.shown(&["calls", "trace", INDETERMINATE, "--json"]);
    insta::assert_snapshot!("a_trace_for_programs", json);
}

#[test]
fn a_part_of_an_id_stands_for_the_call_that_has_it_alone() {
    let journal = Journal::new();
    for part in ["000000a1", "8000-0000000000A1", "0199a0b000017000", "0199a0b0-0001"] {
        let ran = journal.run(&["calls", "show", part]);
        assert!(ran.code == 0 && ran.out.contains(PENDING), "{part}: {}", ran.err);
    }
    insta::assert_snapshot!(
        "an_ambiguous_id",
        journal.shown(&["approvals", "approve", "0199a0b0"])
    );
    assert_eq!(journal.get(PENDING).state, toolwright::journal::State::Pending);
    for part in ["00000a1", "0199a0b0-zzzz", "", "0199a0b0-0001-7000-8000-0000000000a1-1"] {
        assert_eq!(journal.run(&["calls", "show", part]).code, 2, "{part}");
    }
}
