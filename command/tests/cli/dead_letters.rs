//! `toolwright dead-letters`: what failed for good is found, tried again by somebody's word, and put away.

use std::process::Stdio;

use jiff::SignedDuration;
use serde_json::Value;
use toolwright::journal::{AnswerRecord, State, StoredText, Transition};

use super::journal::{DEAD, INDETERMINATE, Journal, OLD, PENDING, SEALED};
use super::{Ran, ran};

fn lines(ran: &Ran) -> Vec<Value> {
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn ids(ran: &Ran) -> Vec<String> {
    lines(ran).iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn letters_are_listed_with_the_kind_of_their_last_error() {
    insta::assert_snapshot!("list", Journal::with_dead_letters().shown(&["dead-letters", "list"]));
}

#[test]
fn letters_are_found_by_tool_kind_age_run_and_text() {
    let journal = Journal::with_dead_letters();
    let all = [DEAD, OLD, SEALED];
    for (options, expected) in [
        (&[][..], &all[..]),
        (&["--tool", "post"], &[OLD]),
        (&["--kind", "timeout"], &[DEAD]),
        (&["--kind", "refused"], &[OLD, SEALED]),
        (&["--older-than", "7d"], &[OLD]),
        (&["--older-than", "1w4d"], &[]),
        (&["--older-than", "3h"], &all),
        (&["--run", "run-1"], &[DEAD, SEALED]),
        (&["--text", "eve@"], &[OLD]),
        (&["--kind", "refused", "--limit", "1"], &[OLD]),
        (&["--kind", "refused", "--after", OLD], &[SEALED]),
        (&["--kind", "refused", "--latest"], &[SEALED, OLD]),
        (&["--kind", "timeout", "--tool", "post"], &[]),
    ] {
        let ran = journal.run(&[&["dead-letters", "list", "--json"], options].concat());
        assert_eq!(ids(&ran), expected, "{options:?}");
    }
    let limited = journal.run(&["dead-letters", "list", "--limit", "2"]);
    assert!(limited.err.contains(&format!("go on with --after {OLD}")), "{}", limited.err);
}

/// As by `… | head -1`: what was asked for is done, whoever reads.
#[test]
fn letters_are_put_away_although_nobody_reads_what_is_told() {
    let journal = Journal::with_dead_letters();
    let mut command = journal.command(&["dead-letters", "discard", DEAD, OLD, SEALED]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status =
        command.stdin(Stdio::null()).stdout(writer).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(0));
    for dead in [DEAD, OLD, SEALED] {
        assert_eq!(journal.get(dead).state, State::Discarded, "{dead}");
    }
}

#[test]
fn a_letter_is_shown_with_its_attempts_and_its_history() {
    let journal = Journal::with_dead_letters();
    insta::assert_snapshot!("a_dead_letter", journal.shown(&["dead-letters", "show", OLD]));
    let shown = journal.run(&["dead-letters", "show", PENDING]);
    assert!(shown.code == 0 && shown.err.contains("is not a dead letter: it is pending"));
}

#[test]
fn a_letter_with_a_secret_says_nothing_of_it() {
    let journal = Journal::with_dead_letters();
    insta::assert_snapshot!(
        "a_sealed_dead_letter",
        journal.shown(&["dead-letters", "show", SEALED])
    );
    for command in [&["dead-letters", "export"][..], &["dead-letters", "show", SEALED, "--json"]] {
        let ran = journal.run(command);
        assert!(ran.out.contains("log_in") && !ran.out.contains("hunter2"), "{}", ran.out);
    }
}

#[test]
fn an_export_has_everything_on_a_line_each() {
    let journal = Journal::with_dead_letters();
    insta::assert_snapshot!("export", journal.shown(&["dead-letters", "export", "--tool", "post"]));
    assert_eq!(ids(&journal.run(&["dead-letters", "export"])), [DEAD, OLD, SEALED]);
}

#[test]
fn letters_are_counted_by_tool_kind_and_age() {
    let journal = Journal::with_dead_letters();
    insta::assert_snapshot!("stats", journal.shown(&["dead-letters", "stats"]));
    insta::assert_snapshot!("stats_json", journal.shown(&["dead-letters", "stats", "--json"]));
}

#[test]
fn a_requeued_letter_is_judged_and_keeps_its_answer() {
    let journal = Journal::with_dead_letters();
    let before = journal.get(DEAD);
    insta::assert_snapshot!("requeued", journal.shown(&["dead-letters", "requeue", DEAD]));
    let after = journal.get(DEAD);
    assert_eq!((after.state, after.generation), (State::Judging, 2));
    assert_eq!((&after.answer, &after.idempotency_key), (&before.answer, &before.idempotency_key));
    insta::assert_snapshot!("requeued_twice", journal.shown(&["dead-letters", "requeue", DEAD]));
    let key = journal.path("bob.key");
    let discard = ["dead-letters", "discard", DEAD, "--key", key.to_str().unwrap()];
    insta::assert_snapshot!("requeued_by_another", journal.shown(&discard));
}

#[test]
fn a_letter_that_is_dead_again_is_requeued_again() {
    let journal = Journal::with_dead_letters();
    for generation in 2..4 {
        let ran = journal.run(&["dead-letters", "requeue", DEAD, "--json"]);
        assert_eq!(lines(&ran)[0]["repeated"], false);
        assert_eq!(journal.get(DEAD).generation, generation);
        journal.happens(DEAD, Transition::PutBack);
    }
}

#[test]
fn a_dry_run_lists_what_would_be_requeued_and_does_nothing() {
    let journal = Journal::with_dead_letters();
    let dry = ["dead-letters", "requeue", "--kind", "refused", "--dry-run"];
    let mut command = journal.command(&dry);
    let listed = ran(command.env_remove("TOOLWRIGHT_KEY"), b"");
    insta::assert_snapshot!("dry_run", journal.filtered(&super::shown(&listed)));
    for id in [DEAD, OLD, SEALED] {
        assert_eq!(journal.get(id).state, State::Dead);
    }
    let named = journal.run(&["dead-letters", "requeue", DEAD, "--dry-run", "--json"]);
    assert_eq!(ids(&named), [DEAD]);
}

#[test]
fn all_letters_of_a_filter_are_requeued_at_a_pace() {
    let journal = Journal::with_dead_letters();
    let ran = journal.run(&[
        "dead-letters",
        "requeue",
        "--kind",
        "refused",
        "--all",
        "--every",
        "300ms",
        "--unseen",
        "--json",
    ]);
    let [first, second] = [OLD, SEALED].map(|id| journal.history(id).pop().unwrap().at);
    assert!(first + SignedDuration::from_millis(300) <= second, "the second waits");
    let said: Vec<_> = lines(&ran).iter().map(|line| line["call"].clone()).collect();
    assert_eq!(said, [OLD, SEALED]);
    assert_eq!(journal.get(DEAD).state, State::Dead);
    let none = journal.run(&["dead-letters", "requeue", "--tool", "nobody", "--all"]);
    assert_eq!((none.code, none.out.as_str()), (0, ""));
}

#[test]
fn a_new_key_is_part_of_what_is_signed() {
    let journal = Journal::with_dead_letters();
    assert_eq!(journal.run(&["dead-letters", "requeue", DEAD, "--new-key"]).code, 0);
    let last = journal.history(DEAD).pop().unwrap();
    let said = last.signed.unwrap().statement().unwrap().verdict;
    let expected = toolwright::approval::Decision::Requeue { arguments: None, new_key: true };
    assert_eq!(said, expected);
    // To requeue it with its own key is another word.
    assert_eq!(journal.run(&["dead-letters", "requeue", DEAD]).code, 4);
}

#[test]
fn a_letter_is_edited_whole_or_in_one_place() {
    let journal = Journal::with_dead_letters();
    let set =
        ["dead-letters", "edit", OLD, "--set", "/to=\"ada@example.org\"", "--set", "/note=null"];
    insta::assert_snapshot!("edited", journal.shown(&set));
    let after = journal.get(OLD);
    let expected = r#"{"copies":1.5,"note":null,"to":"ada@example.org"}"#;
    assert_eq!((after.state, after.proposal.as_deref()), (State::Judging, Some(expected)));
    let whole = journal.run(&["dead-letters", "edit", DEAD, "--arguments", r#"{"url":"x"}"#]);
    assert_eq!(whole.code, 0, "{}", whole.err);
    assert_eq!(journal.get(DEAD).proposal.as_deref(), Some(r#"{"url":"x"}"#));
}

#[test]
fn new_arguments_of_a_letter_are_one_object_and_no_secrets() {
    let journal = Journal::with_dead_letters();
    for options in [
        ["--arguments", "[1]"],
        ["--arguments", "{"],
        ["--set", "/url"],
        ["--set", "url=1"],
        ["--set", "/a/b=1"],
    ] {
        let ran = journal.run(&[&["dead-letters", "edit", DEAD], &options[..]].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{options:?}: {}", ran.err);
    }
    let ran = journal.run(&["dead-letters", "edit", SEALED, "--set", "/user=\"eve\""]);
    assert!(ran.code == 2 && ran.err.contains("the application alone has the key"), "{}", ran.err);
    assert_eq!(journal.get(SEALED).state, State::Dead);
    assert_eq!(journal.run(&["dead-letters", "requeue", SEALED]).code, 2);
    assert_eq!(journal.run(&["dead-letters", "requeue", SEALED, "--unseen"]).code, 0);
}

/// Whoever can write to the journal could show one call and have another signed.
#[test]
fn a_letter_that_was_altered_is_not_requeued() {
    let journal = Journal::with_dead_letters();
    let arguments = StoredText::Plain(r#"{"url":"https://example.com"}"#.to_owned());
    let digest = "0".repeat(64);
    journal.replace(journal.get(DEAD).with(|it| {
        it.arguments = arguments;
        it.digest = digest;
    }));
    let ran = journal.run(&["dead-letters", "requeue", DEAD]);
    assert!(ran.code == 4 && ran.err.contains("was altered"), "{}", ran.err);
    let other = journal.run(&["dead-letters", "discard", OLD, "--digest", "00000000"]);
    assert!(other.code == 4 && other.err.contains("does not begin with"), "{}", other.err);
    assert_eq!(journal.get(OLD).state, State::Dead);
}

#[test]
fn a_discarded_letter_keeps_all_and_the_note() {
    let journal = Journal::with_dead_letters();
    let discard = ["dead-letters", "discard", DEAD, OLD, "--note", "done by hand"];
    insta::assert_snapshot!("discarded", journal.shown(&discard));
    let after = journal.get(OLD);
    assert_eq!((after.state, after.failures.len()), (State::Discarded, 2));
    assert!(matches!(after.raw, StoredText::Plain(_)));
    let last = journal.history(OLD).pop().unwrap();
    assert_eq!(last.why.as_deref(), Some("done by hand"));
    assert!(journal.run(&["dead-letters", "discard", OLD, "--note", "done by hand"]).code == 0);
}

#[test]
fn a_purge_forgets_what_old_letters_were_called_with_and_touches_nothing_else() {
    let journal = Journal::with_dead_letters();
    let purge = ["dead-letters", "purge", "--older-than", "7d"];
    let dry = journal.run(&[&purge[..], &["--dry-run", "--json"]].concat());
    assert_eq!(ids(&dry), [OLD]);
    assert_eq!(journal.get(OLD).state, State::Dead);
    let others = [DEAD, SEALED, INDETERMINATE, PENDING].map(|id| journal.get(id));
    insta::assert_snapshot!("purged", journal.shown(&[&purge[..], &["--all"]].concat()));
    let after = journal.get(OLD);
    assert_eq!((after.state, &after.arguments), (State::Discarded, &StoredText::Omitted));
    assert!(!serde_json::to_string(&after).unwrap().contains("eve@"));
    assert_eq!(after.answer, Some(AnswerRecord::error("refused", "the post was closed", None)));
    assert_eq!([DEAD, SEALED, INDETERMINATE, PENDING].map(|id| journal.get(id)), others);
    insta::assert_snapshot!("a_forgotten_dead_letter", journal.shown(&["calls", "show", OLD]));
}

#[test]
fn a_call_is_shown_with_what_came_of_it_after_its_answer() {
    let journal = Journal::with_dead_letters();
    let result = Some(AnswerRecord::text("sent after all"));
    journal.replace(journal.get(OLD).with(|it| it.result = result));
    let shown = journal.run(&["calls", "show", OLD]);
    assert!(shown.out.contains("result\n  sent after all\n"), "{}", shown.out);
    let line = &lines(&journal.run(&["calls", "show", OLD, "--json"]))[0];
    assert_eq!(line["result"]["text"], "sent after all");
    assert_eq!(
        (&line["failures"][1]["kind"], &line["failures"][1]["attempt"]),
        (&"refused".into(), &2.into())
    );
}
