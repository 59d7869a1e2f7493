//! `edit_file` replaces exact text in a file.
//!
//! # What it does
//! It replaces one occurrence of a text, or every occurrence if asked, and answers with the numbers of the lines where
//! replacements begin, a short diff and the hash of the new content. Both texts are literal: no character has a special
//! meaning. In a file whose lines all end with CR LF, the line ends of both texts become CR LF; if all end with LF,
//! they become LF. The encoding of the file is preserved.
//!
//! # What it may touch
//! It reads and writes the file that `path` names.
//!
//! # What it refuses
//! A text that does not occur (the error shows the most similar place); a text that occurs more than once, unless all
//! occurrences are to be replaced (the error lists the places); an empty text; an edit that changes nothing; a file
//! whose content has another hash than `expected_hash`, or that another process changes meanwhile; an edit after which the
//! file would have more than 10 MiB; and everything that `read_file` and `write_file` refuse.

mod nearest;

use std::borrow::Cow;

use toolwright::{ErrorClass, Output, Reconciled, ToolContext, ToolError, tool};

use super::edit::{Edit, grows_too_large};
use super::notes::{Demand, count};
use super::occurrences::occurrences;
use crate::Workspace;
use crate::workspace::{Ends, LARGEST, Name};

/// The most line numbers in an answer.
const NAMED_LINES: usize = 100;

/// The most bytes of the text after an edit, in UTF-8, in which a character of a Latin-1 file has up to three bytes.
const LONGEST_TEXT: u64 = 3 * LARGEST;

/// The most places that are tried to find out whether an edit happened there.
const TRIED_PLACES: usize = 100;

/// Replace exact text in a file. The text has to be there exactly once, unless `replace_all` is set: add lines around it
/// until it is the only one.
#[tool(
    unlinked,
    group = "file",
    danger = moderate,
    effect = once,
    reads(file = path),
    writes(file = path),
    blocking,
    preview = |workspace, path, old_string, new_string, replace_all, expected_hash| -> Result<String, ToolError> {
        let edit = Edit::open(workspace, &path, expected_hash.as_deref())?;
        Ok(edit.preview(&plan_edit(&edit, &old_string, &new_string, replace_all)?.text))
    },
    reconcile = |workspace, path, old_string, new_string, replace_all, expected_hash| -> Result<Reconciled, ToolError> {
        let edit = Edit::open(workspace, &path, None)?;
        let by_hash = expected_hash.and_then(|it| found_by_hash(&edit, &old_string, &new_string, replace_all, &it));
        Ok(by_hash.unwrap_or_else(|| reconcile_edit(&edit, &old_string, &new_string)))
    }
)]
pub fn edit_file(
    workspace: &Workspace,
    context: &ToolContext,
    /// Path relative to the workspace.
    #[arg(alias = "file_path", example = "src/lib.rs", positional)]
    path: String,
    /// The text to replace, as it is in the file: white space counts, line numbers do not belong to it.
    #[arg(length = 1..)]
    old_string: String,
    /// The text that takes its place; empty to delete it.
    new_string: String,
    /// Whether every occurrence of the text is replaced.
    #[arg(default = false)]
    replace_all: bool,
    /// The hash that `read_file` showed: a file that was changed since is not edited.
    expected_hash: Option<String>,
) -> Result<String, ToolError> {
    let edit = Edit::open(workspace, &path, expected_hash.as_deref())?;
    let edited = plan_edit(&edit, &old_string, &new_string, replace_all)?;
    let places = count(edited.lines.len(), "place", "places");
    let done = format!("replaced {places} in `{}`, {}", edit.name, name_lines(&edited.lines));
    Demand::of(context).still()?;
    edit.write(workspace, &edited.text, &done)
}

/// Plans the edit. Both texts first get the line ends of the file.
fn plan_edit(edit: &Edit, old: &str, new: &str, all: bool) -> Result<EditedText, ToolError> {
    let text = &edit.now.text;
    let (old, new) = in_ends_of(text, old, new);
    replace(&edit.name, text, &old, &new, all)
}

fn in_ends_of<'t>(text: &str, old: &'t str, new: &'t str) -> (Cow<'t, str>, Cow<'t, str>) {
    match Ends::of(text) {
        Ends::Crlf => (with_crlf(old), with_crlf(new)),
        // A text of a single line has no line end that shows the convention of the file, so keep both texts.
        Ends::Lf if text.contains('\n') => (with_lf(old), with_lf(new)),
        Ends::Lf | Ends::Mixed => (Cow::from(old), Cow::from(new)),
    }
}

