//! `toolwright approvals`: what waits, and deciding about it.

use toolwright::journal::{State, StoredText, Transition};

use super::journal::{EMPTY, HOSTILE, Journal, LATE, LIKE_IT, PENDING, SECRET, SUCCEEDED};
use super::{Ran, ran};

/// What programs read of a decision.
fn decided(ran: &Ran) -> serde_json::Value {
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn what_waits_is_listed() {
    insta::assert_snapshot!(Journal::new().shown(&["approvals", "list"]));
}

#[test]
fn an_approver_is_shown_all_that_a_decision_needs() {
    let journal = Journal::new();
    insta::assert_snapshot!("a_request", journal.shown(&["approvals", "show", PENDING]));
    insta::assert_snapshot!(
        "a_request_for_programs",
        journal.shown(&["approvals", "show", PENDING, "--json"])
    );
    insta::assert_snapshot!(
        "a_request_with_a_secret",
        journal.shown(&["approvals", "show", SECRET])
    );
    insta::assert_snapshot!("no_request", journal.shown(&["approvals", "show", SUCCEEDED]));
}

#[test]
fn nothing_that_a_model_wrote_acts_on_the_terminal() {
    let journal = Journal::new();
    insta::assert_snapshot!("a_hostile_request", journal.shown(&["approvals", "show", HOSTILE]));
    for arguments in [
        &["approvals", "show", HOSTILE][..],
        &["approvals", "list"],
        &["calls", "list"],
        &["calls", "show", HOSTILE],
        &["calls", "show", SUCCEEDED],
        &["calls", "history", HOSTILE],
        &["approvals", "approve", HOSTILE],
    ] {
        let ran = journal.run(arguments);
        let acts = |letter: char| {
            (letter.is_control() && letter != '\n') || "\u{202e}\u{200b}".contains(letter)
        };
        assert!(!ran.out.contains(acts) && !ran.err.contains(acts), "{arguments:?}: {}", ran.out);
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.err);
    }
}

