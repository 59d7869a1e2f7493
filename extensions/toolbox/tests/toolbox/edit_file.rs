//! `edit_file`: exact text, once or everywhere.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::json;
use toolwright::{Call, CancellationToken, Executor, Registry, ToolContext, tool};
use toolwright_toolbox::{Workspace, apply_patch, edit_file};

use crate::support::{Box, runtime};

/// S1.27, S2.39, S2.62, S4.7: one text of an existing file is replaced by another, and nothing else.
#[test]
fn one_place_is_replaced_and_its_line_is_named() {
    let tools = Box::files();
    tools.put("a", "one\ntwo\nthree\n");
    let edit = json!({"path": "a", "old_string": "two\n", "new_string": "2\n2.5\n"});
    assert_eq!(
        tools.ok("edit_file", edit),
        "replaced 1 place in `a`, at line 2\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2.5\n three"
    );
    assert_eq!(tools.text("a"), "one\n2\n2.5\nthree\n");
    let delete = json!({"path": "a", "old_string": "2.5\n", "new_string": ""});
    tools.ok("edit_file", delete);
    assert_eq!(tools.text("a"), "one\n2\nthree\n");
}

#[test]
fn no_character_of_the_texts_has_a_meaning() {
    let tools = Box::files();
    tools.put("a", "price: (.*) $1 \\d\n");
    let edit = json!({"path": "a", "old_string": "(.*) $1 \\d", "new_string": "$& $$ $0 \\1"});
    tools.ok("edit_file", edit);
    assert_eq!(tools.text("a"), "price: $& $$ $0 \\1\n");
}

#[test]
fn several_places_are_refused_with_their_lines_unless_all_are_meant() {
    let tools = Box::files();
    tools.put("a", "x\ny x\n\nx\n");
    let edit = json!({"path": "a", "old_string": "x", "new_string": "zz"});
    let (kind, message) = tools.refused("edit_file", edit);
    assert_eq!(kind, "text_not_unique");
    assert_eq!(
        message,
        "`a` contains the text of `old_string` 3 times, at lines 1, 2, 4, expected once"
    );
    assert_eq!(tools.text("a"), "x\ny x\n\nx\n");
    let all = json!({"path": "a", "old_string": "x", "new_string": "zz", "replace_all": true});
    assert_eq!(tools.done("edit_file", all), "replaced 3 places in `a`, at lines 1, 2, 4");
    assert_eq!(tools.text("a"), "zz\ny zz\n\nzz\n");
}

#[test]
fn places_that_overlap_are_several() {
    let tools = Box::files();
    tools.put("a", "üüü\n");
    let edit = json!({"path": "a", "old_string": "üü", "new_string": "u"});
    assert_eq!(tools.refused("edit_file", edit).0, "text_not_unique");
}

/// What a model has to see to correct its next call.
#[test]
fn a_text_that_is_not_there_is_refused_with_the_nearest_place_and_what_differs() {
    let tools = Box::files();
    tools.put("a", "fn a() {\n\tb();\n}\n\nfn long(one: usize) {}\nfn c() {\n\tb();\n\td();\n}\n");
    let edit = |old: &str| json!({"path": "a", "old_string": old, "new_string": "c"});
    let start = "`a` does not contain the text of `old_string`";
    for (old, rest) in [
        (
            "    b();\n    d();",
            "; the nearest place is lines 7 to 8, where line 7 is \"\\tb();\", and `old_string` has \"    b();\"",
        ),
        (
            "fn c() {\n\tb();\n\te();",
            "; the nearest place is lines 6 to 8, where line 8 is \"\\td();\", and `old_string` has \"\\te();\"",
        ),
        (
            "fn long(one: u64) {}",
            "; the nearest place is line 5, where line 5 is \"fn long(one: usize) {}\", and `old_string` has \"fn long(one: u64) {}\"",
        ),
        (
            "}\nfn z",
            "; the nearest place is lines 3 to 4, where line 4 is \"\", and `old_string` has \"fn z\"",
        ),
        ("nowhere at all, in no file of this folder", ""),
    ] {
        let (kind, message) = tools.refused("edit_file", edit(old));
        assert_eq!(
            (kind.as_str(), message),
            ("text_not_found", format!("{start}{rest}")),
            "{old:?}"
        );
    }
}

