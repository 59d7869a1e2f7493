//! `patch_lines` and its helper: lines by their numbers.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolwright_toolbox::{LinePatch, patched_lines};

use crate::support::Box;

fn patched(text: &str, patches: &[(i64, i64, &str)]) -> Result<String, String> {
    let patches: Vec<LinePatch> = patches
        .iter()
        .map(|(start, end, content)| LinePatch::new(*start, *end, *content))
        .collect();
    patched_lines(text, &patches).map_err(|error| {
        assert_eq!(error.kind(), "invalid_patch");
        error.message().to_owned()
    })
}

/// S0.47, S0.50: the helper puts lines together, for whatever tool; it knows no format of what it edits.
#[test]
fn lines_are_replaced_inserted_and_deleted_by_the_numbers_before() {
    for (text, patches, expected) in [
        ("a\nb\nc\n", &[(2, 2, "B")][..], "a\nB\nc\n"),
        ("a\nb\nc\n", &[(2, 3, "B\nC\nD")], "a\nB\nC\nD\n"),
        ("a\nb\nc\n", &[(2, 0, "x")], "a\nx\nb\nc\n"),
        ("a\nb\nc\n", &[(2, 2, "")], "a\nc\n"),
        ("a\nb\nc\n", &[(1, 3, "")], ""),
        // After the last line.
        ("a\nb\nc\n", &[(4, 0, "D")], "a\nb\nc\nD\n"),
        ("", &[(1, 0, "X")], "X\n"),
        // The order of the patches is not that of the lines.
        ("a\nb\nc\n", &[(3, 3, "C"), (1, 1, "A\nA")], "A\nA\nb\nC\n"),
        // Lines that are inserted at one place stay in their order.
        ("a\nb\n", &[(2, 0, "A"), (2, 0, "B")], "a\nA\nB\nb\n"),
        // An insertion stands before a replacement, in either order.
        ("a\nb\n", &[(2, 0, "I"), (2, 2, "R")], "a\nI\nR\n"),
        ("a\nb\n", &[(2, 2, "R"), (2, 0, "I")], "a\nI\nR\n"),
        // One line end at the end of the content is that of its last line.
        ("a\nb\n", &[(2, 2, "B\n")], "a\nB\n"),
        ("a\nb\n", &[(2, 0, "\n")], "a\n\nb\n"),
        ("a\nb\n", &[(2, 2, "\n\n")], "a\n\n\n"),
        // Line ends stay, and so does a last line without one.
        ("a\r\nb\r\n", &[(2, 2, "B\nC")], "a\r\nB\r\nC\r\n"),
        ("a\r\nb\r\n", &[(2, 2, "B\r\nC\r\n")], "a\r\nB\r\nC\r\n"),
        ("a\r\nb\nc\r\n", &[(2, 2, "B")], "a\r\nB\nc\r\n"),
        ("a\nb", &[(2, 2, "B")], "a\nB"),
        ("a\nb", &[(3, 0, "C")], "a\nb\nC"),
        ("a\r\nb", &[(3, 0, "C")], "a\r\nb\r\nC"),
        ("a\nb\r", &[(1, 1, "A")], "A\nb\r"),
        ("a\nb", &[(2, 2, "")], "a\n"),
        ("a\nb\n", &[], "a\nb\n"),
    ] {
        assert_eq!(patched(text, patches).as_deref(), Ok(expected), "{text:?} {patches:?}");
    }
}

