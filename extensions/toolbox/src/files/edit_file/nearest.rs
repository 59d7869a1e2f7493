//! Finds the place in a file that is most similar to a text that the file does not contain, and the first difference.
//! Pure.

use std::collections::HashMap;

use similar::TextDiff;
use toolwright::{ErrorClass, ToolError};

use crate::files::notes::shorten;
use crate::workspace::Name;

/// The most pairs of lines that are compared for equality, whatever the sizes of file and text. This bounds the time of
/// a failed edit.
const COMPARED: usize = 200_000;

/// The most lines of the text that are compared at each place.
const COMPARED_AT_ONCE: usize = 50;

/// How many lines of the file are compared with the first line of the text character by character, if no line is equal.
/// Lines longer than the limit below, in bytes, are skipped.
const LIKENED: usize = 2000;
const LIKENED_BYTES: usize = 200;

/// The share of equal characters from which two lines count as similar.
const ALIKE: f32 = 0.6;

/// The most characters of a line that are shown.
const LONGEST_LINE: usize = 200;

/// Makes the error for a text that the file does not contain.
pub(super) fn not_found(name: &Name, text: &str, old: &str) -> ToolError {
    let message = format!("`{name}` does not contain the text of `old_string`");
    let (lines, wanted) = (lines(text), lines(old));
    let Some(start) = nearest(&lines, &wanted) else {
        return ToolError::new("text_not_found", message)
            .class(ErrorClass::Invalid)
            .hint("read the file and copy the text, without the line numbers");
    };
    let (first, last) = (start + 1, (start + wanted.len()).min(lines.len()));
    let place = match first == last {
        true => format!("line {first}"),
        false => format!("lines {first} to {last}"),
    };
    let message =
        format!("{message}; the nearest place is {place}, {}", differs(&lines, &wanted, start));
    ToolError::new("text_not_found", message).class(ErrorClass::Invalid).hint(
        "copy the text from the file, which `read_file` shows, with its white space and without the line numbers",
    )
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

/// Returns the index of the line in the file where the text would begin.
fn nearest(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    // An equal line counts twice as much as a line that differs only in white space.
    let score = |start: usize| -> usize {
        let pairs = wanted.iter().zip(lines.iter().skip(start)).take(COMPARED_AT_ONCE);
        let worth = |(one, two): (&&str, &&str)| match one.trim() {
            "" => 0,
            _ if one == two => 2,
            trimmed => usize::from(trimmed == two.trim()),
        };
        pairs.map(worth).sum()
    };
    // Examine only places where a line of the text occurs, apart from white space. Begin with the lines that are rarest
    // in the file.
    let mut best: Option<(usize, usize)> = None;
    let at_once = wanted.len().clamp(1, COMPARED_AT_ONCE);
    for start in starts(lines, wanted).take(COMPARED / at_once) {
        let score = score(start);
        if best.is_none_or(|(most, at)| score > most || score == most && start < at) {
            best = Some((score, start));
        }
    }
    if let Some((_, start)) = best {
        return Some(start);
    }
    let (offset, first) = wanted.iter().enumerate().find(|(_, line)| !line.trim().is_empty())?;
    // A text of one line may be a part of a line in the file.
    if wanted.len() == 1
        && let Some(index) = lines.iter().position(|line| line.trim().contains(first.trim()))
    {
        return Some(index);
    }
    let mut best: Option<(f32, usize)> = None;
    for (index, line) in lines.iter().enumerate().take(LIKENED) {
        let ratio = likeness(first.trim(), line.trim());
        if ratio >= ALIKE && best.is_none_or(|(most, _)| ratio > most) {
            best = Some((ratio, index));
        }
    }
    best.and_then(|(_, index)| index.checked_sub(offset))
}

/// Returns the places to examine: for each line of the text that the file contains, the line of the file where the text
/// would then begin. Places by the rarest lines come first.
fn starts(lines: &[&str], wanted: &[&str]) -> impl Iterator<Item = usize> {
    let mut offsets: HashMap<&str, usize> = HashMap::new();
    for (offset, line) in wanted.iter().enumerate().take(COMPARED_AT_ONCE) {
        if !line.trim().is_empty() {
            offsets.entry(line.trim()).or_insert(offset);
        }
    }
    let mut found: HashMap<usize, Vec<usize>> = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        if let Some(offset) = offsets.get(line.trim()) {
            found.entry(*offset).or_default().push(index);
        }
    }
    let mut found: Vec<(usize, Vec<usize>)> = found.into_iter().collect();
    found.sort_by_key(|(offset, places)| (places.len(), *offset));
    found.into_iter().flat_map(|(offset, places)| {
        places.into_iter().filter_map(move |index| index.checked_sub(offset))
    })
}

fn likeness(one: &str, two: &str) -> f32 {
    let (short, long) = (one.len().min(two.len()), one.len().max(two.len()));
    // Skip a line that is more than twice as long as the other, because the two are hardly similar. Skip long lines
    // too, because the time grows with the product of both lengths.
    if short * 2 < long || long > LIKENED_BYTES {
        return 0.0;
    }
    TextDiff::from_chars(one, two).ratio()
}

/// Describes the first line that differs, as in the text and as in the file, with visible white space.
fn differs(lines: &[&str], wanted: &[&str], start: usize) -> String {
    let shown = |line: &str| format!("{:?}", shorten(line, LONGEST_LINE));
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

#[cfg(test)]
mod tests {
    use super::{LIKENED_BYTES, likeness, nearest};

    #[test]
    fn a_miss_among_equal_lines_has_a_bound_on_its_work() {
        // Each line of one compared at each place of the other: 10^11 pairs.
        let lines = vec!["}"; 1_000_000];
        let mut wanted = vec!["}"; 100_000];
        wanted[40] = "once";
        assert_eq!(nearest(&lines, &wanted), Some(0));
    }

    #[test]
    fn the_line_that_a_file_has_least_often_leads_to_the_place() {
        let mut lines = vec!["}"; 100_000];
        lines[90_001] = "fn rare() {";
        assert_eq!(nearest(&lines, &["}", "fn rare() {", "    todo", "}"]), Some(90_000));
    }

    #[test]
    fn long_lines_are_not_compared_by_character() {
        let long = "ab".repeat(LIKENED_BYTES);
        assert!(likeness(&long, &long) < f32::EPSILON);
        assert!(likeness("let total = 1;", "let totals = 1;") > 0.9);
    }
}