#[test]
fn a_file_that_was_changed_since_it_was_read_is_not_edited() {
    let tools = Box::files();
    tools.put("a", "one\n");
    let read = tools.hash("a");
    let edit = |old: &str, new: &str, hash: &str| json!({"path": "a", "old_string": old, "new_string": new, "expected_hash": hash});
    tools.put("a", "one\ntwo\n");
    let (kind, message) = tools.refused("edit_file", edit("one", "1", &read));
    assert_eq!(kind, "file_changed");
    let now = tools.hash("a");
    assert_eq!(message, format!("`a` has hash {now}, expected {read}: it was changed since"));
    // The answer has the hash for the next call.
    let answer = tools.call("edit_file", edit("one", "1", &now));
    let text = answer.text().into_owned();
    assert!(text.starts_with("replaced 1 place in `a`, at line 1; hash "), "{text}");
    assert!(text.contains(&tools.hash("a")), "{text}");
    let (kind, message) = tools.refused("edit_file", edit("1", "2", "f00"));
    assert_eq!(kind, "invalid_input", "{message}");
    assert_eq!(tools.text("a"), "1\ntwo\n");
}

#[test]
fn a_file_stays_in_its_encoding() {
    let tools = Box::files();
    for (before, after) in [
        (&b"caf\xe9 old"[..], &b"caf\xe9 n\xe9w"[..]),
        (b"\xef\xbb\xbfold", b"\xef\xbb\xbfn\xc3\xa9w"),
        (b"\xff\xfeo\0l\0d\0", b"\xff\xfen\0\xe9\0w\0"),
        (b"\xfe\xff\0o\0l\0d", b"\xfe\xff\0n\0\xe9\0w"),
    ] {
        tools.put("a", before);
        tools.ok("edit_file", json!({"path": "a", "old_string": "old", "new_string": "néw"}));
        assert_eq!(std::fs::read(tools.path("a")).unwrap(), after);
    }
    tools.put("a", b"caf\xe9");
    let edit = json!({"path": "a", "old_string": "caf", "new_string": "→"});
    let (kind, message) = tools.refused("edit_file", edit);
    assert_eq!(kind, "not_encodable");
    assert_eq!(message, "`a` is written in Latin-1, which has no `→` (U+2192)");
}

#[test]
fn an_edit_that_says_nothing_is_refused() {
    let tools = Box::files();
    tools.put("a", "x");
    for (old, new) in [("", "y"), ("x", "x")] {
        let edit = json!({"path": "a", "old_string": old, "new_string": new});
        assert_eq!(tools.refused("edit_file", edit).0, "invalid_input");
    }
    let missing = json!({"path": "b", "old_string": "x", "new_string": "y"});
    assert_eq!(tools.refused("edit_file", missing).0, "not_found");
    tools.put("c", "\0x");
    let binary = json!({"path": "c", "old_string": "x", "new_string": "y"});
    assert_eq!(tools.refused("edit_file", binary).0, "binary_file");
    assert_eq!(tools.text("a"), "x");
}

#[test]
fn a_file_with_cr_lf_is_edited_by_the_lines_that_a_model_reads() {
    let tools = Box::files();
    tools.put("a", "one\r\ntwo\r\nthree\r\n");
    tools.ok("edit_file", json!({"path": "a", "old_string": "one\ntwo", "new_string": "1\n2\n2"}));
    assert_eq!(tools.text("a"), "1\r\n2\r\n2\r\nthree\r\n");
    tools.ok("edit_file", json!({"path": "a", "old_string": "2\r\n2", "new_string": "2"}));
    assert_eq!(tools.text("a"), "1\r\n2\r\nthree\r\n");
    // Where both stand, a text is what it is.
    tools.put("a", "one\r\ntwo\nthree\n");
    let edit = json!({"path": "a", "old_string": "one\ntwo", "new_string": "1"});
    assert_eq!(tools.refused("edit_file", edit).0, "text_not_found");
}

