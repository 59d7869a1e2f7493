//! Searches a text by lines, and a JSON value by its keys and values.

use std::borrow::Cow;

use regex::Regex;
use toolwright::unstable::json::Node;

use super::page::PAGE;
use super::text::{number, split_at_character};

/// The maximum number of matches that a search shows.
const MATCHES: usize = 100;

/// How many characters of a match a search shows.
const SHOWN: usize = 300;

/// The result of a search in an answer.
#[derive(Default)]
pub(super) struct Matches {
    /// A line for each match that is shown.
    pub lines: Vec<String>,
    /// The number of all matches.
    pub total: usize,
}

/// Finds the lines that a pattern matches, with their numbers and pages.
pub(super) fn lines(text: &str, pattern: &Regex) -> Matches {
    let (mut matches, mut before) = (Matches::default(), 0);
    for (index, line) in text.split('\n').enumerate() {
        if let Some(found) = pattern.find(line) {
            let at = before + line[..found.start()].chars().count();
            let around = around(line, found.start());
            matches.add(|| format!("line {}, page {}: {around}", index + 1, at / PAGE + 1));
        }
        before += line.chars().count() + 1;
    }
    matches
}

/// Finds the keys and the plain values that a pattern matches, as JSON pointers.
pub(super) fn places(value: &Node, pattern: &Regex) -> Matches {
    let mut matches = Matches::default();
    look(value, &mut String::new(), false, pattern, &mut matches);
    matches
}

fn look(value: &Node, place: &mut String, is_key: bool, pattern: &Regex, matches: &mut Matches) {
    let length = place.len();
    match value {
        Node::Object(entries) => {
            if is_key {
                matches
                    .add(|| format!("{}: object of {} keys", shown(place), number(entries.len())));
            }
            for (key, value) in entries {
                push_segment(place, key);
                look(value, place, pattern.is_match(key), pattern, matches);
                place.truncate(length);
            }
        }
        Node::Array(items) => {
            if is_key {
                matches.add(|| format!("{}: array of {}", shown(place), number(items.len())));
            }
            for (index, item) in items.iter().enumerate() {
                push_segment(place, &index.to_string());
                look(item, place, false, pattern, matches);
                place.truncate(length);
            }
        }
        Node::Text(text) => {
            let found = pattern.find(text).map(|it| it.start());
            if let Some(at) = found.or(is_key.then_some(0)) {
                matches
                    .add(|| format!("{}: {}", shown(place), Node::Text(around(text, at)).text()));
            }
        }
        scalar => {
            let text = scalar.text();
            let found = pattern.find(&text).map(|it| it.start());
            if let Some(at) = found.or(is_key.then_some(0)) {
                matches.add(|| format!("{}: {}", shown(place), around(&text, at)));
            }
        }
    }
}

impl Matches {
    fn add(&mut self, line: impl FnOnce() -> String) {
        self.total += 1;
        if self.lines.len() < MATCHES {
            self.lines.push(line());
        }
    }
}

/// Returns the path of a match. A long path is cut, because the same one may be shown for many matches.
fn shown(place: &str) -> Cow<'_, str> {
    match split_at_character(place, SHOWN) {
        (_, "") => place.into(),
        (begin, _) => {
            let characters = number(place.chars().count());
            format!("{begin}… (a path of {characters} characters)").into()
        }
    }
}

/// Returns the whole text if it is short, else the part around a match.
fn around(text: &str, at: usize) -> String {
    let before = text[..at].chars().count().saturating_sub(SHOWN / 3);
    let (_, rest) = split_at_character(text, before);
    let (shown, left) = split_at_character(rest, SHOWN);
    let (begins, ends) =
        (if before > 0 { "…" } else { "" }, if left.is_empty() { "" } else { "…" });
    format!("{begins}{shown}{ends}")
}

fn push_segment(place: &mut String, key: &str) {
    place.push('/');
    place.push_str(&key.replace('~', "~0").replace('/', "~1"));
}

#[cfg(test)]
mod tests {
    use toolwright::unstable::json::read;

    use super::*;

    fn pattern(pattern: &str) -> Regex {
        Regex::new(pattern).expect("a pattern")
    }

    #[test]
    fn a_line_is_found_with_its_number_and_its_page() {
        let text = format!("{}needle one\nhay\nneedle two", "0123456789\n".repeat(800));
        let found = lines(&text, &pattern("needle"));
        assert_eq!(found.lines, ["line 801, page 2: needle one", "line 803, page 2: needle two"]);
    }

    #[test]
    fn a_place_is_found_by_its_key_and_by_its_value() {
        let value =
            read(r#"{"a/b":[{"name":"serde","version":1}],"names":{},"n":null}"#).expect("JSON");
        assert_eq!(
            places(&value, &pattern("serde|^1$")).lines,
            ["/a~1b/0/name: \"serde\"", "/a~1b/0/version: 1"]
        );
        assert_eq!(
            places(&value, &pattern("^name")).lines,
            ["/a~1b/0/name: \"serde\"", "/names: object of 0 keys"]
        );
    }

    #[test]
    fn long_keys_and_numbers_are_cut() {
        let (key, ones) = ("k".repeat(100_000), "1,".repeat(99));
        let value = read(&format!(r#"{{"{key}":[{ones}1],"n":{}}}"#, "1".repeat(100_000)));
        let found = places(&value.expect("JSON"), &pattern("^1"));
        let characters: usize = found.lines.iter().map(|line| line.chars().count()).sum();
        assert_eq!((found.lines.len(), found.total), (MATCHES, 101));
        assert!(characters < 100 * 400, "{characters}");
        assert!(found.lines[0].contains("kk… (a path of 100,003 characters): 1"), "{characters}");
    }

    #[test]
    fn a_long_line_is_shown_around_the_match_and_many_matches_are_counted() {
        let text = format!("{}needle{}\n", "ä".repeat(5_000), "b".repeat(5_000)).repeat(200);
        let found = lines(&text, &pattern("needle"));
        assert_eq!((found.lines.len(), found.total), (MATCHES, 200));
        assert!(found.lines.iter().all(|it| it.contains("needle") && it.chars().count() < 400));
    }
}
