//! Writes whole files: temporary files next to the targets are flushed to the disk, and then renamed to the targets. If
//! several files change together, the old files keep a second name until all new files are in place.

mod staged;

use cap_std::fs::Dir;
use toolwright::ToolError;

use super::name::Name;
use staged::StagedChange;

/// The effect of [`Workspace::write`](crate::Workspace::write).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteOutcome {
    /// The file did not exist before.
    Created,
    /// The file existed, with another content or the same.
    Replaced,
}

/// The change of one file.
#[derive(Debug)]
pub(crate) struct Change<'c> {
    pub(crate) name: &'c Name,
    pub(crate) before: Before<'c>,
    pub(crate) after: After<'c>,
}

/// The condition for the present file, which is checked before the change.
#[cfg_attr(
    not(feature = "files"),
    expect(dead_code, reason = "the tools for files use the others")
)]
#[derive(Debug, Clone, Copy)]
pub(crate) enum Before<'c> {
    /// A file with any content, or no file.
    Any,
    /// There is no file.
    Missing,
    /// There is a file with this content.
    Content(&'c [u8]),
}

/// The state of the file after the change.
#[cfg_attr(
    not(feature = "files"),
    expect(dead_code, reason = "the tools for files use the others")
)]
#[derive(Debug, Clone, Copy)]
pub(crate) enum After<'c> {
    /// There is a file with this content. If it replaces a file, it keeps the mode of that file.
    Content(&'c [u8]),
    /// There is a file with this content and another mode: that of another file, or with the executable bits set or
    /// cleared.
    WithMode { content: &'c [u8], of: Option<&'c Name>, program: Option<bool> },
    /// There is no file.
    Removed,
}

/// Makes all changes. If one fails, takes the earlier ones back; the error `partly_changed` says that a file could not
/// be restored. If the process is killed between renaming two files, only the first ones are changed.
pub(super) fn change(root: &Dir, changes: &[Change<'_>]) -> Result<Vec<WriteOutcome>, ToolError> {
    let mut staged = Vec::with_capacity(changes.len());
    let prepared = changes.iter().try_for_each(|change| {
        staged.push(StagedChange::new(root, change, changes.len() > 1)?);
        Ok(())
    });
    // All new contents are on the disk now. Check again that no target has changed.
    let prepared =
        prepared.and_then(|()| staged.iter().try_for_each(|staged| staged.is_unchanged()));
    let mut done = 0;
    let committed = prepared.and_then(|()| {
        staged.iter_mut().try_for_each(|staged| {
            staged.commit()?;
            done += 1;
            Ok(())
        })
    });
    let Err(error) = committed else {
        return Ok(staged.into_iter().map(StagedChange::finish).collect());
    };
    // Restore the files in reverse order.
    let lost: Vec<String> =
        staged[..done].iter_mut().rev().filter_map(|staged| staged.restore().err()).collect();
    // Drop the staged changes in reverse order, too: a folder that was created for several files is empty only after
    // the last of these changes is dropped.
    while staged.pop().is_some() {}
    if lost.is_empty() {
        return Err(error);
    }
    let message =
        format!("{}; the earlier content cannot be restored in {}", error, lost.join("; "));
    Err(ToolError::new("partly_changed", message).caused_by(error))
}

#[cfg(all(test, feature = "files"))]
mod tests {
    use super::{After, Before, Change};
    use crate::Workspace;
    use crate::workspace::Name;

    #[test]
    fn what_somebody_else_wrote_meanwhile_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(folder.path()).expect("it is there");
        let name = Name::parse("a").expect("a name");
        let replace = || {
            let (before, after) = (Before::Content(b"one"), After::Content(b"new"));
            workspace.change(&[Change { name: &name, before, after }])
        };
        for now in ["one two", "on", ""] {
            std::fs::write(folder.path().join("a"), now).expect("a file");
            let error = replace().expect_err(now);
            assert_eq!(error.kind(), "file_changed");
            assert_eq!(workspace.read("a").expect("a file"), now.as_bytes());
        }
        std::fs::remove_file(folder.path().join("a")).expect("a file");
        assert_eq!(replace().expect_err("gone").kind(), "file_changed");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn of_several_files_all_are_changed_or_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(folder.path()).expect("it is there");
        let [a, b, gone, made] =
            ["a", "b", "gone", "new/deep"].map(|it| Name::parse(it).expect(it));
        for name in ["a", "b", "gone"] {
            std::fs::write(folder.path().join(name), name).expect("a file");
        }
        let changes = |b_before: &'static [u8]| {
            let change = |name, before, after| Change { name, before, after };
            workspace.change(&[
                change(&a, Before::Content(b"a"), After::Content(b"A")),
                change(&gone, Before::Content(b"gone"), After::Removed),
                change(
                    &made,
                    Before::Missing,
                    After::WithMode { content: b"made", of: None, program: Some(true) },
                ),
                change(&b, Before::Content(b_before), After::Content(b"B")),
            ])
        };
        let names = || {
            let entries = std::fs::read_dir(folder.path()).expect("a folder");
            let mut names: Vec<_> = entries.map(|it| it.expect("an entry").file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(changes(b"another").expect_err("it is another").kind(), "file_changed");
        assert_eq!(names(), ["a", "b", "gone"]);
        assert_eq!(workspace.read("a").expect("a file"), b"a");

        changes(b"b").expect("it is as expected");
        assert_eq!(names(), ["a", "b", "new"]);
        assert_eq!(workspace.read("a").expect("a file"), b"A");
        assert_eq!(workspace.read("new/deep").expect("a file"), b"made");
    }

    #[test]
    fn files_that_a_killed_process_with_the_same_id_left_do_not_stop_a_change() {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(folder.path()).expect("it is there");
        for number in (1..4000).step_by(2) {
            let left = format!(".toolwright-{}-{number}.tmp", std::process::id());
            std::fs::write(folder.path().join(left), "").expect("a file");
        }
        let names = ["a", "b"].map(|it| Name::parse(it).expect(it));
        let changes = names.each_ref().map(|name| {
            std::fs::write(folder.path().join(name), "old").expect("a file");
            Change { name, before: Before::Any, after: After::Content(b"new") }
        });
        workspace.change(&changes).expect("other names are free");
        assert_eq!(workspace.read("b").expect("a file"), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn what_was_written_before_a_step_that_fails_is_put_back() {
        use std::os::unix::fs::MetadataExt as _;

        let folder = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(folder.path()).expect("it is there");
        let [a, b, made, gone] =
            ["a", "b", "new/deep", "gone"].map(|it| Name::parse(it).expect(it));
        for name in ["a", "b"] {
            std::fs::write(folder.path().join(name), name).expect("a file");
        }
        let inode = || folder.path().join("a").metadata().expect("a file").ino();
        let first = inode();
        let change = |name, after| Change { name, before: Before::Any, after };
        // The last one is not there, which shows when it is removed and not before.
        let changes = [
            change(&a, After::Content(b"A")),
            change(&b, After::Removed),
            change(&made, After::Content(b"made")),
            change(&gone, After::Removed),
        ];
        assert_eq!(workspace.change(&changes).expect_err("it is gone").kind(), "not_found");
        let entries = std::fs::read_dir(folder.path()).expect("a folder");
        let mut names: Vec<_> = entries.map(|it| it.expect("an entry").file_name()).collect();
        names.sort();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(workspace.read("a").expect("a file"), b"a");
        assert_eq!(inode(), first, "it is the file that was there");
        assert_eq!(workspace.read("b").expect("a file"), b"b");
    }
}
