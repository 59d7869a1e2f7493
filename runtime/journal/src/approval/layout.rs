//! A request as a table for people.
//!
//! - Only this code writes line breaks. Text from elsewhere is escaped, and is broken into several lines if it is long,
//!   so that it can neither imitate a row nor reach past the edge of the terminal.
//! - No text is shortened.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{Formatter, Result};

use serde_json::value::RawValue;

use super::request::ApprovalRequest;
use toolwright_core::json::canonical;
use toolwright_core::json::tree::quote;
use toolwright_core::printable::line;

/// The width of the left column in characters; a longer label is put into the right column.
const LABEL: usize = 10;
/// The width of the right column.
const TEXT: usize = 64;

pub(super) fn request(request: &ApprovalRequest, out: &mut Formatter<'_>) -> Result {
    let title = request.title.as_ref().map(|title| format!(" ({title})")).unwrap_or_default();
    row(out, "tool", &format!("{}{title}", request.tool))?;
    row(out, "danger", request.danger.as_str())?;
    row(out, "why", &request.reason)?;
    let user = request.requester.user.as_ref().map(|user| format!(", for {user}"));
    let by = format!("{}{}", request.requester.agent, user.unwrap_or_default());
    row(out, "asked by", &by)?;
    row(out, "run", &request.run)?;
    if let Some(project) = &request.project {
        row(out, "project", project)?;
    }
    row(out, "until", &request.deadline.to_string())?;
    row(out, "call", &format!("{}, generation {}", request.call, request.generation))?;
    row(out, "digest", &request.digest)?;
    arguments(&request.arguments, out)?;
    for change in &request.repairs {
        row(out, "repaired", &change.to_string())?;
    }
    for line in request.preview.iter().flat_map(|preview| preview.lines()) {
        row(out, "preview", line)?;
    }
    Ok(())
}

fn arguments(text: &str, out: &mut Formatter<'_>) -> Result {
    // The map would keep only one of two equal keys, so `canonical` first refuses a text with repeated keys.
    let read = canonical(text)
        .ok()
        .and_then(|_| serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(text).ok());
    match read {
        Some(entries) if entries.is_empty() => row(out, "arguments", "none"),
        Some(entries) => {
            row(out, "arguments", "")?;
            entries.iter().try_for_each(|(key, value)| row(out, &key_label(key), value.get()))
        }
        None => row(out, "arguments", text),
    }
}

/// Formats the key of an argument. The key is quoted unless it is a plain word, so that it cannot imitate other parts
/// of the table.
fn key_label(key: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if !key.is_empty() && key.bytes().all(plain) {
        format!("  {key}")
    } else {
        format!("  {}", quote(key))
    }
}

/// Writes one row. A long text takes several lines, and the continuation lines are marked.
fn row(out: &mut Formatter<'_>, label: &str, text: &str) -> Result {
    let (label, text) = (line(label), line(text));
    let (label, text) = match label.len() <= LABEL {
        true => (label, text),
        false => (String::new(), format!("{}: {text}", label.trim_start())),
    };
    for (number, line) in pieces(&text).into_iter().enumerate() {
        let (label, mark) = if number == 0 { (label.as_str(), ' ') } else { ("", '…') };
        match line {
            "" => writeln!(out, "{label}")?,
            line => writeln!(out, "{label:<LABEL$} {mark} {line}")?,
        }
    }
    Ok(())
}

/// Splits a text into pieces that fit into a line, after a space if possible. A character beyond ASCII is assumed to
/// take two columns, which is the maximum.
fn pieces(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let (mut start, mut width) = (0, 0);
    // The byte offset after the last space of the line, and the width of the text after that space.
    let (mut word, mut of_word) = (0, 0);
    for (at, character) in text.char_indices() {
        let columns = if character.is_ascii() { 1 } else { 2 };
        if width + columns > TEXT {
            let (end, left) = if word > start { (word, of_word) } else { (at, 0) };
            lines.push(&text[start..end]);
            (start, width) = (end, left);
        }
        width += columns;
        of_word += columns;
        if character == ' ' {
            (word, of_word) = (at + 1, 0);
        }
    }
    lines.push(&text[start..]);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_broken_between_words_and_nothing_is_left_out() {
        let words = "it spends money of the customer, who has not been asked about it, and it cannot be taken back";
        assert_eq!(
            pieces(words),
            [
                "it spends money of the customer, who has not been asked about ",
                "it, and it cannot be taken back"
            ]
        );
        let long = "x".repeat(TEXT + 1);
        for text in [
            String::new(),
            long.clone(),
            format!("a {long} b"),
            format!("{} ", "y".repeat(TEXT - 1)),
            " ".repeat(2 * TEXT + 1),
            "\u{e9}\u{4e2d} ".repeat(50),
        ] {
            let pieces = pieces(&text);
            assert_eq!(pieces.concat(), text);
            let columns =
                |line: &&str| line.chars().map(|it| 1 + usize::from(!it.is_ascii())).sum::<usize>();
            assert!(pieces.iter().all(|line| columns(line) <= TEXT), "{pieces:?}");
        }
        assert_eq!(pieces(&format!("a {long}"))[0], "a ");
    }
}
