//! Describes values, types and choices for a person and a model.
//!
//! - Every function is cold: it runs only to make an error message.
//! - The work is bounded, whatever text is given, and the result is short.

use std::cell::Cell;
use std::fmt::{Display, LowerExp};

use serde::de::{Expected, Unexpected};

use super::formats;

/// The maximum number of characters of one value in a message.
#[doc(hidden)]
pub const LONGEST: usize = 60;
const MOST_CHOICES: usize = 16;
/// The length of an escape sequence such as `\u007f`.
const ESCAPED: usize = 6;
/// The maximum number of pairs of letters that are compared to find similar words for one answer: some milliseconds of
/// work.
#[doc(hidden)]
pub const MOST_COMPARED: usize = 2_000_000;

/// Shortens `text` to 60 characters. Collapses white space, and escapes other control characters as in JSON, so that
/// none of them affects a terminal.
#[doc(hidden)]
pub fn shorten(text: &str) -> String {
    shorten_to(text, LONGEST)
}

/// Shortens a text as [`shorten`] does, but to at most `longest` characters.
#[doc(hidden)]
pub fn shorten_to(text: &str, longest: usize) -> String {
    let mut short = String::new();
    let (mut length, mut last) = (0, 0);
    for letter in text.chars() {
        let letter = if letter.is_ascii_whitespace() { ' ' } else { letter };
        if letter == ' ' && short.ends_with(' ') {
            continue;
        }
        let width = if letter.is_control() { ESCAPED } else { 1 };
        if length + width > longest {
            if length == longest {
                short.truncate(last);
            }
            short.push('…');
            break;
        }
        last = short.len();
        match letter.is_control() {
            true => short.push_str(&format!("\\u{:04x}", u32::from(letter))),
            false => short.push(letter),
        }
        length += width;
    }
    short
}

/// Returns `text` as a JSON string, shortened as [`shorten`] does.
#[doc(hidden)]
pub fn quote(text: &str) -> String {
    let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| at);
    let part = text.get(..end).unwrap_or(text);
    shorten(&serde_json::Value::from(part).to_string())
}

/// Lists names in words such as `one of "a", "b"`. A single name is returned without `one of`.
pub(crate) fn one_of<'c>(names: impl ExactSizeIterator<Item = &'c str>) -> String {
    one_of_shown(names.map(quote))
}

/// Lists choices in words such as `one of 1, "b"`. The choices are already written as text.
pub(crate) fn one_of_shown(choices: impl ExactSizeIterator<Item = String>) -> String {
    let count = choices.len();
    let listed: Vec<_> = choices.take(MOST_CHOICES).collect();
    let listed = listed.join(", ");
    match count {
        0 => "nothing here".to_owned(),
        1 => listed,
        2..=MOST_CHOICES => format!("one of {listed}"),
        _ => format!("one of {listed} and {} more", count - MOST_CHOICES),
    }
}

/// Finds the choice that `word` probably means; `None` if no choice is similar.
#[doc(hidden)]
pub fn nearest<'c>(word: &str, choices: impl Iterator<Item = &'c str>) -> Option<String> {
    nearest_within(word, choices, &Cell::new(MOST_COMPARED))
}

/// Does the same as [`nearest`], within a limit of work. A comparison costs the product of the lengths of the two
/// words, which is subtracted from `left`. Returns `None` if `left` reaches 0: a choice that was not compared may be
/// the most similar one.
#[doc(hidden)]
pub fn nearest_within<'c>(
    word: &str,
    choices: impl Iterator<Item = &'c str>,
    left: &Cell<usize>,
) -> Option<String> {
    if word.len() > LONGEST || left.get() == 0 {
        return None;
    }
    let word = plain(word);
    let mut near = Vec::new();
    for choice in choices.filter(|it| it.len() <= 4 * LONGEST) {
        left.set(left.get().saturating_sub(word.len().max(1) * choice.len().max(1)));
        if left.get() == 0 {
            return None;
        }
        near.extend(distance(&word, &plain(choice)).map(|distance| (distance, choice)));
    }
    near.into_iter().min_by_key(|(distance, _)| *distance).map(|(_, choice)| choice.to_owned())
}

fn distance(word: &str, choice: &str) -> Option<usize> {
    let (word_length, choice_length) = (word.chars().count(), choice.chars().count());
    let (shorter, longer) = (word_length.min(choice_length), word_length.max(choice_length));
    if longer > LONGEST {
        return None;
    }
    let distance = strsim::osa_distance(word, choice);
    let close = distance < shorter && distance <= (longer / 3).max(1);
    let begins = shorter >= 3 && (word.starts_with(choice) || choice.starts_with(word));
    (distance == 0 || close || begins).then_some(distance)
}

/// Removes what models often get wrong in a name: converts it to lower case and removes separators.
fn plain(word: &str) -> String {
    let kept = word.chars().filter(|letter| !matches!(letter, '_' | '-' | ' ' | '.'));
    kept.flat_map(char::to_lowercase).collect()
}