#[test]
fn a_file_with_lf_is_edited_by_texts_with_cr_lf() {
    let tools = Box::files();
    tools.put("a", "one\ntwo\nthree\n");
    tools.ok("edit_file", json!({"path": "a", "old_string": "one\r\ntwo", "new_string": "1\r\n2"}));
    assert_eq!(tools.text("a"), "1\n2\nthree\n");
    tools.ok("edit_file", json!({"path": "a", "old_string": "2", "new_string": "2\r\n2"}));
    assert_eq!(tools.text("a"), "1\n2\n2\nthree\n");
    // One line alone does not show how lines end.
    tools.put("a", "one");
    tools.ok("edit_file", json!({"path": "a", "old_string": "one", "new_string": "1\r\n2"}));
    assert_eq!(tools.text("a"), "1\r\n2");
}

/// Both took minutes once, and were answered as timed out.
#[test]
fn many_places_and_a_text_that_overlaps_itself_are_found_in_the_time_of_a_call() {
    let tools = Box::files();
    tools.put("a", "x y\n".repeat(300_000));
    let all = json!({"path": "a", "old_string": "x", "new_string": "z\n", "replace_all": true});
    let done = tools.done("edit_file", all);
    assert!(done.starts_with("replaced 300000 places in `a`, at lines 1, 3, 5, "), "{done}");
    assert_eq!(tools.text("a"), "z\n y\n".repeat(300_000));
    tools.put("b", "a".repeat(1_000_000));
    let once = json!({"path": "b", "old_string": "a".repeat(500_000), "new_string": ""});
    let (kind, message) = tools.refused("edit_file", once);
    assert_eq!(kind, "text_not_unique");
    assert!(message.contains(" 500001 times, at lines 1, 1, "), "{message}");
}

/// Cancels its own call, and edits.
#[tool(unlinked, effect = once)]
async fn cancel_and_edit(
    workspace: &Workspace,
    context: &ToolContext,
    cancelled: &CancellationToken,
    seen: &Mutex<Vec<String>>,
) {
    cancelled.cancel();
    let [old, new] = ["one", "two"].map(str::to_owned);
    let edited = edit_file(workspace, context, "a".to_owned(), old, new, false, None);
    let patch = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n".to_owned();
    let patched = apply_patch(workspace, context, patch, None);
    let kinds =
        [edited, patched].map(|it| it.map_or_else(|it| it.kind().to_owned(), |_| "done".into()));
    *seen.lock().unwrap() = kinds.to_vec();
}

#[test]
fn a_call_that_was_cancelled_writes_nothing() {
    let around = Box::files();
    around.put("a", "one\n");
    let (cancelled, seen) = (CancellationToken::new(), Arc::new(Mutex::new(Vec::<String>::new())));
    let executor = Executor::builder(Registry::of([CANCEL_AND_EDIT]).unwrap()).unrestricted();
    let executor = executor
        .service(Workspace::open(around.path("")).unwrap())
        .service(cancelled.clone())
        .service_arc(Arc::clone(&seen))
        .build()
        .unwrap();
    let call = Call::new("cancel_and_edit", "{}").cancelled_by(cancelled);
    runtime().block_on(executor.call(&call));
    assert_eq!(*seen.lock().unwrap(), ["cancelled", "cancelled"]);
    assert_eq!(around.text("a"), "one\n");
}

/// How often a text stands in another, overlapping places counted.
fn places(text: &str, old: &str) -> usize {
    let starts = text.char_indices().map(|(place, _)| place);
    starts.filter(|place| text[*place..].starts_with(old)).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn an_edit_is_the_exact_replacement_or_changes_nothing(
        text in "[abü\n]{0,12}", old in "[abü\n]{1,3}", new in "[ab$ü\n]{0,3}", all: bool,
    ) {
        let tools = Box::files();
        tools.put("a", &text);
        let input = json!({"path": "a", "old_string": old, "new_string": new, "replace_all": all});
        let answer = tools.call("edit_file", input);
        let expected = match (old == new, all, places(&text, &old)) {
            (true, ..) | (_, _, 0) => None,
            (_, true, _) => Some(text.replace(&old, &new)),
            (_, false, 1) => Some(text.replacen(&old, &new, 1)),
            (_, false, _) => None,
        };
        prop_assert_eq!(answer.is_error(), expected.is_none(), "{}", answer.text());
        prop_assert_eq!(tools.text("a"), expected.unwrap_or(text));
        prop_assert_eq!(tools.names("."), ["a"]);
    }
}
