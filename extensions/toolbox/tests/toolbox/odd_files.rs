//! The tools that edit, on files with unusual ends, marks, names and sizes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::support::Box;

#[test]
fn a_file_with_both_line_ends_has_those_of_its_place_after_a_patch() {
    let tools = Box::files();
    let patch = |hunk: &str| json!({"patch": format!("--- a/a\n+++ b/a\n{hunk}")});
    for (before, hunk, after) in [
        ("a\r\nb\r\nc\r\nd\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\r\nB\r\nc\r\nd\n"),
        ("a\nb\nc\r\nd\r\n", "@@ -2,3 +2,4 @@\n b\n c\n+x\n d\n", "a\nb\nc\r\nx\nd\r\n"),
        // What the patch says exactly, it means.
        ("a\nb\r\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\r\n+b\n c\n", "a\nb\nc\n"),
        (
            "a\n\rb\nc",
            "@@ -1,3 +1,3 @@\n a\n-\rb\n+\rB\n c\n\\ No newline at end of file\n",
            "a\n\rB\nc",
        ),
    ] {
        tools.put("a", before);
        tools.ok("apply_patch", patch(hunk));
        assert_eq!(tools.text("a"), after, "{hunk:?}");
    }
}

#[test]
fn a_byte_order_mark_stays_whether_a_patch_shows_it_or_not() {
    let tools = Box::files();
    for (before, hunk, after) in [
        ("\u{feff}a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "\u{feff}a\nB\n"),
        ("\u{feff}a\nb\n", "@@ -1,2 +1,2 @@\n \u{feff}a\n-b\n+B\n", "\u{feff}a\nB\n"),
        ("\u{feff}a\nb\n", "@@ -1,2 +1,2 @@\n-\u{feff}a\n+a\n b\n", "a\nb\n"),
        ("a\nb\n", "@@ -1,2 +1,2 @@\n-a\n+\u{feff}a\n b\n", "\u{feff}a\nb\n"),
    ] {
        tools.put("a", before);
        tools.ok("apply_patch", json!({"patch": format!("--- a/a\n+++ b/a\n{hunk}")}));
        assert_eq!(tools.text("a"), after, "{hunk:?}");
    }
    // A mark alone, and an empty file.
    for (before, after) in [("\u{feff}", "\u{feff}x\n"), ("", "x\n")] {
        tools.put("a", before);
        tools.ok("apply_patch", json!({"patch": "--- a/a\n+++ b/a\n@@ -0,0 +1 @@\n+x\n"}));
        assert_eq!(tools.text("a"), after);
    }
}

#[test]
fn an_answer_says_which_other_names_still_have_the_old_content() {
    let tools = Box::files();
    let edits = [
        ("edit_file", json!({"path": "a", "old_string": "one", "new_string": "1"})),
        (
            "patch_lines",
            json!({"path": "a", "patches": [{"start_line": 1, "end_line": 1, "content": "1"}]}),
        ),
        ("apply_patch", json!({"patch": "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+1\n"})),
        ("write_file", json!({"path": "a", "content": "1\n"})),
    ];
    for (tool, input) in edits {
        let _ = fs::remove_file(tools.path("other"));
        tools.put("a", "one\n");
        fs::set_permissions(tools.path("a"), fs::Permissions::from_mode(0o640)).unwrap();
        fs::hard_link(tools.path("a"), tools.path("other")).unwrap();
        let answer = tools.ok(tool, input);
        assert!(
            answer.contains("1 other name of the file (hard links) still have the old"),
            "{answer}"
        );
        assert_eq!((tools.text("a"), tools.text("other")), ("1\n".into(), "one\n".into()));
        assert_eq!(tools.path("a").metadata().unwrap().permissions().mode() & 0o777, 0o640);
        fs::remove_file(tools.path("a")).unwrap();
    }
}

#[test]
fn a_patch_whose_files_stand_in_each_others_way_changes_nothing() {
    let tools = Box::files();
    tools.put("x", "x\n");
    let made = |name: &str| format!("--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+n\n");
    for names in [["n", "n/x"], ["n/x", "n"], ["x/y", "z"], ["n/../../outside/new", "z"]] {
        let patch = names.map(made).concat();
        tools.refused("apply_patch", json!({"patch": patch}));
        assert_eq!(tools.names("."), ["x"], "{names:?}");
    }
}

/// This took minutes while a hunk was compared with every place of the file, line by line.
#[test]
fn a_patch_of_equal_lines_is_looked_for_in_the_time_of_a_call() {
    let tools = Box::files();
    tools.put("a", "x\n".repeat(400_000));
    let refused = |hunk: &str| {
        let patch = format!("--- a/a\n+++ b/a\n{hunk}");
        tools.refused("apply_patch", json!({"patch": patch})).1
    };
    let equal = " x\n".repeat(200_000);
    let message = refused(&format!("@@ -9,200002 +9,200002 @@\n{equal}-y\n+z\n x\n"));
    assert!(message.contains("line 200009 is \"x\", and the patch has \"y\""), "{message}");
    let message = refused(&format!("@@ ... @@\n{equal}-y\n+z\n"));
    assert!(message.contains("no line of the file is \"y\""), "{message}");
    refused(&format!("@@ ... @@\n-x\n{}+x\n", "\n".repeat(300_000)));
}
