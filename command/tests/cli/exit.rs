//! Each exit code, and what help says of them.

use std::path::Path;

use toolwright::journal::State;

use super::journal::{DEAD, Journal, LATE, PENDING};
use super::{ran, shown, toolwright};

#[test]
fn help_groups_the_commands() {
    insta::assert_snapshot!("help", shown(&toolwright(&["--help"], b"")));
}

#[test]
fn each_command_says_what_it_takes() {
    for command in [
        &["calls"][..],
        &["calls", "list"],
        &["calls", "watch"],
        &["approvals"],
        &["approvals", "approve"],
        &["approvals", "edit"],
        &["approvals", "grant"],
        &["approvals", "revoke"],
        &["plan"],
        &["plan", "run"],
        &["plan", "reject"],
        &["dead-letters"],
        &["dead-letters", "list"],
        &["dead-letters", "requeue"],
        &["dead-letters", "edit"],
        &["dead-letters", "discard"],
        &["dead-letters", "purge"],
        &["indeterminate"],
        &["indeterminate", "resolve"],
        &["keys"],
        &["keys", "new"],
    ] {
        let help = toolwright(&[command, &["--help"]].concat(), b"");
        insta::assert_snapshot!(format!("help_{}", command.join("_")), shown(&help));
    }
}

#[test]
fn zero_is_done_and_one_that_the_journal_failed() {
    let journal = Journal::new();
    assert_eq!(journal.run(&["calls", "list"]).code, 0);
    std::fs::write(journal.path("text.db"), "no journal at all").unwrap();
    for name in ["sqlite:none.db", "sqlite:text.db"] {
        let ran = journal.run(&["calls", "list", "--journal", name]);
        assert!(ran.code == 1 && ran.err.contains(&name[7..]), "{}", ran.err);
    }
    assert!(!journal.path("none.db").exists());
}

#[test]
fn two_is_a_wrong_command_line() {
    let journal = Journal::new();
    for arguments in [
        &["calls"][..],
        &["calls", "list", "--state", "lost"],
        &["calls", "list", "--limit", "0"],
        &["calls", "list", "--journal", "postgres:a"],
        &["calls", "list", "--journal", "sqlite:"],
        &["calls", "show", "abc"],
        &["calls", "watch", "--interval", "0s"],
        &["approvals", "approve"],
        &["approvals", "edit", PENDING],
        &["approvals", "edit", PENDING, "--arguments", "{}", "--set", "/a=1"],
        &["plan", "run"],
        &["plan", "run", "--all", "--first", "1"],
        &["plan", "run", PENDING, "--all"],
        &["plan", "run", "--first", "0"],
        &["plan", "reject", "--all"],
        &["dead-letters", "requeue"],
        &["dead-letters", "requeue", "--tool", "fetch"],
        &["dead-letters", "requeue", "--kind", "timeout", "--every", "1s"],
        &["dead-letters", "requeue", DEAD, "--all"],
        &["dead-letters", "requeue", DEAD, "--tool", "fetch"],
        &["dead-letters", "requeue", "--all", "--dry-run"],
        &["dead-letters", "requeue", "--all", "--every", "0s"],
        &["dead-letters", "edit", DEAD],
        &["dead-letters", "discard"],
        &["dead-letters", "purge", "--all"],
        &["dead-letters", "purge", "--older-than", "30d"],
        &["dead-letters", "purge", "--older-than", "soon", "--all"],
        &["dead-letters", "list", "--older-than", "-1d"],
        &["keys", "new"],
    ] {
        let ran = journal.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments:?}");
    }
    let mut without = journal.command(&["calls", "list"]);
    let without_journal = ran(without.env_remove("TOOLWRIGHT_JOURNAL"), b"");
    assert!(without_journal.code == 2 && without_journal.err.contains("--journal"));
    let mut without = journal.command(&["approvals", "approve", PENDING]);
    let without_key =
        without.env_remove("TOOLWRIGHT_KEY").env("XDG_CONFIG_HOME", journal.path("none"));
    let without_key = ran(without_key, b"");
    assert!(without_key.code == 2 && without_key.err.contains("--key"), "{}", without_key.err);
}

#[test]
fn an_option_that_is_wrong_is_told_with_what_is_accepted() {
    let journal = Journal::new();
    let length = "expected a length of time above zero in weeks, days, hours, minutes or seconds, such as 7d, 12h or 1h30m";
    for (arguments, accepted) in [
        (&["dead-letters", "list", "--older-than", "forever"][..], length),
        (&["dead-letters", "list", "--older-than", "7"], length),
        (&["dead-letters", "requeue", "--all", "--every", "1 fortnight"], length),
        (&["approvals", "grant", PENDING, "--scope", "run", "--for", "ever"], length),
        (
            &["approvals", "grant", PENDING, "--scope", "run", "--until", "20.11.2026"],
            "expected a date and time with its offset, such as 2026-11-20T14:30:00Z",
        ),
        (
            &["approvals", "grant", PENDING, "--scope", "run", "--uses", "many"],
            "expected a whole number from 1 to 4294967295",
        ),
        (&["calls", "list", "--limit", "all"], "expected a whole number from 1 to 100000"),
    ] {
        let ran = journal.run(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}");
        let first = ran.err.lines().next().unwrap_or_default();
        assert!(first.ends_with(accepted), "{arguments:?}: {first}");
    }
}

#[test]
fn three_is_that_there_is_no_such_call_or_grant() {
    let journal = Journal::new();
    for arguments in [
        &["calls", "show", "ffffffff"][..],
        &["calls", "history", "0199a0b0-0001-7000-8000-0000000000b1"],
        &["calls", "watch", "ffffffff"],
        &["calls", "list", "--after", "ffffffff"],
        &["approvals", "approve", "ffffffff"],
        &["approvals", "revoke", "ffffffff-1"],
        &["indeterminate", "resolve", "ffffffff", "--did-not-happen"],
        &["dead-letters", "show", "ffffffff"],
        &["dead-letters", "requeue", DEAD, "ffffffff"],
        &["dead-letters", "discard", DEAD, "ffffffff"],
        &["plan", "run", "ffffffff"],
    ] {
        let ran = journal.run(arguments);
        assert!(ran.code == 3 && ran.err.starts_with("error: there is no "), "{}", ran.err);
    }
}

#[test]
fn four_is_that_a_decision_came_too_late() {
    let journal = Journal::new();
    assert_eq!(journal.run(&["approvals", "approve", LATE]).code, 4);
    let unsure = journal.run(&["indeterminate", "resolve", PENDING, "--did-not-happen"]);
    assert_eq!(unsure.code, 4, "{}", unsure.err);
    for arguments in [
        &["dead-letters", "requeue", PENDING][..],
        &["dead-letters", "discard", PENDING],
        &["dead-letters", "edit", PENDING, "--arguments", "{}"],
        &["plan", "run", PENDING],
    ] {
        let ran = journal.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (4, ""), "{arguments:?}: {}", ran.err);
        assert_eq!(journal.get(PENDING).state, State::Pending);
    }
}

#[test]
fn five_is_that_the_key_cannot_be_used() {
    let journal = Journal::new();
    let approve = |key: &Path| {
        let ran = journal.run(&["approvals", "approve", PENDING, "--key", key.to_str().unwrap()]);
        assert_eq!(ran.code, 5, "{}", ran.err);
    };
    approve(&journal.path("none.key"));
    approve(&journal.path("calls.db"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let key = journal.path("bob.key");
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
        approve(&key);
    }
}
