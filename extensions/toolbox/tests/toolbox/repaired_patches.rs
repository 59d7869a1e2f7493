//! `apply_patch`: patches as models write them, with wrong numbers or none and in codex's form; patches that are cut short
//! or were applied before.

use serde_json::json;

use crate::support::Box;

const NAMED: &str = "--- a/a\n+++ b/a\n";

fn patched(tools: &Box, patch: &str) -> String {
    tools.ok("apply_patch", json!({"patch": patch}))
}

fn refused(tools: &Box, patch: &str) -> String {
    tools.refused("apply_patch", json!({"patch": patch})).1
}

#[test]
fn a_patch_that_is_cut_short_before_its_first_hunk_is_refused() {
    let tools = Box::files();
    tools.put("x", "x\n");
    for headers in [
        "diff --git a/x b/y\n--- a/x\n+++ b/y\n",
        "--- a/x\n+++ b/y\n",
        "--- a/x\n+++ b/x\n",
        "--- /dev/null\n+++ b/new\n",
        "diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n",
        // What is renamed is changed as well, or what is made has lines, as the numbers say.
        "diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n",
        "diff --git a/x b/y\nrename from x\nrename to y\nindex 1111111..2222222 100644\n",
        "diff --git a/new b/new\nnew file mode 100644\nindex 0000000..2222222\n",
        "diff --git a/x b/x\nold mode 100644\nnew mode 100755\nindex 1111111..2222222\n",
        "diff --git a/new b/new\nnew file mode 100644",
    ] {
        let message = refused(&tools, headers);
        assert!(message.contains("may be cut short"), "{headers}\n{message}");
        assert_eq!(tools.names("."), ["x"], "{headers}");
    }
    tools.put("empty", "");
    for mode in ["", "1006"] {
        refused(&tools, &format!("diff --git a/empty b/empty\ndeleted file mode {mode}"));
    }
    assert_eq!(tools.names("."), ["empty", "x"]);
    // A name that is cut short differs from the one in the first line.
    let message =
        refused(&tools, "diff --git a/x b/new\nsimilarity index 100%\nrename from x\nrename to ne");
    assert!(message.contains("`rename to` names `ne`"), "{message}");
}

#[test]
fn a_patch_that_is_cut_short_within_a_hunk_is_refused() {
    let tools = Box::files();
    tools.put("a", "a\nb\nc\nd\ne\n");
    let hunk = "@@ -1,5 +1,6 @@\n a\n-b\n+B\n c\n+x\n d\n e\n";
    for end in 1..hunk.len() {
        let patch = format!("{NAMED}{}", &hunk[..end]);
        if end == hunk.len() - 1 {
            // Only the last line end is missing, and the line is that of the file.
            patched(&tools, &patch);
            assert_eq!(tools.text("a"), "a\nB\nc\nx\nd\ne\n");
            continue;
        }
        refused(&tools, &patch);
        assert_eq!(tools.text("a"), "a\nb\nc\nd\ne\n", "{patch}");
    }
    let message = refused(&tools, &format!("{NAMED}@@ -1,5 +1,6 @@\n a\n-b\n+B\n c\n"));
    assert_eq!(
        message,
        "line 3 of the patch says that the hunk has 5 old and 6 new lines, and the patch ends after 3 and 3: it may be cut \
         short; where it is whole, the hunk begins with `@@ -1,3 +1,3 @@`; nothing was written"
    );
    // A line that is added is known from nowhere else.
    let message = refused(&tools, "--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+one\n+tw");
    assert!(
        message.contains("may be cut short") && message.contains("end the patch with a line end")
    );
    let message = refused(&tools, &format!("{NAMED}@@ -5 +5 @@\n-e\n+e\n\\ No newl"));
    assert!(message.contains("`\\ No newline at end of file`"), "{message}");
}

