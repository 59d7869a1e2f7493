//! Compares words by their spelling, and finds similar words.

use std::collections::HashMap;

/// The maximum length of a key or choice that is compared for similarity. A longer one has to be equal.
pub(super) const LONGEST: usize = 60;

/// Folds a word: reduces it to the part that does not vary between writers. Case and the separators between parts of
/// the word are removed.
///
/// A minus sign and separators between digits or at the ends remain: `1-0` is not `10`, `_id` is not `id`, `at -1` is
/// not `at 1`.
pub(super) fn fold(word: &str) -> String {
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

/// Returns whether the separators between two letters only join parts of a word, as `_` does.
fn joins(before: char, run: &[char], after: char) -> bool {
    let numeric = (before.is_numeric(), after.is_numeric());
    let hyphen = run.contains(&'-');
    match (before.is_alphanumeric(), after.is_alphanumeric()) {
        (true, true) => numeric != (true, true) && !(hyphen && run.len() > 1 && numeric.1),
        (true, false) | (false, true) => !hyphen,
        (false, false) => false,
    }
}

/// The known words by their folded spelling; `None` for a folded spelling that several words share.
#[derive(Debug, Default)]
pub(super) struct Spellings(HashMap<String, Option<String>>);

impl Spellings {
    pub(super) fn of<'w>(words: impl Iterator<Item = &'w str>) -> Self {
        let mut spellings: HashMap<String, Option<String>> = HashMap::new();
        for word in words {
            spellings
                .entry(fold(word))
                .and_modify(|known| {
                    if known.as_deref() != Some(word) {
                        *known = None;
                    }
                })
                .or_insert_with(|| Some(word.to_owned()));
        }
        Self(spellings)
    }

    /// Returns the known word with the same folded spelling as `word`; `None` if there are several such words or none.
    pub(super) fn find(&self, word: &str) -> Option<&str> {
        self.0.get(&fold(word))?.as_deref()
    }
}

/// Returns the only word that differs from `word` by a typing error: by one letter in a short word, by two letters in a
/// word of eight letters or more. Returns `None` if `left`, the remaining number of letter comparisons, reaches 0: a
/// word that was not compared may be just as similar.
pub(super) fn typo_of<'w>(
    word: &str,
    words: impl Iterator<Item = &'w str>,
    left: &mut usize,
) -> Option<&'w str> {
    let length = word.chars().count();
    if !(4..=LONGEST).contains(&length) {
        return None;
    }
    let reach = if length < 8 { 1 } else { 2 };
    let word = fold(word);
    let mut close = None;
    for other in words.filter(|it| it.len().abs_diff(length) <= 8 && it.len() <= LONGEST) {
        *left = left.checked_sub(length * other.len()).unwrap_or_default();
        if *left == 0 {
            return None;
        }
        if strsim::osa_distance(&word, &fold(other)) <= reach && close.replace(other).is_some() {
            return None;
        }
    }
    close
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_differ_in_case_and_marks_alone() {
        for word in ["file_path", "filePath", "FilePath", "file-path", "FILE_PATH", "File Path"] {
            assert_eq!(fold(word), "filepath", "{word}");
        }
        for (one, other) in [
            ("_id", "id"),
            ("1-0", "10"),
            ("-1", "1"),
            ("at -1", "at 1"),
            ("v1_1", "v11"),
            ("C++", "C"),
        ] {
            assert_ne!(fold(one), fold(other));
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
        let typo =
            |word| typo_of(word, ["celsius", "kelvin", "read", "road"].into_iter(), &mut 10_000);
        assert_eq!(typo("celsus"), Some("celsius"));
        assert_eq!(typo("reed"), Some("read"));
        assert_eq!(typo("raad"), None);
        assert_eq!(typo("rea"), None);
    }
}
