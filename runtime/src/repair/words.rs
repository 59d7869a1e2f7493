//! Spellings that mean the same, words that are close, and schemas in words.

use std::collections::HashMap;

use serde_json::Value;

/// A key or choice longer than this is compared exactly or not at all.
pub(super) const LONGEST: usize = 60;
const MOST_CHOICES: usize = 12;

/// A word without what writers vary: case, and the marks between the parts of a word.
///
/// Marks between digits stay, and so do marks at the ends and a minus sign: `1-0` is not `10`, `_id` is not
/// `id`, `at -1` is not `at 1`.
pub(super) fn folded(word: &str) -> String {
    let letters: Vec<char> = word.chars().collect();
    let mut plain = String::with_capacity(word.len());
    let mut at = 0;
    while at < letters.len() {
        let length = letters[at..].iter().take_while(|it| matches!(it, '_' | '-' | ' ')).count();
        if length == 0 {
            plain.extend(letters[at].to_lowercase());
            at += 1;
            continue;
        }
        let before = at.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(at + length).copied();
        let run = &letters[at..at + length];
        if !matches!((before, after), (Some(before), Some(after)) if joins(before, run, after)) {
            plain.extend(run);
        }
        at += length;
    }
    plain
}

/// Whether the marks between two letters only join them.
fn joins(before: char, run: &[char], after: char) -> bool {
    let numeric = (before.is_numeric(), after.is_numeric());
    let hyphen = run.contains(&'-');
    match (before.is_alphanumeric(), after.is_alphanumeric()) {
        (true, true) => numeric != (true, true) && !(hyphen && run.len() > 1 && numeric.1),
        (true, false) | (false, true) => !hyphen,
        (false, false) => false,
    }
}

/// Words by their folded spelling; `None` where several share it.
#[derive(Debug, Default)]
pub(super) struct Spellings(HashMap<String, Option<String>>);

impl Spellings {
    pub(super) fn of<'w>(words: impl Iterator<Item = &'w str>) -> Self {
        let mut spellings: HashMap<String, Option<String>> = HashMap::new();
        for word in words {
            spellings
                .entry(folded(word))
                .and_modify(|known| {
                    if known.as_deref() != Some(word) {
                        *known = None;
                    }
                })
                .or_insert_with(|| Some(word.to_owned()));
        }
        Self(spellings)
    }

    /// The only word that is spelt like this one.
    pub(super) fn find(&self, word: &str) -> Option<&str> {
        self.0.get(&folded(word))?.as_deref()
    }
}

/// The only word a slip of the hand away: one letter in four, two in eight.
pub(super) fn typo_of<'w>(word: &str, words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let length = word.chars().count();
    if !(4..=LONGEST).contains(&length) {
        return None;
    }
    let reach = if length < 8 { 1 } else { 2 };
    let word = folded(word);
    let mut close = words
        .filter(|it| it.len().abs_diff(length) <= 8 && it.len() <= LONGEST)
        .filter(|it| strsim::osa_distance(&word, &folded(it)) <= reach);
    match (close.next(), close.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// The word that was probably meant, for a message.
pub(super) fn nearest<'w>(word: &str, words: impl Iterator<Item = &'w str>) -> Option<String> {
    if word.len() > LONGEST {
        return None;
    }
    let word = folded(word);
    words
        .filter(|it| it.len() <= LONGEST)
        .filter_map(|choice| {
            let choice_folded = folded(choice);
            let distance = strsim::osa_distance(&word, &choice_folded);
            let shorter = word.chars().count().min(choice_folded.chars().count());
            let begins = shorter >= 3
                && (word.starts_with(&choice_folded) || choice_folded.starts_with(&word));
            let close = distance < shorter && distance <= (shorter / 3).max(1);
            (distance == 0 || close || begins).then_some((distance, choice))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, choice)| choice.to_owned())
}

/// What a schema asks for: `a string`, `an integer of at least 1`, `one of "a", "b"`.
pub(super) fn expected(schema: &Value, root: &Value) -> String {
    expected_within(schema, root, 0)
}

