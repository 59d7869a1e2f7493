//! `toolwright keys`: made once, where no agent works.

use std::path::Path;
use std::process::Command;

use toolwright::approval::ApproverKey;

use super::journal::{Journal, LIKE_IT, PENDING};
use super::{Ran, ran};

fn keys(home: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    command.arg("keys").args(arguments).current_dir(home);
    command.env_remove("XDG_CONFIG_HOME").env_remove("TOOLWRIGHT_KEY").env("HOME", home);
    ran(&mut command, b"")
}

#[test]
fn a_key_is_made_in_the_configuration_and_never_written_over() {
    let home = tempfile::tempdir().unwrap();
    let made = keys(home.path(), &["new", "--name", "ada"]);
    assert_eq!(made.code, 0, "{}", made.err);
    let file = home.path().join(".config/toolwright/keys/ada.key");
    let key = ApproverKey::load(&file).unwrap();
    let public = key.public();
    let file = file.to_str().unwrap();
    assert_eq!(
        made.out,
        format!(
            "name    ada\npublic  {public}\nfile    {file}\ntrust   .trust(\"ada\", \"{public}\".parse()?)\n"
        )
    );
    assert_eq!(keys(home.path(), &["show", file]).out, made.out);
    let again = keys(home.path(), &["new", "--name", "ada"]);
    assert!(again.code == 5 && again.err.contains("never written over"), "{}", again.err);
    assert_eq!(ApproverKey::load(file).unwrap().public(), public);
}

/// Approves a call with whatever key is found.
fn approve(journal: &Journal, home: &Path, call: &str) -> Ran {
    let mut command = journal.command(&["approvals", "approve", call]);
    command.env_remove("XDG_CONFIG_HOME").env_remove("TOOLWRIGHT_KEY").env("HOME", home);
    ran(&mut command, b"")
}

#[test]
fn a_new_key_lies_where_decisions_look_for_one() {
    let (home, journal) = (tempfile::tempdir().unwrap(), Journal::new());
    let none = approve(&journal, home.path(), PENDING);
    assert!(none.code == 2 && none.err.contains("toolwright keys new"), "{}", none.err);

    assert_eq!(keys(home.path(), &["new", "--name", "ada"]).code, 0);
    let approved = approve(&journal, home.path(), PENDING);
    assert_eq!(approved.code, 0, "{}", approved.err);
    let decided = journal.run(&["calls", "show", PENDING]);
    assert!(decided.out.contains("ada"), "{}", decided.out);

    assert_eq!(keys(home.path(), &["new", "--name", "grace"]).code, 0);
    let several = approve(&journal, home.path(), LIKE_IT);
    assert_eq!(several.code, 2, "{}", several.err);
    assert!(several.err.contains("which of ada.key, grace.key signs"), "{}", several.err);
}

#[test]
fn a_key_whose_file_is_named_needs_no_folder_of_the_user() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine");
    let mut new = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    new.args(["keys", "new", "--name", "ada"]).env_remove("XDG_CONFIG_HOME").env_remove("HOME");
    let made = ran(new.env("TOOLWRIGHT_KEY", &file), b"");
    assert_eq!(made.code, 0, "{}", made.err);
    assert_eq!(ApproverKey::load(&file).unwrap().name(), "ada");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no other file is left");
}

#[test]
fn a_new_key_lies_where_the_variable_says_that_decisions_look() {
    let (home, journal) = (tempfile::tempdir().unwrap(), Journal::new());
    let file = home.path().join("mine");
    let with = |command: &mut Command| {
        command.env_remove("XDG_CONFIG_HOME").env("HOME", home.path()).env("TOOLWRIGHT_KEY", &file);
        ran(command, b"")
    };
    let mut new = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    let made = with(new.args(["keys", "new", "--name", "ada"]));
    assert_eq!(made.code, 0, "{}", made.err);
    assert_eq!(ApproverKey::load(&file).unwrap().name(), "ada");
    let approved = with(&mut journal.command(&["approvals", "approve", PENDING]));
    assert_eq!(approved.code, 0, "{}", approved.err);

    let mut new = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    let second = with(new.args(["keys", "new", "--name", "grace"]));
    assert!(second.code == 0 && second.err.starts_with("note: decisions are"), "{}", second.err);
    assert_eq!(ApproverKey::load(&file).unwrap().name(), "ada");
}

#[cfg(unix)]
#[test]
fn folders_are_made_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let configuration = home.path().join("deep").join("config");
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    command.args(["keys", "new", "--name", "ada", "--json"]).env("XDG_CONFIG_HOME", &configuration);
    command.env_remove("TOOLWRIGHT_KEY");
    let made = ran(&mut command, b"");
    let shown: serde_json::Value = serde_json::from_str(&made.out).unwrap();
    let file = Path::new(shown["file"].as_str().unwrap());
    assert!(file.starts_with(&configuration), "{}", made.out);
    let keys: Vec<&String> = shown.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["enrol", "file", "name", "public"]);
    for folder in file.ancestors().skip(1).take_while(|it| *it != home.path()) {
        assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[test]
fn no_key_is_made_in_a_work_tree_unless_that_is_meant() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join("project/.git")).unwrap();
    std::fs::create_dir_all(home.path().join("project/src")).unwrap();
    let new = ["new", "--name", "ada", "--out", "project/src/ada.key"];
    let refused = keys(home.path(), &new);
    assert!(refused.code == 5 && refused.err.contains("git work tree"), "{}", refused.err);
    assert!(!home.path().join("project/src/ada.key").exists());
    let meant = keys(home.path(), &[&new[..], &["--anyway"]].concat());
    assert!(meant.code == 0 && meant.err.starts_with("warning: "), "{}", meant.err);
}

#[cfg(unix)]
#[test]
fn a_link_into_a_work_tree_leads_into_it() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join("project/.git")).unwrap();
    std::os::unix::fs::symlink(home.path().join("project"), home.path().join("safe")).unwrap();
    let ran = keys(home.path(), &["new", "--name", "ada", "--out", "safe/ada.key"]);
    assert!(ran.code == 5 && ran.err.contains("git work tree"), "{}", ran.err);
}

#[test]
fn a_name_that_is_none_is_a_wrong_command_line() {
    let home = tempfile::tempdir().unwrap();
    for name in ["", " ada", "a\nb", "../ada", ".ada", "ada lovelace"] {
        assert_eq!(keys(home.path(), &["new", "--name", name]).code, 2, "{name:?}");
    }
    let ran = keys(home.path(), &["new", "--name", "Ada Lovelace", "--out", "ada.key"]);
    assert!(ran.code == 0 && ran.out.contains("Ada Lovelace"), "{}", ran.err);
}

#[test]
fn what_is_no_key_is_not_shown() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("text"), "secret\n").unwrap();
    for file in ["none", "text"] {
        let ran = keys(home.path(), &["show", file]);
        assert!(ran.code == 5 && !ran.err.contains("secret"), "{}", ran.err);
    }
}