#[test]
fn a_patch_that_was_applied_before_is_refused() {
    let tools = Box::files();
    for (before, hunk) in [
        ("", "@@ -0,0 +1,2 @@\n+a\n+b\n"),
        ("a\nb\n", "@@ -1,2 +1,3 @@\n a\n b\n+c\n"),
        ("a\nb\n", "@@ -1,2 +1,3 @@\n+x\n a\n b\n"),
        ("1\n2\n3\n", "@@ -3 +3,2 @@\n 3\n+3\n"),
        ("1\na\nold\n2\na\nold\n", "@@ -2,2 +2,2 @@\n a\n-old\n+new\n"),
        ("1\na\nold\nb\na\nold\nb\n", "@@ -2,3 +2,3 @@\n a\n-old\n+new\n b\n"),
        ("1\na\nold\nb\na\nold\nb\n", "@@ -2,3 +2,2 @@\n a\n-old\n b\n"),
        ("1\nb\nb\n", "@@ -2,2 +2,3 @@\n+x\n b\n b\n"),
        ("1\na\nb\n2\n", "@@ ... @@\n a\n+x\n"),
        ("1\na\nb\n2\n", "@@ ... @@\n+x\n b\n"),
        ("1\na\nb\n2\n", "@@ -2,9 +2,3 @@\n a\n+x\n b\n-2\n+2\n+2\n@@ ... @@\n 1\n"),
    ] {
        tools.put("a", before);
        let patch = format!("{NAMED}{hunk}");
        // The fifth and the last one fit nowhere at once, and change nothing at all.
        let _ = tools.call("apply_patch", json!({"patch": patch}));
        let once = tools.text("a");
        refused(&tools, &patch);
        assert_eq!(tools.text("a"), once, "{hunk}");
    }
}

#[test]
fn hunks_without_context_before_or_after_are_for_the_beginning_and_the_end() {
    let tools = Box::files();
    tools.put("a", "0\na\nb\nc\n");
    let message = refused(&tools, &format!("{NAMED}@@ -1,2 +1,2 @@\n a\n-b\n+B\n"));
    assert_eq!(
        message,
        "`a`: the hunk in line 3 of the patch begins at line 1 and shows no line after its change, so that it is for the whole \
         file, and fits at line 2: add the lines around it; nothing was written"
    );
    let message = refused(&tools, &format!("{NAMED}@@ -2,2 +2,2 @@\n a\n-b\n+B\n"));
    assert!(
        message.contains("shows no line after its change, so that it is for the end of the file"),
        "{message}"
    );
    let message = refused(&tools, &format!("{NAMED}@@ -1,2 +1,2 @@\n-a\n+A\n b\n"));
    assert!(
        message.contains("begins at line 1, so that it is for the beginning of the file"),
        "{message}"
    );
    let message = refused(&tools, &format!("{NAMED}@@ -3,2 +3,2 @@\n-a\n+A\n b\n"));
    assert!(
        message.contains("shows no line before its change, so that it is for line 3"),
        "{message}"
    );
    let message = refused(&tools, &format!("{NAMED}@@ -2,0 +3 @@\n+x\n"));
    assert!(message.contains("shows no line after its change"), "{message}");
    assert_eq!(tools.text("a"), "0\na\nb\nc\n");
}

