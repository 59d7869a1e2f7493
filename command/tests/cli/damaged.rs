//! A journal in which a call cannot be read: the others are listed, shown and decided.

use super::journal::{DEAD, Journal, LATE, PENDING, SUCCEEDED};

/// As a disk, or a release of tomorrow, may leave it.
fn damage(journal: &Journal, id: &str, body: &str) {
    let file = rusqlite::Connection::open(journal.path("calls.db")).unwrap();
    let digits = id.replace('-', "");
    let sql = format!("UPDATE calls SET body = ?1 WHERE hex(id) = '{}'", digits.to_uppercase());
    assert_eq!(file.execute(&sql, [body]).unwrap(), 1);
}

fn damaged() -> Journal {
    let journal = Journal::new();
    damage(&journal, SUCCEEDED, r#"{"state":"resting"}"#);
    damage(&journal, LATE, "torn");
    journal
}

#[test]
fn a_call_that_cannot_be_read_is_listed_as_damaged_between_the_others() {
    insta::assert_snapshot!(damaged().shown(&["calls", "list"]));
    insta::assert_snapshot!(
        "the_latest_first",
        damaged().shown(&["calls", "list", "--latest", "--limit", "2"])
    );
}

#[test]
fn programs_read_why_a_call_cannot_be_read() {
    let ran = damaged().run(&["calls", "list", "--json", "--run", "run-2"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let line: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&line["id"], &line["state"]), (&SUCCEEDED.into(), &"damaged".into()));
    assert!(line["damage"].as_str().unwrap().contains(SUCCEEDED), "{line}");
    let whole = Journal::new().run(&["calls", "list", "--json", "--run", "run-2"]);
    let whole: serde_json::Value = serde_json::from_str(&whole.out).unwrap();
    let keys = |of: &serde_json::Value| of.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&line), keys(&whole), "every key is there");
    assert_eq!((&line["tool"], &whole["damage"]), (&().into(), &().into()));
}

#[test]
fn other_lists_leave_it_out_and_say_so() {
    let ran = damaged().run(&["approvals", "list"]);
    assert!(ran.out.contains(PENDING) && !ran.out.contains(LATE), "{}", ran.out);
    assert_eq!(ran.code, 1);
    assert!(ran.err.starts_with(&format!("warning: call {LATE} cannot be read")), "{}", ran.err);
    assert!(ran.err.trim_end().ends_with("; the call is left out"), "{}", ran.err);
}

#[test]
fn others_are_shown_and_decided_and_it_is_refused_by_its_id() {
    let journal = damaged();
    let ran = journal.run(&["approvals", "approve", "000000a1"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(journal.run(&["calls", "show", DEAD]).code, 0);
    for id in [LATE, "000000a5"] {
        for command in [&["calls", "show", id][..], &["approvals", "approve", id]] {
            let ran = journal.run(command);
            assert_eq!(ran.code, 1, "{}", ran.err);
            assert!(ran.err.contains(&format!("call {LATE} cannot be read")), "{}", ran.err);
        }
    }
    // It is a place to go on from all the same.
    let ran = journal.run(&["calls", "list", "--after", LATE, "--limit", "1"]);
    assert!(ran.out.contains("0199a0b0-0006-7000-8000-0000000000a6"), "{}", ran.out);
}
