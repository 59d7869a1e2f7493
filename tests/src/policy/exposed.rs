//! Invariant 15: policy, journal and keys lie outside of what tools reach, whoever says where tools work, and whenever.

use std::path::{Path, PathBuf};

use toolwright::approval::{ApproverKey, Callback, Response};
use toolwright::journal::Journal;
use toolwright::policy::{Mode, Policy, PolicyBuilder};
use toolwright::{BuildProblem, Executor, OnNoApprover, Registry};

use super::support::{TOOLS, call, executor};
use crate::calls::odd::Odd;
use crate::calls::support::{key, office};
use crate::support::kind;

/// What is told to lie in a folder that tools work in, where the journal is kept in this file.
fn exposed(policy: PolicyBuilder, journal: &Path) -> Vec<&'static str> {
    let store = Odd { file: Some(journal.to_owned()), ..Odd::default() };
    let office = office();
    match office.ruled().journal(office.parking_in(store)).policy(policy).build() {
        Ok(_) => Vec::new(),
        Err(error) => whats(&error.problems),
    }
}

fn whats(problems: &[BuildProblem]) -> Vec<&'static str> {
    let what = |problem: &BuildProblem| match problem {
        BuildProblem::InWorkspace { what, .. } => *what,
        other => panic!("{other}"),
    };
    problems.iter().map(what).collect()
}

/// A folder with a folder `work` in it.
fn folders() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    std::fs::create_dir(&work).unwrap();
    (folder, work)
}

#[test]
fn a_journal_inside_a_root_of_the_policy_is_refused() {
    let (folder, work) = folders();
    let rooted = || Policy::builder().root(&work);
    assert_eq!(exposed(rooted(), &work.join("calls.sqlite")), ["journal"]);
    assert_eq!(exposed(rooted(), &folder.path().join("calls.sqlite")), [""; 0]);
}

#[test]
fn a_relative_root_of_the_policy_begins_in_its_base_folder() {
    let (folder, work) = folders();
    let written =
        Policy::builder().base(folder.path()).text("p", "version = 1\nroots = [\"work\"]\n");
    assert_eq!(exposed(written.clone(), &work.join("calls.sqlite")), ["journal"]);
    assert_eq!(exposed(written, &folder.path().join("calls.sqlite")), [""; 0]);
}

#[test]
fn the_key_of_an_approver_inside_a_root_of_the_policy_is_refused() {
    let (_folder, work) = folders();
    let file = work.join("ada.key");
    key("ada", 1).save(&file).unwrap();
    let key = ApproverKey::load(&file).unwrap();
    let approver = Callback::new(|_| Response::Approve);
    let builder = office().ruled().policy(Policy::builder().root(&work)).approver(key, approver);
    assert_eq!(whats(&builder.build().unwrap_err().problems), ["key of an approver"]);
}

#[cfg(unix)]
#[test]
fn a_link_to_the_policy_inside_a_root_is_refused() {
    let (folder, work) = folders();
    let (file, link) = (folder.path().join("policy.toml"), work.join("policy.toml"));
    std::fs::write(&file, "version = 1\n").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let journal = folder.path().join("calls.sqlite");
    let rooted = || Policy::builder().root(&work);
    assert_eq!(exposed(rooted().load(&link), &journal), ["policy"], "the link could be made anew");
    assert_eq!(exposed(rooted().load(&file), &journal), [""; 0]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_journal_that_is_opened_by_a_link_is_protected_under_both_names() {
    let (folder, _work) = folders();
    let folder = folder.path().canonicalize().unwrap();
    let (file, link) = (folder.join("calls.sqlite"), folder.join("link.sqlite"));
    std::fs::write(&file, "").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let store = Odd { file: Some(link.clone()), ..Odd::default() };
    let executor = Executor::builder(Registry::of(TOOLS).unwrap())
        .policy(Policy::builder().base(&folder).mode(Mode::Unrestricted))
        .journal(Journal::new(store).on_no_approver(OnNoApprover::Deny))
        .build()
        .unwrap();
    for (path, becomes) in [(file, "denied"), (link, "denied"), (folder.join("other"), "ok")] {
        let arguments = serde_json::json!({ "path": path }).to_string();
        assert_eq!(kind(&call(&executor, "pol_write", &arguments).await), becomes, "{arguments}");
    }
}

#[tokio::test]
async fn a_root_that_is_added_while_it_runs_exposes_nothing() {
    let (folder, work) = folders();
    let file = folder.path().join("policy.toml");
    let write = |roots: &[&Path]| {
        let text = format!("version = 1\nmode = \"auto-safe\"\nroots = {roots:?}\n");
        std::fs::write(&file, text).unwrap();
    };
    write(&[&work]);
    let executor = executor(Policy::builder().load(&file));
    let path = folder.path().join("a");
    let arguments = serde_json::json!({ "path": path }).to_string();
    assert_eq!(kind(&call(&executor, "pol_write", &arguments).await), "denied");
    write(&[&work, folder.path()]);
    let error = executor.reload_policy().unwrap_err().to_string();
    assert!(error.contains("the policy") && error.contains("lies in the workspace"), "{error}");
    assert_eq!(kind(&call(&executor, "pol_write", &arguments).await), "denied", "it is as it was");
}

/// The first reading waits for the text at a pipe, while the file is changed and read again.
#[cfg(unix)]
#[test]
fn of_two_readings_at_once_the_later_one_counts() {
    let folder = tempfile::tempdir().unwrap();
    let (file, other) = (folder.path().join("policy.toml"), folder.path().join("other.toml"));
    let text = |mode: &str| format!("version = 1\nmode = \"{mode}\"\n");
    std::fs::write(&file, text("interactive")).unwrap();
    let executor = executor(Policy::builder().load(&file));
    std::fs::remove_file(&file).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
    let reload = |executor: &Executor| {
        let executor = executor.clone();
        std::thread::spawn(move || executor.reload_policy().unwrap())
    };
    let first = reload(&executor);
    // It opens when the first reading has begun.
    let mut pipe = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
    std::fs::write(&other, text("strict")).unwrap();
    std::fs::rename(&other, &file).unwrap();
    let second = reload(&executor);
    // Time enough for it to end, if it does not wait for the first.
    std::thread::sleep(std::time::Duration::from_millis(100));
    std::io::Write::write_all(&mut pipe, text("unrestricted").as_bytes()).unwrap();
    drop(pipe);
    first.join().unwrap();
    second.join().unwrap();
    assert_eq!(executor.policy().mode().to_string(), "strict");
}
