//! `toolwright approvals grant`, `grants` and `revoke`: what is allowed without asking.

use toolwright::approval::{Decision, GrantTerms, Scope};
use toolwright::journal::State;
use toolwright::unstable::approval::GrantCandidate;

use super::journal::{EMPTY, Journal, LIKE_IT, PENDING, SECRET};

fn terms(journal: &Journal, id: &str) -> GrantTerms {
    let signed = journal.get(id).decision.unwrap();
    match signed.statement().unwrap().verdict {
        Decision::Approve { grant: Some(terms) } => terms,
        verdict => panic!("{verdict}"),
    }
}

fn covers(terms: &GrantTerms, arguments: &str) -> bool {
    let (tool, run) = ("send_mail", "run-1");
    let now = jiff::Timestamp::now();
    let (session, project, used) = (Some("s1"), Some("shop"), 0);
    terms
        .covers(&GrantCandidate {
            tool,
            fingerprint: "f1",
            arguments,
            run,
            session,
            project,
            now,
            used,
        })
        .is_ok()
}

#[test]
fn a_grant_approves_a_call_and_allows_others_like_it() {
    let journal = Journal::new();
    let grant = [
        "approvals",
        "grant",
        PENDING,
        "--scope",
        "run",
        "--for",
        "1d",
        "--uses",
        "3",
        "--where",
        r#"/to="eve@example.org""#,
        "--where-in",
        "/copies=1,2,3",
    ];
    insta::assert_snapshot!("granted", journal.shown(&grant));
    assert_eq!(journal.get(PENDING).state, State::Ready);
    let terms = terms(&journal, PENDING);
    assert_eq!((terms.scope.clone(), terms.uses), (Scope::Run("run-1".to_owned()), Some(3)));
    assert!(covers(&terms, r#"{"to":"eve@example.org","copies":3.0}"#));
    assert!(!covers(&terms, r#"{"to":"eve@example.org","copies":4}"#));
    assert!(!covers(&terms, r#"{"to":"ada@example.org","copies":2}"#));
}

#[test]
fn exactly_takes_no_argument_more() {
    let journal = Journal::new();
    let ran = journal.run(&["approvals", "grant", PENDING, "--scope", "session:s1", "--exactly"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let terms = terms(&journal, PENDING);
    assert!(covers(&terms, r#"{"copies":2,"to":"eve@example.org"}"#));
    assert!(!covers(&terms, r#"{"copies":2,"to":"eve@example.org","cc":"mallory@example.org"}"#));
    assert!(!covers(&terms, "{}"));
}

#[test]
fn exactly_of_no_arguments_takes_none() {
    let journal = Journal::new();
    let ran = journal.run(&["approvals", "grant", EMPTY, "--scope", "project:shop", "--exactly"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(terms(&journal, EMPTY).arguments.is_empty());
}

#[test]
fn a_grant_that_says_too_little_or_nonsense_is_not_signed() {
    let journal = Journal::new();
    let scope = ["approvals", "grant", PENDING, "--scope", "forever"];
    for (arguments, words) in [
        (&[][..], "required"),
        (&["--exactly", "--where", "/copies=2"], "cannot be used with"),
        (&["--where", "/to=eve"], "double quotes"),
        (&["--where", "/copies=3"], "would not cover the call it is given with"),
        (&["--where", "copies=2"], "is no JSON pointer"),
        (&["--where", "/copies=2", "--where-in", "/copies=2,3"], "given twice"),
        (&["--exactly", "--uses", "0"], "0"),
        (&["--exactly", "--until", "2020-01-01T00:00:00Z"], "past"),
        (&["--exactly", "--for=-1h"], "above zero"),
        (&["--exactly", "--for", "1h", "--until", "2120-01-01T00:00:00Z"], "cannot be used with"),
    ] {
        let ran = journal.run(&[&scope, arguments].concat());
        assert!(
            ran.code == 2 && ran.err.contains(words),
            "{arguments:?}: {} {}",
            ran.code,
            ran.err
        );
    }
    for scope in ["session", "session:", "team:a", "Forever"] {
        let ran = journal.run(&["approvals", "grant", PENDING, "--scope", scope, "--exactly"]);
        assert_eq!(ran.code, 2, "{scope}");
    }
    assert_eq!(journal.run(&["approvals", "grant", PENDING, "--exactly"]).code, 2);
    let secret = ["approvals", "grant", SECRET, "--scope", "run"];
    let exactly = journal.run(&[&secret[..], &["--exactly"]].concat());
    assert!(exactly.code == 2 && exactly.err.contains("has secrets"), "{}", exactly.err);
    assert_eq!(journal.get(PENDING).state, State::Pending);
    let unseen = [&secret[..], &["--where", r#"/user="ada""#, "--unseen"]].concat();
    assert_eq!(journal.run(&unseen).code, 0);
}

#[test]
fn grants_are_listed_and_taken_back() {
    let journal = Journal::new();
    let grant = |id: &str, more: &[&str]| {
        let ran = journal.run(&[&["approvals", "grant", id, "--scope"], more].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
    };
    grant(PENDING, &["run", "--exactly", "--uses", "2", "--until", "2120-01-01T00:00:00Z"]);
    grant(LIKE_IT, &["forever", "--where", "/copies=2"]);
    grant(EMPTY, &["project:shop", "--exactly"]);
    let revoked = format!("{LIKE_IT}-1");
    insta::assert_snapshot!("revoked", journal.shown(&["approvals", "revoke", &revoked]));
    insta::assert_snapshot!(
        "revoked_twice",
        journal.shown(&["approvals", "revoke", "000000a2-1", "--json"])
    );
    let list = journal.shown(&["approvals", "grants"]);
    // The year 2120 comes nearer.
    let in_days = list.split("in ").nth(1).and_then(|it| it.split(' ').next()).unwrap().to_owned();
    insta::assert_snapshot!("grants", list.replace(&in_days, "34000"));
    insta::assert_snapshot!(
        "grants_for_programs",
        journal.shown(&["approvals", "grants", "--tool", "send_mail", "--json"])
    );
    for (id, code) in [("0199a0b0", 2), ("ffffffff-1", 3), ("a2-1", 2), ("nothing at all", 2)] {
        assert_eq!(journal.run(&["approvals", "revoke", id]).code, code, "{id}");
    }
}

#[test]
fn a_grant_that_cannot_be_read_is_told_and_hides_none_of_the_others() {
    let journal = Journal::new();
    let grant = ["approvals", "grant", EMPTY, "--scope", "forever", "--exactly"];
    assert_eq!(journal.run(&grant).code, 0);
    journal.document("grant/restart/broken\u{1b}", "{");
    insta::assert_snapshot!("a_broken_grant", journal.shown(&["approvals", "grants"]));
    let revoke = journal.run(&["approvals", "revoke", &format!("{EMPTY}-1")]);
    assert!(revoke.code == 0 && revoke.err.contains("no grant that can be read"), "{}", revoke.err);
}