#[test]
fn everything_that_is_wrong_is_one_error_with_the_number_of_lines() {
    let refused = |patches: &[(i64, i64, &str)]| patched("a\nb\nc\n", patches).unwrap_err();
    for (patch, words) in [
        ((0, 1, "x"), "starts at line 0, expected at least 1"),
        ((-1, 1, "x"), "starts at line -1, expected at least 1"),
        ((1, -1, "x"), "ends at line -1, expected a line, or 0 to insert"),
        ((3, 1, "x"), "ends at line 1, before its start at line 3"),
        ((5, 0, "x"), "inserts before line 5, expected at most 4"),
        ((3, 4, "x"), "replaces lines 3 to 4, which do not all exist"),
        ((99, 99, "x"), "replaces lines 99 to 99, which do not all exist"),
        ((2, 0, ""), "inserts nothing, expected lines in `content`"),
        ((i64::MAX, i64::MAX, "x"), "which do not all exist"),
    ] {
        let message = refused(&[patch]);
        assert!(message.starts_with("patch 1 ") && message.contains(words), "{message}");
        assert!(message.ends_with("; the text has 3 lines"), "{message}");
    }
    assert_eq!(
        refused(&[(9, 9, "x"), (1, 2, "x"), (2, 3, "y"), (3, 0, "z"), (0, 1, "")]),
        "patch 1 replaces lines 9 to 9, which do not all exist; patches 2 and 3 overlap; \
         patches 3 and 4 overlap; patch 5 starts at line 0, expected at least 1; patches 2 and 5 overlap; \
         the text has 3 lines"
    );
}

#[test]
fn a_file_is_patched_and_the_answer_says_how_many_lines_it_has() {
    let tools = Box::files();
    tools.put("a", "one\ntwo\nthree\n");
    let patch = |patches: Value| json!({"path": "a", "patches": patches});
    let patches = json!([{"start_line": 2, "end_line": 2, "content": "2\n2.5"}, {"start_line": 4, "end_line": 0, "content": "four"}]);
    assert_eq!(
        tools.ok("patch_lines", patch(patches)),
        "applied 2 patches to `a`, which now has 5 lines\n@@ -1,3 +1,5 @@\n one\n-two\n+2\n+2.5\n three\n+four"
    );
    assert_eq!(tools.text("a"), "one\n2\n2.5\nthree\nfour\n");
    let (kind, message) = tools
        .refused("patch_lines", patch(json!([{"start_line": 6, "end_line": 6, "content": "x"}])));
    assert_eq!(kind, "invalid_patch");
    assert_eq!(
        message,
        "`a`: patch 1 replaces lines 6 to 6, which do not all exist; the text has 5 lines"
    );
    // What is no number of a line never reaches the tool.
    for wrong in [
        json!([{"start_line": 1.5, "end_line": 1, "content": ""}]),
        json!([{"start_line": 1, "end_line": 1, "content": "", "more": 1}]),
        json!([{"start_line": 1, "content": ""}]),
        json!([]),
    ] {
        assert_eq!(
            tools.refused("patch_lines", patch(wrong.clone())).0,
            "invalid_input",
            "{wrong}"
        );
    }
    let stale = json!({"path": "a", "patches": [{"start_line": 1, "end_line": 1, "content": ""}], "expected_hash": "0123456789abcdef"});
    assert_eq!(tools.refused("patch_lines", stale).0, "file_changed");
    assert_eq!(tools.text("a"), "one\n2\n2.5\nthree\nfour\n");
}

proptest! {
    /// The lines that no patch names stay, in their order and with their ends.
    #[test]
    fn what_no_patch_names_stays(
        lines in prop::collection::vec(("[ab]{0,2}", prop::sample::select(vec!["\n", "\r\n"])), 1..8),
        start in 1_i64..8, length in 0_i64..3, content in "([xy]\n?){0,3}", is_open: bool,
    ) {
        let mut text: String = lines.iter().map(|(line, end)| format!("{line}{end}")).collect();
        if is_open { text.push('e') }
        let before: Vec<&str> = text.split_inclusive('\n').collect();
        let end = if length == 0 { 0 } else { start + length - 1 };
        if let Ok(after) = patched(&text, &[(start, end, &content)]) {
            let head = before[..usize::try_from(start).unwrap() - 1].concat();
            let tail = before[usize::try_from((start - 1).max(end)).unwrap()..].concat();
            let deletes_last = content.is_empty() && usize::try_from(end).unwrap() == before.len();
            let has_end = !is_open || after.is_empty() || deletes_last;
            prop_assert!(after.starts_with(head.trim_end_matches(['\r', '\n'])), "{text:?} {after:?}");
            prop_assert!(after.ends_with(&tail), "{text:?} {after:?}");
            prop_assert_eq!(after.is_empty() || after.ends_with('\n'), has_end);
        }
    }
}