/// Describes the value that serde found. Empty if the text of the value describes it better.
pub(super) fn describe_found(unexpected: &Unexpected<'_>) -> String {
    match unexpected {
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Unsigned(value) => value.to_string(),
        Unexpected::Signed(value) => value.to_string(),
        Unexpected::Float(value) => value.to_string(),
        Unexpected::Char(value) => quote(value.encode_utf8(&mut [0; 4])),
        Unexpected::Str(value) => quote(value),
        Unexpected::Unit => "null".to_owned(),
        _ => String::new(),
    }
}

/// Describes what a type expects, without terms that only a Rust programmer knows.
pub(super) fn describe_expected(expected: &dyn Expected) -> String {
    in_words(expected.to_string())
}

/// Describes the expected type as [`describe_expected`] does, but with the range of an integer type, for a number that
/// may be outside of the range.
pub(super) fn expected_range(expected: &dyn Expected) -> String {
    let text = expected.to_string();
    bounds(&text).unwrap_or_else(|| in_words(text))
}

/// Returns words such as "an integer from 0 to 255".
pub(super) fn range(minimum: i128, maximum: u128) -> String {
    between::<&dyn Display>("an integer", Some(&minimum), Some(&maximum))
}

/// Describes the range of a float type, for a number that is out of range.
#[doc(hidden)]
pub fn float_range<F: LowerExp>(most: F) -> String {
    format!("a number from -{most:e} to {most:e}; this one is out of range")
}

/// Returns words such as "an array of 2 items".
pub(super) fn items(count: usize) -> String {
    format!("an array of {}", many(count, "item"))
}

/// Returns words such as "2 items".
#[doc(hidden)]
pub fn many(count: usize, unit: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

/// Returns words such as "1 to 20 characters".
pub(crate) fn counts(least: Option<usize>, most: Option<usize>, unit: &str) -> String {
    match (least, most) {
        (Some(least), Some(most)) if least == most => many(least, unit),
        (Some(least), Some(most)) => format!("{least} to {}", many(most, unit)),
        (Some(least), None) => format!("at least {}", many(least, unit)),
        (None, Some(most)) => format!("at most {}", many(most, unit)),
        (None, None) => format!("any number of {unit}s"),
    }
}

/// Returns words such as "a number from 1 to 9".
pub(crate) fn between<T: Display>(what: &str, low: Option<T>, high: Option<T>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{what} from {low} to {high}"),
        (Some(low), None) => format!("{what} of at least {low}"),
        (None, Some(high)) => format!("{what} of at most {high}"),
        (None, None) => what.to_owned(),
    }
}

/// Shortens a type's own message to a fragment without a period.
pub(super) fn message(text: String) -> String {
    if text.starts_with("data did not match any variant of untagged enum") {
        return "matches none of the forms taken here".to_owned();
    }
    match text.strip_suffix('.') {
        Some(fragment) => fragment.to_owned(),
        None => text,
    }
}

fn in_words(text: String) -> String {
    if let Some(known) = formats::of_reader(&text) {
        return known.to_owned();
    }
    let known = match text.as_str() {
        "a boolean" => "true or false",
        "a borrowed string" | "string" | "str" => "a string",
        "a character" => "a string of one character",
        "path string" | "a borrowed path" => "a string with a path",
        "unit" => "null",
        "a map" => "an object",
        "a sequence" => "an array",
        "option" => "a value or null",
        "f32" | "f64" => "a number",
        "any valid JSON value" => "any JSON value",
        "byte array" | "bytes" | "a byte array" | "a borrowed byte array" => "an array of bytes",
        _ if bounds(&text).is_some() => "an integer",
        _ if text.starts_with("a nonzero ") => "an integer other than 0",
        _ => return shape_in_words(text),
    };
    known.to_owned()
}

fn shape_in_words(text: String) -> String {
    let count = text
        .split(' ')
        .rev()
        .find_map(|word| word.parse::<usize>().ok())
        .or_else(|| (text == "an empty array").then_some(0));
    let starts = |beginnings: &[&str]| beginnings.iter().any(|start| text.starts_with(start));
    let sized = text.ends_with(" elements") || text.ends_with(" element");
    let array = ["an array of length", "a tuple of size", "an empty array"];
    match count {
        Some(count) if sized || starts(&array) => items(count),
        _ if starts(&["tuple struct ", "tuple variant "]) => "an array".to_owned(),
        _ if starts(&["unit struct "]) => "null".to_owned(),
        _ if starts(&["struct ", "internally tagged ", "adjacently tagged "]) => {
            "an object".to_owned()
        }
        _ if starts(&["enum "]) => "a string or an object with one key".to_owned(),
        _ => text,
    }
}

fn bounds(name: &str) -> Option<String> {
    Some(match name {
        "u8" => range(0, u8::MAX.into()),
        "u16" => range(0, u16::MAX.into()),
        "u32" => range(0, u32::MAX.into()),
        "u64" | "usize" => range(0, u64::MAX.into()),
        "u128" => range(0, u128::MAX),
        "i8" => range(i8::MIN.into(), i8::MAX.unsigned_abs().into()),
        "i16" => range(i16::MIN.into(), i16::MAX.unsigned_abs().into()),
        "i32" => range(i32::MIN.into(), i32::MAX.unsigned_abs().into()),
        "i64" | "isize" => range(i64::MIN.into(), i64::MAX.unsigned_abs().into()),
        "i128" => range(i128::MIN, i128::MAX.unsigned_abs()),
        _ => return None,
    })
}