fn expected_within(schema: &Value, root: &Value, depth: usize) -> String {
    let nothing = || "a value".to_owned();
    if depth > 4 {
        return nothing();
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return one_of(choices);
    }
    if let Some(only) = schema.get("const") {
        return only.to_string();
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let target = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return target.map_or_else(nothing, |it| expected_within(it, root, depth + 1));
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(choices) = schema.get(keyword).and_then(Value::as_array) {
            let constants: Option<Vec<Value>> =
                choices.iter().map(|it| it.get("const").cloned()).collect();
            if let Some(constants) = constants {
                return one_of(&constants);
            }
            let mut words: Vec<String> = Vec::new();
            for choice in choices.iter().take(MOST_CHOICES) {
                let word = expected_within(choice, root, depth + 1);
                if !words.contains(&word) {
                    words.push(word);
                }
            }
            return words.join(" or ");
        }
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(only)) => vec![only],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => return nothing(),
    };
    let words: Vec<String> = types.iter().map(|it| of_type(it, schema, root, depth)).collect();
    words.join(" or ")
}

fn of_type(name: &str, schema: &Value, root: &Value, depth: usize) -> String {
    let limits =
        |lowest: &str, highest: &str, unit: &str| match (schema.get(lowest), schema.get(highest)) {
            (Some(low), Some(high)) => format!(" from {low} to {high}{unit}"),
            (Some(low), None) => format!(" of at least {low}{unit}"),
            (None, Some(high)) => format!(" of at most {high}{unit}"),
            (None, None) => String::new(),
        };
    match name {
        "string" => format!("a string{}", limits("minLength", "maxLength", " characters")),
        "integer" => format!("an integer{}", limits("minimum", "maximum", "")),
        "number" => format!("a number{}", limits("minimum", "maximum", "")),
        "boolean" => "true or false".to_owned(),
        "array" => match schema.get("items") {
            Some(items) if items.is_object() => match expected_within(items, root, depth + 1) {
                words if words == "a value" => "an array".to_owned(),
                words => format!("an array, each item {words}"),
            },
            _ => "an array".to_owned(),
        },
        "object" => "an object".to_owned(),
        other => other.to_owned(),
    }
}

/// `one of "a", "b" and 3 more`.
pub(super) fn one_of(choices: &[Value]) -> String {
    let listed: Vec<String> =
        choices.iter().take(MOST_CHOICES).map(|it| shortened(it, LONGEST)).collect();
    let listed = listed.join(", ");
    match choices.len() {
        0 => "nothing here".to_owned(),
        1 => listed,
        2..=MOST_CHOICES => format!("one of {listed}"),
        count => format!("one of {listed} and {} more", count - MOST_CHOICES),
    }
}

fn shortened(value: &Value, longest: usize) -> String {
    shorten(&value.to_string(), longest)
}

/// At most so many characters of a text.
pub(super) fn shorten(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_differ_in_case_and_marks_alone() {
        for word in ["file_path", "filePath", "FilePath", "file-path", "FILE_PATH", "File Path"] {
            assert_eq!(folded(word), "filepath", "{word}");
        }
        for (one, other) in [
            ("_id", "id"),
            ("1-0", "10"),
            ("-1", "1"),
            ("at -1", "at 1"),
            ("v1_1", "v11"),
            ("C++", "C"),
        ] {
            assert_ne!(folded(one), folded(other));
        }
    }

    #[test]
    fn a_spelling_of_two_words_is_of_none() {
        let spellings = Spellings::of(["userId", "user_id", "name"].into_iter());
        assert_eq!(spellings.find("user-id"), None);
        assert_eq!(spellings.find("Name"), Some("name"));
    }

    #[test]
    fn a_slip_is_taken_where_only_one_word_is_close() {
        let typo = |word| typo_of(word, ["celsius", "kelvin", "read", "road"].into_iter());
        assert_eq!(typo("celsus"), Some("celsius"));
        assert_eq!(typo("reed"), Some("read"));
        assert_eq!(typo("raad"), None);
        assert_eq!(typo("rea"), None);
    }
}
