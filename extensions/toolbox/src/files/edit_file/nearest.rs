//! The place of a file that is most like a text that is not in it, and what differs there; pure.

use std::time::Duration;

use similar::TextDiff;
use toolwright::{Class, ToolError};

use crate::files::notes::shortened;
use crate::workspace::Name;

/// Lines are compared as wholes; where none is equal, character by character with so many lines of the file.
const COMPARED: usize = 2000;

/// Two lines are alike when so much of them is.
const ALIKE: f32 = 0.6;

/// A longer line is cut, after so many characters.
const LONGEST_LINE: usize = 200;

/// The error for a text that is not there.
pub(super) fn not_found(name: &Name, text: &str, old: &str) -> ToolError {
    let message = format!("`{name}` does not contain the text of `old_string`");
    let (lines, wanted) = (lines(text), lines(old));
    let Some(start) = nearest(&lines, &wanted) else {
        return ToolError::new("text_not_found", message)
            .class(Class::Invalid)
            .hint("read the file and copy the text, without the line numbers");
    };
    let (first, last) = (start + 1, (start + wanted.len()).min(lines.len()));
    let place = match first == last {
        true => format!("line {first}"),
        false => format!("lines {first} to {last}"),
    };
    let message =
        format!("{message}; the nearest place is {place}, {}", differs(&lines, &wanted, start));
    ToolError::new("text_not_found", message).class(Class::Invalid).hint(
        "copy the text from the file, which `read_file` shows, with its white space and without the line numbers",
    )
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

/// Where the text would begin in the file, counted from 0.
fn nearest(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    // Equal lines count twice as much as lines that differ in white space.
    let score = |start: usize| -> usize {
        let pairs = wanted.iter().zip(lines.iter().skip(start));
        let worth = |(one, two): (&&str, &&str)| match one.trim() {
            "" => 0,
            _ if one == two => 2,
            trimmed => usize::from(trimmed == two.trim()),
        };
        pairs.map(worth).sum()
    };
    // Only where some line of the text stands, or lacks nothing but white space.
    let mut best: Option<(usize, usize)> = None;
    for (offset, line) in wanted.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let trimmed = line.trim();
        for (index, _) in
            lines.iter().enumerate().filter(|(_, line)| line.trim() == trimmed).take(COMPARED)
        {
            let Some(start) = index.checked_sub(offset) else { continue };
            let score = score(start);
            if best.is_none_or(|(most, at)| score > most || score == most && start < at) {
                best = Some((score, start));
            }
        }
    }
    if let Some((_, start)) = best {
        return Some(start);
    }
    let (offset, first) = wanted.iter().enumerate().find(|(_, line)| !line.trim().is_empty())?;
    // A text within one line.
    if wanted.len() == 1
        && let Some(index) = lines.iter().position(|line| line.trim().contains(first.trim()))
    {
        return Some(index);
    }
    let mut best: Option<(f32, usize)> = None;
    for (index, line) in lines.iter().enumerate().take(COMPARED) {
        let ratio = likeness(first.trim(), line.trim());
        if ratio >= ALIKE && best.is_none_or(|(most, _)| ratio > most) {
            best = Some((ratio, index));
        }
    }
    best.and_then(|(_, index)| index.checked_sub(offset))
}

fn likeness(one: &str, two: &str) -> f32 {
    let (short, long) = (one.len().min(two.len()), one.len().max(two.len()));
    // Where one is twice as long, they are not alike, which is known without comparing them.
    if short * 2 < long {
        return 0.0;
    }
    TextDiff::configure().timeout(Duration::from_millis(20)).diff_chars(one, two).ratio()
}

/// The first line that differs, in both forms, with its white space visible.
fn differs(lines: &[&str], wanted: &[&str], start: usize) -> String {
    let shown = |line: &str| format!("{:?}", shortened(line, LONGEST_LINE));
    for (index, wanted) in wanted.iter().enumerate() {
        match lines.get(start + index) {
            Some(line) if line == wanted => {}
            Some(line) => {
                let number = start + index + 1;
                return format!(
                    "where line {number} is {}, and `old_string` has {}",
                    shown(line),
                    shown(wanted)
                );
            }
            None => return format!("where the file ends before {}", shown(wanted)),
        }
    }
    "where only line ends differ".to_owned()
}