#[test]
fn another_call_than_the_one_that_was_looked_at_is_not_decided() {
    let journal = Journal::new();
    let shown = journal.run(&["approvals", "show", PENDING, "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
    let digest = shown["digest"].as_str().unwrap();
    let other = journal.run(&["approvals", "approve", PENDING, "--digest", "00000000"]);
    assert_eq!(other.code, 4, "{}", other.err);
    assert!(other.err.contains("not the call that was looked at"), "{}", other.err);
    let short = journal.run(&["approvals", "approve", PENDING, "--digest", "0000"]);
    assert_eq!(short.code, 2, "{}", short.err);
    let same = journal.run(&["approvals", "approve", PENDING, "--digest", &digest[..12]]);
    assert_eq!(same.code, 0, "{}", same.err);
}

#[test]
fn calls_are_approved_each_by_its_id() {
    let journal = Journal::new();
    insta::assert_snapshot!(
        "approved",
        journal.shown(&["approvals", "approve", PENDING, "000000a2", PENDING])
    );
    for id in [PENDING, LIKE_IT] {
        let call = journal.get(id);
        let statement = call.decision.unwrap().statement().unwrap();
        assert_eq!((call.state, statement.by.as_str()), (State::Ready, "ada"));
    }
    assert_eq!(journal.get(EMPTY).state, State::Pending);
}

#[test]
fn nothing_is_decided_when_one_of_the_calls_is_not_found() {
    let journal = Journal::new();
    let missing = "0199a0b0-0001-7000-8000-0000000000b1";
    let ran = journal.run(&["approvals", "approve", PENDING, missing]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    assert!(ran.err.contains(missing), "{}", ran.err);
    assert_eq!(journal.get(PENDING).state, State::Pending);
}

#[test]
fn the_others_are_decided_when_one_call_came_too_late() {
    let journal = Journal::new();
    insta::assert_snapshot!(
        "one_too_late",
        journal.shown(&["approvals", "approve", LATE, PENDING])
    );
    assert_eq!(journal.get(LATE).state, State::Pending);
    assert_eq!(journal.get(PENDING).state, State::Ready);
}

#[test]
fn a_rejection_tells_the_model_why() {
    let journal = Journal::new();
    let ran = journal.run(&["approvals", "reject", PENDING, "--reason", "not to Eve", "--json"]);
    let said = decided(&ran);
    assert_eq!((&said["verdict"], &said["state"]), (&"rejected".into(), &"rejected".into()));
    assert!(journal.get(PENDING).answer.unwrap().text.contains("not to Eve"));
    assert_eq!(journal.run(&["approvals", "reject", LIKE_IT]).code, 2);
}

#[test]
fn the_same_decision_twice_was_recorded_already() {
    let journal = Journal::new();
    for arguments in [
        &["approvals", "approve", PENDING][..],
        &["approvals", "reject", LIKE_IT, "--reason", "no"],
        &["approvals", "edit", HOSTILE, "--arguments", "{}"],
        &["approvals", "grant", EMPTY, "--scope", "forever", "--exactly", "--for", "2h"],
    ] {
        let arguments = [arguments, &["--json"]].concat();
        let (first, second) =
            (decided(&journal.run(&arguments)), decided(&journal.run(&arguments)));
        assert_eq!((&first["repeated"], &second["repeated"]), (&false.into(), &true.into()));
        assert_eq!((&first["at"], &first["state"]), (&second["at"], &second["state"]), "{first}");
    }
    let again = journal.shown(&["approvals", "approve", PENDING]);
    insta::assert_snapshot!("approved_twice", again);
}

#[test]
fn another_decision_is_told_who_won() {
    let journal = Journal::new();
    assert_eq!(journal.run(&["approvals", "approve", PENDING]).code, 0);
    let key = journal.path("bob.key");
    let key = key.to_str().unwrap();
    let reject = ["approvals", "reject", PENDING, "--reason", "no", "--key", key];
    insta::assert_snapshot!("bob_came_second", journal.shown(&reject));
    assert_eq!(journal.get(PENDING).state, State::Ready);
}

#[test]
fn a_call_judged_anew_is_asked_about_anew() {
    let journal = Journal::new();
    assert_eq!(journal.run(&["approvals", "approve", PENDING]).code, 0);
    for event in [Transition::Changed, Transition::Asked] {
        journal.happens(PENDING, event);
    }
    let said = decided(&journal.run(&["approvals", "approve", PENDING, "--json"]));
    assert_eq!((&said["repeated"], journal.get(PENDING).generation), (&false.into(), 2));
}

#[test]
fn an_edit_is_a_proposal_for_the_application() {
    let journal = Journal::new();
    let new = r#"{ "copies": 9007199254740993, "to": "ada@example.org" }"#;
    insta::assert_snapshot!(
        "edited",
        journal.shown(&["approvals", "edit", PENDING, "--arguments", new])
    );
    let call = journal.get(PENDING);
    assert_eq!((call.state, call.generation), (State::Judging, 2));
    let canonical = r#"{"copies":9007199254740993,"to":"ada@example.org"}"#;
    assert_eq!(call.proposal.as_deref(), Some(canonical));
    let statement = call.decision.as_ref().unwrap().statement().unwrap();
    let toolwright::approval::Decision::Edit { digest, .. } = statement.verdict else {
        panic!("an edit")
    };
    assert_eq!(digest, call.digest_with(canonical));
}

/// Without the application's key nothing tells whether sealed arguments are those that are shown.
#[test]
fn a_call_whose_arguments_are_sealed_is_approved_only_unseen() {
    let journal = Journal::new();
    let refused = journal.run(&["approvals", "approve", SECRET]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(
        refused.err.contains("--unseen") && !refused.err.contains("approving"),
        "{}",
        refused.err
    );
    assert_eq!(journal.get(SECRET).state, State::Pending);
    let unseen = journal.run(&["approvals", "approve", SECRET, "--unseen"]);
    assert_eq!(unseen.code, 0, "{}", unseen.err);
    assert!(unseen.err.contains("its arguments are sealed"), "{}", unseen.err);
    let call = journal.get(SECRET);
    let statement = call.decision.as_ref().unwrap().statement().unwrap();
    let shown = match &statement.about {
        toolwright::approval::Subject::Call { shown, .. } => shown.clone(),
        _ => None,
    };
    assert_eq!(shown, call.shown_digest(), "what was shown is signed all the same");
}

#[test]
fn new_arguments_come_from_a_file_or_standard_input_too() {
    let journal = Journal::new();
    std::fs::write(journal.path("new.json"), "{\"copies\": 1}\n").unwrap();
    let ran_file = journal.run(&["approvals", "edit", PENDING, "--arguments", "@new.json"]);
    assert_eq!(ran_file.code, 0, "{}", ran_file.err);
    let mut command = journal.command(&["approvals", "edit", LIKE_IT, "--arguments", "-"]);
    assert_eq!(ran(&mut command, b"{\"copies\": 1}").code, 0);
    for id in [PENDING, LIKE_IT] {
        assert_eq!(journal.get(id).proposal.as_deref(), Some(r#"{"copies":1}"#));
    }
    assert_eq!(journal.run(&["approvals", "edit", EMPTY, "--arguments", "@none"]).code, 1);
}

#[test]
fn new_arguments_are_one_object_and_no_secrets() {
    let journal = Journal::new();
    for arguments in ["", "{", "[1]", r#"{"a":1,"a":2}"#, "{'a':1}"] {
        let ran = journal.run(&["approvals", "edit", PENDING, "--arguments", arguments]);
        assert_eq!(ran.code, 2, "{arguments}: {}", ran.err);
    }
    let ran = journal.run(&["approvals", "edit", SECRET, "--arguments", "{}"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("the application alone has the key"), "{}", ran.err);
    assert!(matches!(journal.get(SECRET).arguments, StoredText::Encrypted(_)));
    assert_eq!(journal.get(SECRET).state, State::Pending);
}