/// Finds out whether an edit with an unknown outcome has happened. `expected` is the hash of the file before the edit.
/// If the file has this hash, the edit did not happen. If the file would have this hash with the edit reverted, the
/// edit happened. Otherwise the hash decides nothing, and the result is `None`.
fn found_by_hash(
    edit: &Edit,
    old: &str,
    new: &str,
    all: bool,
    expected: &str,
) -> Option<Reconciled> {
    if edit.has_hash(expected) {
        return Some(Reconciled::DidNotHappen);
    }
    let text = &edit.now.text;
    let (old_here, new_here) = in_ends_of(text, old, new);
    let is_before = |before: &String| {
        let (old, new) = in_ends_of(before, old, new);
        edit.would_have_hash(before, expected)
            && replace(&edit.name, before, &old, &new, all).is_ok_and(|it| it.text == *text)
    };
    let undone =
        |place: usize| [&text[..place], &*old_here, &text[place + new_here.len()..]].concat();
    let is_undone = match (new_here.is_empty(), all) {
        // A deleted text may have been at any place.
        (true, _) => false,
        (false, true) => {
            let places = text.matches(&*new_here).count();
            size_after(text, places, &new_here, &old_here) <= LONGEST_TEXT
                && is_before(&text.replace(&*new_here, &old_here))
        }
        (false, false) => occurrences(text.as_bytes(), new_here.as_bytes())
            .take(TRIED_PLACES)
            .map(undone)
            .any(|it| is_before(&it)),
    };
    is_undone
        .then(|| happened(&edit.name, "has the hash of `expected_hash` once the edit is undone"))
}

/// Finds out whether an edit with an unknown outcome has happened, by the texts in the file. If the file has only the
/// old text, the edit did not happen. If the file has only the new text, and the old text does not contain the new one,
/// the edit happened. Otherwise the outcome remains unknown.
fn reconcile_edit(edit: &Edit, old: &str, new: &str) -> Reconciled {
    let text = &edit.now.text;
    let (old, new) = in_ends_of(text, old, new);
    match (text.contains(&*old), text.contains(&*new)) {
        (true, false) => Reconciled::DidNotHappen,
        (false, true) if !old.contains(&*new) => {
            happened(&edit.name, "contains the text of `new_string` and not that of `old_string`")
        }
        _ => Reconciled::Unknown,
    }
}

fn happened(name: &Name, why: &str) -> Reconciled {
    Reconciled::Happened(Output::text(format!("`{name}` {why}")))
}

/// The text after an edit, and the numbers of the lines where replacements begin.
#[derive(Debug)]
struct EditedText {
    text: String,
    lines: Vec<usize>,
}

/// Replaces `old` by `new`; pure.
fn replace(
    name: &Name,
    text: &str,
    old: &str,
    new: &str,
    all: bool,
) -> Result<EditedText, ToolError> {
    let invalid =
        |kind: &'static str, message| ToolError::new(kind, message).class(ErrorClass::Invalid);
    if old.is_empty() {
        let message = "`old_string` is empty, expected the text to replace".to_owned();
        return Err(
            invalid("invalid_input", message).hint("to write a whole file, use `write_file`")
        );
    }
    if old == new {
        let message = "`old_string` and `new_string` are equal, so nothing would change".to_owned();
        return Err(invalid("invalid_input", message));
    }
    let places: Vec<usize> = match (all, the_one_place(text, old)) {
        (_, Some(place)) => vec![place],
        (true, None) => text.match_indices(old).map(|(place, _)| place).collect(),
        (false, None) => occurrences(text.as_bytes(), old.as_bytes()).collect(),
    };
    let lines = lines_of(text, &places);
    match places.as_slice() {
        [] => return Err(nearest::not_found(name, text, old)),
        [_] => {}
        _ if all => {}
        places => {
            let message = format!(
                "`{name}` contains the text of `old_string` {} times, {}, expected once",
                places.len(),
                name_lines(&lines)
            );
            let hint = "add lines around it until it is the only one, or set `replace_all`";
            return Err(invalid("text_not_unique", message).hint(hint));
        }
    }
    let size = size_after(text, places.len(), old, new);
    if size > LONGEST_TEXT {
        return Err(grows_too_large(name, size));
    }
    // Convert the lines to those of the text after the edit.
    let difference =
        new.matches('\n').count().cast_signed() - old.matches('\n').count().cast_signed();
    let (mut edited, mut end) = (String::with_capacity(text.len()), 0);
    for place in places {
        edited.push_str(&text[end..place]);
        edited.push_str(new);
        end = place + old.len();
    }
    edited.push_str(&text[end..]);
    let moved =
        (0..).zip(lines).map(|(before, line)| line.saturating_add_signed(before * difference));
    Ok(EditedText { text: edited, lines: moved.collect() })
}

/// Returns the size of a text in which `new` replaces `old` at so many places.
fn size_after(text: &str, places: usize, old: &str, new: &str) -> u64 {
    let bytes = |text: &str| (text.len() as u64).saturating_mul(places as u64);
    (text.len() as u64).saturating_sub(bytes(old)).saturating_add(bytes(new))
}

