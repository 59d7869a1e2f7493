//! `edit_file` replaces exact text in a file.
//!
//! # What it does
//! It replaces one place, or every place where that is asked for, and answers with the lines. No character of either text
//! has a meaning of its own. In a file whose lines all end with CR LF, the line ends of both texts become CR LF.
//!
//! # What it may touch
//! It reads and writes the file that `path` names.
//!
//! # What it refuses
//! A text that is not there, or that is there more than once unless all are asked for; an empty text; an edit that changes
//! nothing; a file that somebody else changes meanwhile; and all that `read_file` and `write_file` refuse.

use std::borrow::Cow;

use toolwright::{Class, ToolError, tool};

use super::notes::counted;
use crate::Workspace;
use crate::workspace::{Ends, Name, decoded};

/// So many lines are named in an answer.
const NAMED_LINES: usize = 10;

/// Replace exact text in a file. The text has to be there exactly once, unless `replace_all` is set: add lines around it
/// until it is the only one.
#[tool(unlinked, group = "file", danger = moderate, effect = once, reads(file = path), writes(file = path), blocking)]
pub fn edit_file(
    workspace: &Workspace,
    /// Path relative to the workspace.
    #[arg(alias = "file_path", example = "src/lib.rs", positional)]
    path: String,
    /// The text to replace, as it is in the file: white space counts, line numbers do not belong to it.
    #[arg(length = 1..)]
    old_string: String,
    /// The text that takes its place; empty to delete it.
    new_string: String,
    /// Whether every place where the text stands is replaced.
    #[arg(default = false)]
    replace_all: bool,
) -> Result<String, ToolError> {
    let name = Name::parse(&path)?;
    let bytes = workspace.read_named(&name)?;
    let text = decoded(&name, bytes.clone())?;
    let (old, new) = match Ends::of(&text) {
        Ends::Crlf => (with_crlf(&old_string), with_crlf(&new_string)),
        _ => (Cow::from(old_string), Cow::from(new_string)),
    };
    let edited = replaced(&name, &text, &old, &new, replace_all)?;
    workspace.replace(&name, &bytes, edited.text.as_bytes())?;
    let places = counted(edited.lines.len(), "place", "places");
    Ok(format!("replaced {places} in `{name}`, {}", named(&edited.lines)))
}

/// A text after its edit, and the lines in which a replacement begins.
#[derive(Debug)]
struct Edited {
    text: String,
    lines: Vec<usize>,
}

/// Replaces `old` by `new`; pure.
fn replaced(name: &Name, text: &str, old: &str, new: &str, all: bool) -> Result<Edited, ToolError> {
    let invalid = |kind: &'static str, message| ToolError::new(kind, message).class(Class::Invalid);
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
    let places: Vec<usize> = match all {
        true => text.match_indices(old).map(|(place, _)| place).collect(),
        false => every_place(text, old),
    };
    match places.as_slice() {
        [] => return Err(not_found(name, text, old)),
        [_] => {}
        _ if all => {}
        places => {
            let lines: Vec<usize> = places.iter().map(|place| line_of(text, *place)).collect();
            let message = format!(
                "`{name}` contains the text of `old_string` {} times, {}, expected once",
                places.len(),
                named(&lines)
            );
            let hint = "add lines around it until it is the only one, or set `replace_all`";
            return Err(invalid("text_not_unique", message).hint(hint));
        }
    }
    let (mut edited, mut lines, mut end) = (String::with_capacity(text.len()), Vec::new(), 0);
    for place in places {
        edited.push_str(&text[end..place]);
        lines.push(line_of(&edited, edited.len()));
        edited.push_str(new);
        end = place + old.len();
    }
    edited.push_str(&text[end..]);
    Ok(Edited { text: edited, lines })
}

/// Where `old` stands, places that overlap included: of `aa` in `aaa` nobody can tell which one is meant.
fn every_place(text: &str, old: &str) -> Vec<usize> {
    let (mut places, mut from) = (Vec::new(), 0);
    let step = old.chars().next().map_or(1, char::len_utf8);
    while let Some(place) = text[from..].find(old) {
        places.push(from + place);
        from += place + step;
    }
    places
}

fn not_found(name: &Name, text: &str, old: &str) -> ToolError {
    let message = format!("`{name}` does not contain the text of `old_string`");
    let first = old.lines().map(str::trim).find(|line| !line.is_empty());
    let alike: Vec<usize> = first.map_or_else(Vec::new, |first| {
        let lines = text.lines().enumerate();
        lines.filter(|(_, line)| line.trim() == first).map(|(index, _)| index + 1).collect()
    });
    let (message, hint) = match alike.is_empty() {
        true => (message, "read the file and copy the text, without the line numbers".to_owned()),
        false => (
            format!("{message}; its first line stands {}", named(&alike)),
            "compare white space and the lines after it with the file, which `read_file` shows"
                .to_owned(),
        ),
    };
    ToolError::new("text_not_found", message).class(Class::Invalid).hint(hint)
}

/// The number of the line in which a byte stands, counted from 1.
fn line_of(text: &str, place: usize) -> usize {
    text[..place].matches('\n').count() + 1
}

fn named(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(NAMED_LINES).map(usize::to_string).collect();
    let more = match lines.len().saturating_sub(NAMED_LINES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let word = if lines.len() == 1 { "line" } else { "lines" };
    format!("at {word} {}{more}", shown.join(", "))
}

fn with_crlf(text: &str) -> Cow<'_, str> {
    match text.contains('\n') {
        true => text.replace("\r\n", "\n").replace('\n', "\r\n").into(),
        false => text.into(),
    }
}
