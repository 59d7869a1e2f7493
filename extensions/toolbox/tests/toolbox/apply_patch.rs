//! `apply_patch`: several files, all or nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::support::Box;

fn patched(tools: &Box, patch: &str) -> String {
    tools.ok("apply_patch", json!({"patch": patch}))
}

fn refused(tools: &Box, patch: &str) -> (String, String) {
    tools.refused("apply_patch", json!({"patch": patch}))
}

fn mode(tools: &Box, name: &str) -> u32 {
    tools.path(name).metadata().unwrap().permissions().mode() & 0o777
}

/// S1.27: the patch that a `git diff` of several files is.
#[test]
fn files_are_changed_made_deleted_and_renamed_by_one_patch() {
    let tools = Box::files();
    tools.put("src/a.rs", "one\ntwo\nthree\n");
    tools.put("gone", "1\n2\n");
    tools.put("old name", "x\ny\n");
    fs::set_permissions(tools.path("old name"), fs::Permissions::from_mode(0o750)).unwrap();
    tools.put("run", "#!/bin/sh\n");
    let patch = "\
diff --git a/src/a.rs b/src/a.rs
index 1111111..2222222 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -1,3 +1,3 @@ fn main() {
 one
-two
+2
 three
diff --git a/deep/new b/deep/new
new file mode 100755
index 0000000..3333333
--- /dev/null
+++ b/deep/new
@@ -0,0 +1,2 @@
+n
+m
\\ No newline at end of file
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1,2 +0,0 @@
-1
-2
diff --git a/old name b/new name
similarity index 50%
rename from old name
rename to new name
--- a/old name
+++ b/new name
@@ -1,2 +1,2 @@
 x
-y
+z
diff --git a/run b/run
old mode 100644
new mode 100755
diff --git a/empty b/empty
new file mode 100644
index 0000000..e69de29
";
    assert_eq!(
        patched(&tools, patch),
        "applied the patch to 6 files\n\
         changed `src/a.rs`, +1 -1\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n\
         created `deep/new`, +2 -0\n\
         deleted `gone`, +0 -2\n\
         renamed `old name` to `new name`, +1 -1\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n\
         changed `run`, +0 -0\n\
         created `empty`, +0 -0"
    );
    assert_eq!(tools.names("."), ["deep", "empty", "new name", "run", "src"]);
    assert_eq!(tools.text("src/a.rs"), "one\n2\nthree\n");
    assert_eq!(tools.text("deep/new"), "n\nm");
    assert_eq!(tools.text("new name"), "x\nz\n");
    assert_eq!((mode(&tools, "new name"), mode(&tools, "empty") & 0o111), (0o750, 0));
    assert!(mode(&tools, "deep/new") & 0o100 != 0 && mode(&tools, "run") & 0o100 != 0);
}

#[test]
fn one_file_that_does_not_fit_changes_none() {
    let tools = Box::files();
    tools.put("a", "one\n");
    tools.put("b", "other\n");
    tools.put("c", "c\n");
    let patch = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+1\n\
        --- a/b\n+++ b/b\n@@ -1 +1 @@\n-two\n+2\n\
        --- /dev/null\n+++ b/c\n@@ -0,0 +1 @@\n+c\n\
        --- a/none\n+++ b/none\n@@ -1 +1 @@\n-x\n+y\n";
    let (kind, message) = refused(&tools, patch);
    assert_eq!(kind, "patch_does_not_fit");
    assert_eq!(
        message,
        "`b`: the hunk in line 8 of the patch fits nowhere: line 1 is \"other\", and the patch has \"two\"; \
         `c` is there already, expected no file; `none`: no such file or folder; nothing was written"
    );
    assert_eq!((tools.text("a"), tools.names(".").len()), ("one\n".to_owned(), 3));
}

#[test]
fn lines_that_have_moved_are_found_where_they_stand_once() {
    let tools = Box::files();
    let hunk = "--- a/a\n+++ b/a\n@@ -2,3 +2,3 @@\n ctx\n-old\n+new\n end\n";
    tools.put("a", "1\n2\n3\n4\nctx\nold\nend\n5\n");
    assert!(patched(&tools, hunk).contains("changed `a`, +1 -1"));
    assert_eq!(tools.text("a"), "1\n2\n3\n4\nctx\nnew\nend\n5\n");
    tools.put("a", "1\n2\nctx\nold\nend\nctx\nold\nend\n");
    let (_, message) = refused(&tools, hunk);
    assert_eq!(
        message,
        "`a`: the hunk in line 3 of the patch does not fit at line 2, and fits at lines 3, 6: add context until it fits at one; nothing was written"
    );
    // At the line that it names there is no question.
    tools.put("a", "1\nctx\nold\nend\n3\nctx\nold\nend\n");
    patched(&tools, hunk);
    assert_eq!(tools.text("a"), "1\nctx\nnew\nend\n3\nctx\nold\nend\n");
    // Where the first hunk was moved, the second one is expected as far from it, unless git expects another copy.
    let hunks =
        "--- a/a\n+++ b/a\n@@ -2,3 +2,3 @@\n 1\n-a\n+A\n 2\n@@ -5,3 +5,3 @@\n 3\n-b\n+B\n 4\n";
    tools.put("a", "0\n0\n1\na\n2\n3\nb\n4\n0\n3\nb\n4\n0\n");
    patched(&tools, hunks);
    assert_eq!(tools.text("a"), "0\n0\n1\nA\n2\n3\nB\n4\n0\n3\nb\n4\n0\n");
    tools.put("a", "0\n0\n0\n0\n0\n0\n0\n1\na\n2\n3\nb\n4\n3\nb\n4\n");
    assert!(patched(&tools, hunks).contains("+2 -2"));
    tools.put("a", "3\nb\n4\n0\n0\n0\n0\n1\na\n2\n3\nb\n4\n");
    let (_, message) = refused(&tools, hunks);
    assert!(
        message.contains(
            "is for line 11, or by its other number for another, and fits at lines 1, 11"
        ),
        "{message}"
    );
}

#[test]
fn line_ends_and_a_last_line_without_one_are_preserved() {
    let tools = Box::files();
    for (before, hunk, after) in [
        // A model writes its patch with line feeds, whatever the file has.
        ("a\r\nb\r\nc\r\n", "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+B\n c\n", "a\r\nB\r\nB\r\nc\r\n"),
        // One of git has the line ends of the file.
        ("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n", "a\r\nB\r\n"),
        // Only the line ends change.
        ("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+b\n", "a\r\nb\n"),
        ("a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\nB"),
        ("a\nb", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n", "A\nb"),
        ("a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n"),
        ("a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", "a\nb"),
        ("a\nb", "@@ -1,2 +1,3 @@\n a\n b\n+c\n", "a\nb\nc"),
        // Only the last line end goes or comes, in a file with other line ends than the patch.
        ("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", "a\r\nb"),
        ("a\r\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\r\nb\r\n"),
        ("a\r\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\r\nc"),
        // The line before a last one that goes has its end, and an empty line is one by its end alone.
        ("a\n\nb", "@@ -1,3 +1,2 @@\n a\n \n-b\n", "a\n\n"),
        ("a\nb\nc", "@@ -1,3 +1,2 @@\n a\n b\n-c\n", "a\nb\n"),
        ("a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+\n", "a\n\n"),
        // An editor has removed the space of an empty line.
        ("a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n", "a\n\nB\n"),
        // Without context, the number is all there is.
        ("a\nb\n", "@@ -2,0 +3 @@\n+x\n", "a\nb\nx\n"),
        ("a\r\nb\r\n", "@@ -2,0 +3 @@\n+x\n", "a\r\nb\r\nx\r\n"),
        // It begins like the name of a file.
        ("-- a\nb\n", "@@ -1,2 +1,2 @@\n--- a\n+++ a\n b\n", "++ a\nb\n"),
    ] {
        tools.put("a", before);
        patched(&tools, &format!("--- a/a\n+++ b/a\n{hunk}"));
        assert_eq!(tools.text("a"), after, "{before:?} {hunk:?}");
    }
    // The whole patch with CR LF, as it comes from a system where text is so.
    tools.put("a", "a\nb\n");
    patched(&tools, "--- a/a\r\n+++ b/a\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n");
    assert_eq!(tools.text("a"), "a\nB\n");
    // Without a line feed at its end.
    patched(&tools, "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-a\n+A\n B");
    assert_eq!(tools.text("a"), "A\nB\n");
}

#[test]
fn a_patch_that_cannot_be_read_to_its_end_is_refused_with_its_lines() {
    let tools = Box::files();
    tools.put("a", "a\nb\nc\nd\n");
    let named = "--- a/a\n+++ b/a\n";
    for (patch, words) in [
        (
            format!("{named}@@ -1,2 +1,3 @@\n a\n-b\n+B\n"),
            "line 3 of the patch says that the hunk has 2 old and 3 new lines, and the patch ends after 2 and 2",
        ),
        (
            format!("{named}@@ -1,2 +1,2 @@\n a\n-b\n+B\n@@ -2,2 +2,2 @@\n b\n-c\n+C\n"),
            "line 7 of the patch is a hunk that overlaps the one in line 3",
        ),
        (
            format!("{named}@@ -1 1 @@\n a\n"),
            "line 3 of the patch is `@@ -1 1 @@`, expected numbers as in `@@ -1,3 +1,4 @@`, or `@@ ... @@` without any",
        ),
        (
            "@@ -1 +1 @@\n-a\n+b\n".to_owned(),
            "line 1 of the patch is a hunk, and no file is named before it",
        ),
        ("some words\n".to_owned(), "the patch names no file"),
        (
            format!("{named}@@ -1 +1 @@\n-a\n+A\nwords\n@@ -3 +3 @@\n-c\n+C\n"),
            "line 6 of the patch is `words`, expected a hunk or the next file",
        ),
        (
            "diff --git a/a b/a\nBinary files a/a and b/a differ\n".to_owned(),
            "line 2 of the patch changes a binary file, expected text",
        ),
        (
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+a\n"
                .to_owned(),
            "makes a link",
        ),
        ("--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+a\n".to_owned(), "names no file"),
    ] {
        let (kind, message) = refused(&tools, &patch);
        assert_eq!(kind, "invalid_patch", "{message}");
        assert!(message.contains(words), "{patch}\n{message}");
    }
    assert_eq!(tools.text("a"), "a\nb\nc\nd\n");
}

#[test]
fn a_file_is_named_once_and_by_a_path_inside() {
    let tools = Box::files();
    tools.put("a", "a\n");
    std::os::unix::fs::symlink("a", tools.path("link")).unwrap();
    let change = |name: &str| format!("--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n");
    for names in [["a", "a"], ["a", "./a"], ["a", "link"]] {
        let (kind, message) = refused(&tools, &names.map(change).concat());
        assert_eq!(kind, "patch_does_not_fit");
        assert!(message.contains("is named twice"), "{message}");
    }
    fs::create_dir(tools.path("real")).unwrap();
    std::os::unix::fs::symlink("real", tools.path("folder")).unwrap();
    let made = |name: &str| format!("--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+n\n");
    for names in [["real/n", "folder/n"], ["real/new/n", "folder/new/n"]] {
        let (_, message) = refused(&tools, &names.map(made).concat());
        assert!(message.contains("is named twice"), "{message}");
    }
    for name in ["../outside/secret", "x/../../outside/secret"] {
        let (kind, message) = refused(&tools, &format!("{}{}", change("a"), change(name)));
        assert_eq!(kind, "outside_workspace", "{message}");
    }
    let rename = "diff --git a/a b/../outside/new\nrename from a\nrename to ../outside/new\n";
    assert_eq!(refused(&tools, rename).0, "outside_workspace");
    assert_eq!(tools.text("a"), "a\n");
    assert_eq!(crate::support::names(&tools.outside()), ["secret"]);
}

#[test]
fn a_file_that_was_changed_since_it_was_read_is_not_patched() {
    let tools = Box::files();
    tools.put("a", "a\n");
    let patch =
        "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\n";
    let call = |path: &str, hash: &str| json!({"patch": patch, "expected_hashes": [{"path": path, "hash": hash}]});
    let (kind, message) = tools.refused("apply_patch", call("a", "0123456789abcdef"));
    assert_eq!(kind, "file_changed", "{message}");
    let (kind, message) = tools.refused("apply_patch", call("other", "none"));
    assert_eq!(kind, "invalid_input");
    assert_eq!(message, "`other` has an expected hash, and the patch does not name it");
    assert_eq!(tools.refused("apply_patch", call("n", "0123456789abcdef")).0, "file_changed");
    tools.ok("apply_patch", call("n", "none"));
    assert_eq!(tools.text("n"), "n\n");
}

#[test]
fn names_with_unusual_characters_are_read_as_git_writes_them() {
    let tools = Box::files();
    tools.put("ü \"x\"", "a\n");
    let patch = "diff --git \"a/\\303\\274 \\\"x\\\"\" \"b/\\303\\274 \\\"x\\\"\"\n\
        --- \"a/\\303\\274 \\\"x\\\"\"\n+++ \"b/\\303\\274 \\\"x\\\"\"\n@@ -1 +1 @@\n-a\n+b\n";
    patched(&tools, patch);
    assert_eq!(tools.text("ü \"x\""), "b\n");
    patched(
        &tools,
        "diff --git \"a/\\303\\274 \\\"x\\\"\" \"b/\\303\\274 \\\"x\\\"\"\nold mode 100644\nnew mode 100755\n",
    );
    assert!(mode(&tools, "ü \"x\"") & 0o100 != 0);
}

#[test]
fn a_patch_that_fails_leaves_no_folder_that_it_made() {
    let tools = Box::files();
    tools.put("c", "c\n");
    fs::set_permissions(tools.path("c"), fs::Permissions::from_mode(0o444)).unwrap();
    let patch = "--- /dev/null\n+++ b/new/a\n@@ -0,0 +1 @@\n+a\n--- /dev/null\n+++ b/new/b\n@@ -0,0 +1 @@\n+b\n\
        --- a/c\n+++ b/c\n@@ -1 +1 @@\n-c\n+d\n";
    assert_eq!(refused(&tools, patch).0, "read_only");
    assert_eq!(tools.names("."), ["c"]);
}

#[test]
fn a_link_is_not_deleted_as_if_it_were_its_file() {
    let tools = Box::files();
    tools.put("real", "c\n");
    std::os::unix::fs::symlink("real", tools.path("link")).unwrap();
    let (kind, message) = refused(&tools, "--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-c\n");
    assert_eq!(kind, "is_a_link", "{message}");
    assert_eq!(tools.text("real"), "c\n");
}

#[test]
fn numbers_that_no_file_has_are_refused() {
    let tools = Box::files();
    tools.put("a", "one\n");
    let patch = "--- a/a\n+++ b/a\n@@ -18446744073709551615,2 +1,2 @@\n one\n-two\n+2\n@@ -9,2 +9,2 @@\n one\n-two\n+2\n";
    let (_, message) = refused(&tools, patch);
    assert!(message.contains("expected numbers as in `@@ -1,3 +1,4 @@`"), "{message}");
}
