//! A journal that is opened by way of a folder that tools work in: they could have its name lead elsewhere.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use toolwright::journal::{Journal, SqliteStore, Store};
use toolwright::{BuildProblem, Call, Executor, OnNoApprover, Registry, tool};

use super::support::{Folder, document, note};

/// Whether an executor whose tools work in the folder takes the journal that is opened by this name.
async fn taken(path: &Path, work: &Path) -> bool {
    let store = SqliteStore::open(path).await.unwrap();
    let builder = Executor::builder(Registry::empty()).unrestricted().workspace_root(work);
    let built = builder.journal(Journal::new(store).on_no_approver(OnNoApprover::Deny)).build();
    let Err(error) = built else { return true };
    let [BuildProblem::InWorkspace { what: "journal", file, .. }] = &error.problems[..] else {
        panic!("{error}")
    };
    assert_eq!(file, path);
    false
}

#[tokio::test]
async fn a_journal_whose_name_leads_through_a_workspace_is_refused() {
    let folder = Folder::new();
    let inside = |name: &str| folder.path().join("books").join(name);
    let outside = |name: &str| folder.path().join(name);
    fs::create_dir_all(inside("shelf")).unwrap();
    fs::create_dir(outside("kept")).unwrap();
    symlink(outside("kept/calls.db"), inside("calls.db")).unwrap();
    symlink(outside("kept"), inside("folder")).unwrap();
    symlink("books/calls.db", outside("there-and-back.db")).unwrap();
    symlink("kept/calls.db", outside("link.db")).unwrap();
    let work = outside("books");
    assert!(taken(&outside("kept/calls.db"), &work).await);
    assert!(taken(&outside("link.db"), &work).await);
    assert!(taken(&outside("books/../kept/calls.db"), &work).await, "the folder itself stays");
    assert!(!taken(&inside("calls.db"), &work).await, "the link can be made anew");
    assert!(!taken(&inside("folder/calls.db"), &work).await, "the link can be made anew");
    assert!(!taken(&inside("shelf/../../kept/calls.db"), &work).await, "a link can be made of it");
    assert!(!taken(&outside("there-and-back.db"), &work).await, "the second link can be made anew");
    assert!(!taken(&inside("own.db"), &work).await);
}

#[tokio::test]
async fn a_journal_stays_where_it_was_when_a_link_to_it_leads_elsewhere_later() {
    let folder = Folder::new();
    let (link, file) = (folder.path().join("link.db"), folder.file());
    drop(SqliteStore::open(&file).await.unwrap());
    symlink(&file, &link).unwrap();
    let store = SqliteStore::open(&link).await.unwrap();
    assert_eq!(store.file(), Some(&*link));
    fs::remove_file(&link).unwrap();
    symlink(folder.path().join("other.db"), &link).unwrap();
    note(&store, "a", "kept").await.unwrap();
    let store = SqliteStore::open_existing(&file).await.unwrap();
    assert_eq!(document(&store, "a").await.as_deref(), Some("kept"));
}

/// Writes a file.
#[tool(effect = idempotent, writes(file = path))]
async fn write_file(
    /// Which.
    path: String,
) {
    drop(path);
}

/// From the folder in which the process was started to a file.
fn from_here(file: &Path) -> String {
    let here = std::env::current_dir().unwrap();
    let up = "../".repeat(here.components().count() - 1);
    format!("{up}{}", file.strip_prefix("/").unwrap().display())
}

#[tokio::test]
async fn a_journal_in_a_file_builds_with_the_default_policy_which_protects_it_by_every_name() {
    let folder = Folder::new();
    let file = folder.path().canonicalize().unwrap().join("calls.db");
    let relative = from_here(&file);
    let store = SqliteStore::open(&relative).await.unwrap();
    let builder = Executor::builder(Registry::of([WRITE_FILE]).unwrap());
    let journal = Journal::new(store).on_no_approver(OnNoApprover::Park);
    let executor = builder.journal(journal).build().unwrap();
    let objections = |path: &str| {
        let arguments = serde_json::json!({ "path": path }).to_string();
        let explained = executor.explain(&Call::new("write_file", arguments)).unwrap();
        explained.because().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(objections(&relative), ["protect-journal"]);
    assert_eq!(objections(&file.display().to_string()), ["protect-journal"]);
    assert_eq!(objections("calls.db"), ["mode"], "another file, beside the process");
    assert_eq!(objections("/calls.db"), ["mode"], "another file");
}
