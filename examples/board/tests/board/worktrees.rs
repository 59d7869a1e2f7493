//! The worktree of a ticket, as it may be found.

use std::fs;

use board::git::{WorktreeError, find_or_make, tree};
use board::ticket::State;

use crate::support::{around, run_git};

#[test]
fn a_worktree_is_made_found_again_with_its_changes_and_made_again_where_it_is_gone() {
    let around = around();
    let ticket = around.ticket(State::Research, &[]);
    let (repository, folder) = (around.folder.path().join("repository"), around.worktree(ticket));
    let branch = format!("ticket-{ticket}");
    let found = || find_or_make(&repository, &folder, &branch, "main");
    found().unwrap();
    fs::write(folder.join("README.md"), "coffee\n").unwrap();
    found().unwrap();
    assert_eq!(fs::read_to_string(folder.join("README.md")).unwrap(), "coffee\n");
    run_git(&folder, &["commit", "--quiet", "--all", "--message=coffee"]);
    fs::remove_dir_all(&folder).unwrap();
    found().unwrap();
    assert_eq!(fs::read_to_string(folder.join("README.md")).unwrap(), "coffee\n");

    run_git(&folder, &["switch", "--quiet", "--create", "other"]);
    let error = found().unwrap_err().to_string();
    assert!(error.contains("is on the branch `other`, expected `ticket-1`"), "{error}");
    run_git(&repository, &["worktree", "lock", folder.to_str().unwrap()]);
    fs::remove_dir_all(&folder).unwrap();
    assert!(matches!(found(), Err(WorktreeError::Git(why)) if why.contains("locked")));
}

/// Git is killed with its group in the middle of the files, or before the first of them.
#[test]
fn a_worktree_that_git_was_making_when_it_was_killed_is_made_again_with_all_files() {
    use std::os::unix::process::CommandExt as _;
    for is_begun in [true, false] {
        let around = around();
        let repository = around.folder.path().join("repository");
        let folder = around.worktree(1);
        for number in 0..20 {
            fs::write(repository.join(format!("{number:02}.txt")), "tea\n").unwrap();
        }
        fs::write(repository.join(".gitattributes"), "10.txt filter=dies\n").unwrap();
        run_git(&repository, &["add", "--all"]);
        run_git(&repository, &["commit", "--quiet", "--message=more"]);
        run_git(&repository, &["config", "filter.dies.smudge", "kill -KILL 0"]);
        let mut git = std::process::Command::new("git");
        git.args(["worktree", "add", "--quiet", "-b", "ticket-1"]).arg(&folder).arg("main");
        let ended = git.current_dir(&repository).process_group(0).output().unwrap();
        assert!(!ended.status.success() && folder.join("00.txt").exists());
        assert!(!folder.join("19.txt").exists());
        run_git(&repository, &["config", "--unset", "filter.dies.smudge"]);
        if !is_begun {
            fs::remove_dir_all(&folder).unwrap();
        }
        find_or_make(&repository, &folder, "ticket-1", "main").unwrap();
        assert!(folder.join("19.txt").exists(), "{is_begun}");
        assert_eq!(run_git(&folder, &["status", "--porcelain"]), "");
        fs::write(folder.join("00.txt"), "coffee\n").unwrap();
        run_git(&folder, &["commit", "--quiet", "--all", "--message=coffee"]);
    }
}

#[test]
fn a_folder_that_is_no_worktree_of_the_repository_is_left_alone() {
    let around = around();
    let (repository, folder) = (around.folder.path().join("repository"), around.worktree(1));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("mine.txt"), "mine\n").unwrap();
    let error = find_or_make(&repository, &folder, "ticket-1", "main").unwrap_err();
    assert!(matches!(error, WorktreeError::Foreign { .. }), "{error}");
    assert_eq!(fs::read_to_string(folder.join("mine.txt")).unwrap(), "mine\n");
}

#[test]
fn a_tree_is_that_of_the_files_whether_they_are_committed_or_not_and_nothing_is_written_for_it() {
    let around = around();
    let repository = around.folder.path().join("repository");
    let objects = || run_git(&repository, &["count-objects"]);
    let before = tree(&repository).unwrap();
    assert_eq!(before, run_git(&repository, &["rev-parse", "HEAD^{tree}"]).trim());
    fs::write(repository.join("new.txt"), "new\n").unwrap();
    let counted = objects();
    let changed = tree(&repository).unwrap();
    assert_ne!(before, changed);
    assert_eq!(objects(), counted);
    fs::create_dir(repository.join("target")).unwrap();
    fs::write(repository.join("target/ignored"), "x").unwrap();
    run_git(&repository, &["add", "new.txt"]);
    run_git(&repository, &["commit", "--quiet", "--message=new"]);
    assert_eq!(tree(&repository).unwrap(), changed);
}

/// Runners that begin tickets at one moment do not remove what another has half made.
#[test]
fn worktrees_that_are_made_at_once_are_all_made() {
    let around = around();
    let repository = around.folder.path().join("repository");
    std::thread::scope(|scope| {
        for ticket in 1..=24 {
            let (repository, folder) = (&repository, around.worktree(ticket));
            scope.spawn(move || {
                find_or_make(repository, &folder, &format!("ticket-{ticket}"), "main").unwrap();
            });
        }
    });
}
