//! `write_file`: the whole file or nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;

use crate::support::Box;

/// S2.38, S2.62, S4.6: folders that are not there are made, and the file has what was written.
#[test]
fn a_file_is_made_with_its_folders_and_replaced_by_the_next_call() {
    let tools = Box::files();
    let write =
        |content: &str| tools.done("write_file", json!({"path": "a/b/c.md", "content": content}));
    assert!(!tools.path("a").exists());
    assert_eq!(write("one"), "created `a/b/c.md`, 3 bytes");
    assert_eq!(tools.text("a/b/c.md"), "one");
    assert_eq!(write("ü"), "replaced `a/b/c.md`, 2 bytes");
    assert_eq!(tools.text("a/b/c.md"), "ü");
    assert_eq!(write(""), "replaced `a/b/c.md`, 0 bytes");
    assert_eq!(tools.text("a/b/c.md"), "");
    assert_eq!(tools.names("a/b"), ["c.md"]);
}

#[test]
fn a_file_that_is_replaced_is_answered_with_what_changes() {
    let tools = Box::files();
    let write = |content: &str| tools.ok("write_file", json!({"path": "a", "content": content}));
    assert_eq!(write("one\ntwo\n"), "created `a`, 8 bytes");
    assert_eq!(write("one\n2\n"), "replaced `a`, 6 bytes\n@@ -1,2 +1,2 @@\n one\n-two\n+2");
    let long: String = (0..100).map(|number| format!("{number}\n")).collect();
    let answer = write(&long);
    assert_eq!(answer.lines().count(), 62, "{answer}");
    assert!(answer.ends_with("more lines of the diff]"), "{answer}");
    tools.put("b", b"\0");
    let answer = tools.ok("write_file", json!({"path": "b", "content": "x"}));
    assert_eq!(answer, "replaced `b`, 1 byte\n[what was there is binary]");
}

#[test]
fn a_file_that_was_changed_since_it_was_read_is_not_replaced() {
    let tools = Box::files();
    tools.put("a", "one");
    let write = |path: &str, content: &str, hash: &str| json!({"path": path, "content": content, "expected_hash": hash});
    let read = tools.hash("a");
    tools.put("a", "two");
    assert_eq!(tools.refused("write_file", write("a", "x", &read)).0, "file_changed");
    assert_eq!(tools.refused("write_file", write("a", "x", "none")).0, "file_changed");
    assert_eq!(tools.refused("write_file", write("b", "x", &read)).0, "file_changed");
    assert_eq!(tools.text("a"), "two");
    assert_eq!(tools.done("write_file", write("b", "x", "none")), "created `b`, 1 byte");
    // The same call once more, as after a crash, finds what it has written.
    assert_eq!(tools.done("write_file", write("b", "x", "none")), "replaced `b`, 1 byte");
    let now = tools.hash("a");
    assert_eq!(tools.done("write_file", write("a", "x", &now)), "replaced `a`, 1 byte");
}

#[test]
fn other_names_of_a_file_are_reported() {
    let tools = Box::files();
    tools.put("a", "old");
    fs::hard_link(tools.path("a"), tools.path("b")).unwrap();
    assert_eq!(
        tools.done("write_file", json!({"path": "a", "content": "new"})),
        "replaced `a`, 3 bytes; 1 other name of the file (hard links) still have the old content"
    );
    assert_eq!(tools.text("b"), "old");
}

#[test]
fn a_file_that_is_replaced_keeps_its_mode() {
    let tools = Box::files();
    tools.put("run.sh", "#!/bin/sh\n");
    fs::set_permissions(tools.path("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    tools.ok("write_file", json!({"path": "run.sh", "content": "#!/bin/sh\necho\n"}));
    tools.ok("edit_file", json!({"path": "run.sh", "old_string": "echo", "new_string": "ls"}));
    let mode = tools.path("run.sh").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o750);
}

#[test]
fn a_name_that_cannot_be_written_is_refused_and_leaves_nothing_behind() {
    let tools = Box::files();
    tools.put("file", "x");
    tools.put("fixed", "x");
    fs::set_permissions(tools.path("fixed"), fs::Permissions::from_mode(0o444)).unwrap();
    fs::create_dir(tools.path("folder")).unwrap();
    let long = "x".repeat(256);
    for (path, kind, words) in [
        ("folder", "is_a_directory", "`folder` is a folder, expected a file"),
        (".", "is_a_directory", "`.` is a folder, expected a file"),
        ("file/below", "not_a_directory", "a part of the path is a file"),
        ("file/far/below", "not_a_directory", "a part of the path is a file"),
        ("fixed", "read_only", "`fixed` is read-only, expected a file that may be written"),
        (long.as_str(), "invalid_input", "a part of the name is too long"),
    ] {
        let refused = tools.refused("write_file", json!({"path": path, "content": "new"}));
        assert_eq!(refused.0, kind, "{path}: {}", refused.1);
        assert!(refused.1.contains(words), "{path}: {}", refused.1);
    }
    assert_eq!(tools.names("."), ["file", "fixed", "folder"]);
    assert_eq!((tools.text("file"), tools.text("fixed")), ("x".to_owned(), "x".to_owned()));
}

/// S1.26: a write is atomic. That the log is its backup, `changes.rs` shows.
#[test]
fn a_reader_never_sees_a_part_of_a_file() {
    let tools = Box::files();
    let (old, new) = ("o".repeat(200_000), "n".repeat(100_000));
    tools.put("a", &old);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = [false; 2];
            while !done.load(Ordering::Relaxed) {
                let text = tools.text("a");
                assert!(text == old || text == new, "{} bytes", text.len());
                seen[usize::from(text == new)] = true;
            }
            seen
        });
        for turn in 0..40 {
            let content = if turn % 2 == 0 { &new } else { &old };
            tools.ok("write_file", json!({"path": "a", "content": content}));
        }
        done.store(true, Ordering::Relaxed);
        assert_eq!(reader.join().unwrap(), [true, true]);
    });
    assert_eq!(tools.names("."), ["a"]);
}

#[test]
fn files_of_one_folder_are_written_at_once() {
    let tools = Box::files();
    thread::scope(|scope| {
        for number in 0..8 {
            let tools = &tools;
            scope.spawn(move || {
                let path = format!("new/{number}");
                tools.ok("write_file", json!({"path": path, "content": path}));
            });
        }
    });
    assert_eq!(tools.names("new").len(), 8);
    assert_eq!(tools.text("new/7"), "new/7");
}
