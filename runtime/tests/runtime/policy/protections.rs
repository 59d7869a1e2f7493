//! What holds without being written.

use toolwright::policy::{Mode, Policy, Protection};
use toolwright::{Danger, Effect};

use super::scene::{Case, bare, catalog, policy, refused};

fn protected() -> Policy {
    policy(Policy::builder().mode(Mode::Unrestricted).base("/srv"))
}

#[test]
fn git_environment_and_keys_are_not_written() {
    let policy = protected();
    let denied = [
        ".git",
        ".git/config",
        "a/.git/hooks/post-commit",
        ".GIT/config",
        "/elsewhere/.git/HEAD",
        ".g\u{200c}it/config",
        ".env",
        ".env.local",
        "a/.ENV",
        "server.pem",
        "a/b.key",
        "id_rsa",
        "home/.ssh/config",
        "id_ed25519.pub",
    ];
    for name in denied {
        assert_eq!(Case::of("write_file").writing(name).word(&policy), "deny", "{name}");
    }
    for name in ["src/a.rs", ".gitignore", "environment", "keys.md", "id_map.rs", "a.git/b"] {
        assert_eq!(Case::of("write_file").writing(name).word(&policy), "allow", "{name}");
    }
}

#[test]
fn a_person_is_asked_before_keys_are_read() {
    let policy = protected();
    assert_eq!(Case::of("read_file").reading("a/server.pem").word(&policy), "ask");
    assert_eq!(Case::of("read_file").reading(".git/config").word(&policy), "allow");
}

#[test]
fn who_does_not_say_what_it_touches_is_asked_about_and_not_refused() {
    let policy = protected();
    assert_eq!(Case::of("bash").undeclared().word(&policy), "ask");
    // It writes nothing, and of every read one would be asked.
    assert_eq!(Case::of("clock").effect(Effect::Read).undeclared().word(&policy), "allow");
    let safe = Case::of("clock").danger(Danger::Safe);
    assert_eq!(safe.word(&policy), "allow", "it says that it touches nothing");
}

#[test]
fn a_protection_that_is_named_off_is_off_and_the_others_are_not() {
    let text = "version = 1\nprotections_off = [\"protect-git\"]\n";
    let policy = policy(Policy::builder().mode(Mode::Unrestricted).text("p", text));
    assert_eq!(Case::of("write_file").writing(".git/config").word(&policy), "allow");
    assert_eq!(Case::of("write_file").writing(".env").word(&policy), "deny");
    let off =
        refused(Policy::builder().text("p", "version = 1\nprotections_off = [\"protect-gti\"]\n"));
    assert_eq!(
        off.to_string(),
        "the policy cannot be used: p:2:20: no protection is called `protect-gti`; did you mean `protect-git`, \
         `protect-policy`, `protect-env`?"
    );
}

#[test]
fn nothing_outside_of_the_roots_is_touched() {
    let policy = policy(Policy::builder().mode(Mode::Unrestricted).root("/srv").root("/data"));
    for (name, word) in [
        ("a", "allow"),
        ("/data/b", "allow"),
        ("../data/b", "allow"),
        ("../b", "deny"),
        ("/etc/passwd", "deny"),
    ] {
        assert_eq!(Case::of("read_file").reading(name).word(&policy), word, "{name}");
    }
}

#[test]
fn the_journal_and_what_lies_beside_it_are_not_written() {
    let policy = policy(
        Policy::builder().mode(Mode::Unrestricted).base("/srv").journal("state/calls[1].db"),
    );
    for name in ["state/calls[1].db", "/srv/state/calls[1].db-wal", "state", "."] {
        let word = Case::of("write_file").writing(name).word(&policy);
        assert!(matches!(word, "deny" | "ask"), "{name}: {word}");
    }
    assert_eq!(Case::of("write_file").writing("state/calls1.db").word(&policy), "allow");
}

#[test]
fn a_loaded_policy_protects_itself() {
    let folder = std::env::temp_dir().join(format!("toolwright-policy-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("policy.toml");
    std::fs::write(&path, "version = 1\nmode = \"unrestricted\"\n").expect("a file");
    let policy = Policy::load(&path, &catalog()).expect("a policy");
    assert_eq!(policy.mode(), Mode::Unrestricted);
    let name = path.to_string_lossy();
    assert_eq!(Case::of("write_file").writing(&name).word(&policy), "deny");
    let up = format!("{}/x/../POLICY.toml", folder.display());
    assert_eq!(Case::of("write_file").writing(&up).word(&policy), "deny");
    let beside = format!("{}/other.toml", folder.display());
    assert_eq!(Case::of("write_file").writing(&beside).word(&policy), "allow");
    std::fs::remove_dir_all(&folder).expect("the folder is there");
    let gone = Policy::load(&path, &catalog()).expect_err("it is gone").to_string();
    assert!(gone.starts_with("the policy cannot be used: the policy `"), "{gone}");
}

#[test]
fn every_protection_has_a_name_of_its_own_and_can_be_turned_off() {
    let known = Policy::builder().root("/srv").journal("/srv/j");
    let text = "version = 1\n";
    let on = policy(known.clone().text("p", text));
    assert_eq!(on.rules().count(), Protection::ALL.len() - 1, "the policy has no file");
    assert_eq!(policy(known.without(Protection::ALL)).rules().count(), 0);
    assert_eq!(policy(bare()).rules().count(), 0);
}