#[test]
fn wrong_numbers_or_none_are_repaired_where_the_lines_fit_one_place() {
    let tools = Box::files();
    let before = "1\n2\na\nold\nb\n3\n\n4\n";
    for hunk in [
        "@@ -3,3 +3,2 @@\n a\n-old\n+new\n b\n",
        "@@ -3,2 +3,3 @@\n a\n-old\n+new\n b\n 3\n",
        "@@ -1,1 +1,1 @@\n a\n-old\n+new\n b\n",
        "@@ -90,1 +90,1 @@\n a\n-old\n+new\n",
        "@@ ... @@\n a\n-old\n+new\n b\n",
        "@@ ... @@ fn main() {\n a\n-old\n+new\n b\n",
        "@@ @@\n-old\n+new\n",
        "@@\n-old\n+new\n",
        "@@ -?,? +?,? @@\n-old\n+new\n",
        // An empty line ends a patch, and belongs to the file where it has one there.
        "@@ ... @@\n a\n-old\n+new\n b\n\n",
        "@@ ... @@\n a\n-old\n+new\n b\n 3\n\n",
        "@@ ... @@\n a\n-old\n+new\n b\n 3\n\n 4\n",
    ] {
        for end in ["", "-- \n2.47\n"] {
            tools.put("a", before);
            patched(&tools, &format!("{NAMED}{hunk}{end}"));
            assert_eq!(tools.text("a"), "1\n2\na\nnew\nb\n3\n\n4\n", "{hunk}");
        }
    }
    // The hunk after it, and the next file, are read as they are.
    tools.put("a", before);
    tools.put("b", "x\n");
    let patch = format!(
        "{NAMED}@@ -3,9 +3,9 @@\n a\n-old\n+new\n b\n@@ ... @@\n 3\n \n-4\n+five\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n"
    );
    patched(&tools, &patch);
    assert_eq!(tools.text("a"), "1\n2\na\nnew\nb\n3\n\nfive\n");
    assert_eq!(tools.text("b"), "y\n");
}

#[test]
fn wrong_numbers_are_not_repaired_where_the_lines_fit_several_places_or_none() {
    let tools = Box::files();
    tools.put("a", "a\nold\nb\na\nold\nb\n");
    for header in ["@@ -1,2 +1,2 @@", "@@ ... @@"] {
        let message = refused(&tools, &format!("{NAMED}{header}\n a\n-old\n+new\n b\n"));
        assert!(
            message.contains("fits at lines 1, 4: add context until it fits at one"),
            "{message}"
        );
    }
    let message = refused(&tools, &format!("{NAMED}@@ ... @@\n a\n-older\n+new\n b\n"));
    assert!(message.contains("fits nowhere: no line of the file is \"older\""), "{message}");
    let message = refused(&tools, &format!("{NAMED}@@ ... @@\n-a\n b\n"));
    assert!(message.contains("fits nowhere"), "{message}");
    let message = refused(&tools, &format!("{NAMED}@@ ... @@\n+x\n"));
    assert!(message.contains("has no line that says where it is for"), "{message}");
    for (hunk, words) in [
        ("@@ -1,3 +1,3 @@\n a\n old\n b\n", "adds and removes no line"),
        ("@@ -1,3 +1\n a\n-old\n b\n", "expected numbers as in `@@ -1,3 +1,4 @@`, or `@@ ... @@`"),
        ("@@ ... @@\n", "adds and removes no line"),
    ] {
        let message = refused(&tools, &format!("{NAMED}{hunk}"));
        assert!(message.contains(words), "{message}");
    }
    assert_eq!(tools.text("a"), "a\nold\nb\na\nold\nb\n");
}

#[test]
fn the_headers_of_a_patch_agree_with_each_other_as_git_demands() {
    let tools = Box::files();
    tools.put("x", "x\n");
    tools.put("z", "x\n");
    let hunk = "@@ -1 +1 @@\n-x\n+y\n";
    for headers in [
        "diff --git a/x b/y\nrename from x\nrename to y\n--- a/z\n+++ b/y\n",
        "diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/z\n",
        "diff --git a/x b/x\nnew file mode 100644\n--- a/x\n+++ b/x\n",
        "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ b/x\n",
    ] {
        refused(&tools, &format!("{headers}{hunk}"));
    }
    refused(&tools, "diff --git a/x b/x\nnew mode 100755\n");
    assert_eq!((tools.names("."), tools.text("x")), (vec!["x".into(), "z".into()], "x\n".into()));
    // `diff -u x.orig x`, as git reads it: the file is the second one.
    patched(
        &tools,
        "--- x.orig\t2026-01-01 10:00:00\n+++ x\t2026-01-02 10:00:00\n@@ -1 +1 @@\n-x\n+y\n",
    );
    assert_eq!(tools.text("x"), "y\n");
}

