//! `toolwright indeterminate`: calls that may have happened, and what is found out of them.

use toolwright::journal::State;

use super::journal::{INDETERMINATE, Journal, PENDING};

#[test]
fn calls_of_unknown_outcome_are_listed() {
    insta::assert_snapshot!(Journal::new().shown(&["indeterminate", "list"]));
}

#[test]
fn what_happened_gives_the_call_its_answer() {
    let journal = Journal::new();
    std::fs::write(journal.path("receipt.json"), r#"{"receipt":9007199254740993}"#).unwrap();
    let resolve = ["indeterminate", "resolve", INDETERMINATE, "--happened", "@receipt.json"];
    insta::assert_snapshot!("it_happened", journal.shown(&resolve));
    let call = journal.get(INDETERMINATE);
    assert_eq!(call.state, State::Succeeded);
    assert_eq!(call.answer.unwrap().text, r#"{"receipt":9007199254740993}"#);
    let again = journal.run(&[&resolve[..], &["--json"]].concat());
    assert!(again.code == 0 && again.out.contains(r#""repeated":true"#), "{}", again.err);
    let other = ["indeterminate", "resolve", INDETERMINATE, "--did-not-happen"];
    insta::assert_snapshot!("it_was_found_out_before", journal.shown(&other));
}

#[test]
fn what_did_not_happen_is_judged_again() {
    let journal = Journal::new();
    let resolve = ["indeterminate", "resolve", "000000a7", "--did-not-happen", "--json"];
    let first = journal.run(&resolve);
    assert!(first.out.contains(r#""verdict":"did_not_happen""#), "{}", first.err);
    assert!(first.out.contains(r#""state":"judging""#), "{}", first.out);
    assert_eq!(journal.get(INDETERMINATE).generation, 2);
    let second = journal.run(&resolve);
    assert!(second.code == 0 && second.out.contains(r#""repeated":true"#), "{}", second.err);
}

#[test]
fn one_of_both_must_be_said_and_of_such_a_call() {
    let journal = Journal::new();
    let resolve = ["indeterminate", "resolve", INDETERMINATE];
    assert_eq!(journal.run(&resolve).code, 2);
    let both = [&resolve[..], &["--happened", "yes", "--did-not-happen"]].concat();
    assert_eq!(journal.run(&both).code, 2);
    let ran = journal.run(&["indeterminate", "resolve", PENDING, "--did-not-happen"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert_eq!(journal.get(PENDING).state, State::Pending);
}