/// Returns the position of `old` if it occurs exactly once.
fn the_one_place(text: &str, old: &str) -> Option<usize> {
    let place = text.find(old)?;
    let step = old.chars().next().map_or(1, char::len_utf8);
    (!text[place + step..].contains(old)).then_some(place)
}

/// Returns the line numbers of byte positions, counted from 1. The positions have to be in ascending order.
fn lines_of(text: &str, places: &[usize]) -> Vec<usize> {
    let (mut line, mut from) = (1, 0);
    let number = |place: &usize| {
        line += text[from..*place].matches('\n').count();
        from = *place;
        line
    };
    places.iter().map(number).collect()
}

fn name_lines(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(NAMED_LINES).map(usize::to_string).collect();
    let more = match lines.len().saturating_sub(NAMED_LINES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let word = if lines.len() == 1 { "line" } else { "lines" };
    format!("at {word} {}{more}", shown.join(", "))
}

fn with_lf(text: &str) -> Cow<'_, str> {
    match text.contains("\r\n") {
        true => text.replace("\r\n", "\n").into(),
        false => text.into(),
    }
}

fn with_crlf(text: &str) -> Cow<'_, str> {
    match text.contains('\n') {
        true => text.replace("\r\n", "\n").replace('\n', "\r\n").into(),
        false => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use toolwright::Reconciled;

    use super::{Edit, LONGEST_TEXT, found_by_hash, reconcile_edit, replace};
    use crate::workspace::{Name, content_hash};

    fn edit(text: &str) -> Edit {
        Edit::of(Name::parse("a").expect("a name"), text.into()).expect("a text")
    }

    fn word(found: &Reconciled) -> &'static str {
        match found {
            Reconciled::Happened(_) => "happened",
            Reconciled::DidNotHappen => "not",
            Reconciled::Unknown => "unknown",
        }
    }

    #[test]
    fn an_edit_of_which_nothing_was_heard_is_found_by_what_the_file_contains() {
        let found = |text, old, new| word(&reconcile_edit(&edit(text), old, new));
        assert_eq!(found("one two", "two", "2"), "not");
        assert_eq!(found("one 2", "two", "2"), "happened");
        assert_eq!(found("a\r\nc\r\n", "a\nb", "a\nc"), "happened");
        // Lines that are added after one: it is there, and they are not.
        assert_eq!(found("a\nb\n", "a\n", "a\na2\n"), "not");
        for (text, old, new) in [
            ("two 2", "two", "2"),
            ("one", "two", "2"),
            ("aa", "a", "aa"),
            ("a\na2\n", "a\n", "a\na2\n"),
            ("x", "two", ""),
            ("a", "aa", "a"),
        ] {
            assert_eq!(found(text, old, new), "unknown", "{text}: {old} to {new}");
        }
    }

    #[test]
    fn an_edit_of_a_file_whose_hash_was_expected_is_found_by_undoing_it() {
        let found = |before: &str, now: &str, old: &str, new: &str, all| {
            let found = found_by_hash(&edit(now), old, new, all, &content_hash(before.as_bytes()));
            found.as_ref().map_or("nothing", word)
        };
        assert_eq!(found("a\nb\n", "a\nb\n", "a\n", "a\na2\n", false), "not");
        assert_eq!(found("a\nb\n", "a\na2\nb\n", "a\n", "a\na2\n", false), "happened");
        assert_eq!(found("b ab", "b b", "ab", "b", false), "happened");
        assert_eq!(found("a b a", "aa b aa", "a", "aa", true), "happened");
        assert_eq!(found("a\r\nb\r\n", "a\r\nx\r\nb\r\n", "a\n", "a\nx\n", false), "happened");
        // A text that was deleted may have been anywhere, and another program may have changed the file.
        assert_eq!(found("a b", "a", " b", "", false), "nothing");
        assert_eq!(found("a\nb\n", "a\na2\nc\n", "a\n", "a\na2\n", false), "nothing");
    }

    #[test]
    fn an_edit_that_makes_a_text_too_large_is_refused_before_the_text_is_made() {
        let name = Name::parse("a").expect("a name");
        let (text, long) = ("a".repeat(1 << 20), "b".repeat(1 << 10));
        let error = replace(&name, &text, "a", &long, true).expect_err("it has 1 GiB");
        assert_eq!(error.kind(), "file_too_large");
        assert!(error.message().contains("would have 1073741824 bytes"), "{error}");
        // Undoing the edit in memory would make a text of this size, too.
        assert!(found_by_hash(&edit(&text), &long, "a", true, "0123456789abcdef").is_none());
        let most = usize::try_from(LONGEST_TEXT).expect("a size") / text.len();
        replace(&name, &text, "a", &"b".repeat(most), true).expect("it is not larger");
    }
}