/// The form that codex's models write.
#[test]
fn a_patch_from_begin_to_end_marks_is_applied() {
    let tools = Box::files();
    tools.put(
        "src/app.py",
        "def a():\n    x = 1\n    return x\n\ndef b():\n    x = 1\n    return x\n",
    );
    tools.put("old.txt", "one\ntwo\n");
    tools.put("gone.txt", "1\n2\n");
    let patch = "\
*** Begin Patch
*** Update File: src/app.py
@@ def b():
-    x = 1
+    x = 2
     return x
*** Update File: old.txt
*** Move to: new.txt
 one
-two
+2
*** End of File
*** Add File: deep/n.txt
+n
+
+m
*** Delete File: gone.txt
*** End Patch
";
    assert_eq!(
        patched(&tools, patch),
        "applied the patch to 4 files\n\
         changed `src/app.py`, +1 -1\n@@ -3,5 +3,5 @@\n     return x\n \n def b():\n-    x = 1\n+    x = 2\n     return x\n\
         renamed `old.txt` to `new.txt`, +1 -1\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n\
         created `deep/n.txt`, +3 -0\n\
         deleted `gone.txt`, +0 -0"
    );
    assert_eq!(
        tools.text("src/app.py"),
        "def a():\n    x = 1\n    return x\n\ndef b():\n    x = 2\n    return x\n"
    );
    assert_eq!(
        (tools.text("new.txt"), tools.text("deep/n.txt")),
        ("one\n2\n".into(), "n\n\nm\n".into())
    );
    assert_eq!(tools.names("."), ["deep", "new.txt", "src"]);
    // Once more, nothing of it fits.
    refused(&tools, patch);
}

#[test]
fn codexs_form_is_refused_where_it_is_cut_short_or_means_several_places() {
    let tools = Box::files();
    tools.put("a", "a\nold\nb\na\nold\nb\n");
    let update = "*** Begin Patch\n*** Update File: a\n";
    for (patch, words) in [
        (
            format!("{update}@@\n a\n-old\n+new\n"),
            "ends without `*** End Patch`: it may be cut short",
        ),
        (format!("{update}@@\n a\n-old\n+new\n*** End Patch\n"), "fits at lines 1, 4"),
        (
            format!("{update}@@ c\n a\n-old\n+new\n*** End Patch\n"),
            "is for lines below `c`, and no line of the file is that",
        ),
        (format!("{update}*** End Patch\n"), "expected a hunk"),
        ("*** Begin Patch\n*** End Patch\n".to_owned(), "the patch names no file"),
        (
            "*** Begin Patch\n*** Add File: n\nx\n*** End Patch\n".to_owned(),
            "line 3 of the patch is `x`, expected",
        ),
        (
            "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n".to_owned(),
            "`a` is there already",
        ),
        ("*** Begin Patch\n*** Delete File: none\n*** End Patch\n".to_owned(), "no such file"),
        (
            format!("{update}@@\n-x\n*** End Patch\nmore\n"),
            "line 6 of the patch is `more`, expected nothing after `*** End Patch`",
        ),
        (
            "*** Begin Patch\n*** Update File: ../a\n@@\n-x\n+y\n*** End Patch\n".to_owned(),
            "contains `..`",
        ),
    ] {
        let message = refused(&tools, &patch);
        assert!(message.contains(words), "{patch}\n{message}");
    }
    assert_eq!(tools.text("a"), "a\nold\nb\na\nold\nb\n");
    // The last lines of the file are meant.
    patched(&tools, &format!("{update}@@\n a\n-old\n+new\n b\n*** End of File\n*** End Patch\n"));
    assert_eq!(tools.text("a"), "a\nold\nb\na\nnew\nb\n");
}
