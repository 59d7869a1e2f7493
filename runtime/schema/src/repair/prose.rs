//! Decides which text around an input may be skipped: text that contains no part of the input.

/// A function that returns whether a word spells a key of the input.
pub(super) type IsKey<'k> = &'k dyn Fn(&str) -> bool;

/// The maximum number of words in one key, as in `Dry run: true`.
const MOST_WORDS: usize = 3;

/// Returns whether a text can be skipped because it has no brackets, and no key with a value.
pub(super) fn is_words(text: &str, is_key: IsKey<'_>) -> bool {
    let mut before_colons = text.split([':', '：']);
    before_colons.next_back();
    !text.contains(['{', '}', '[', ']', '='])
        && !text.trim_start().starts_with([',', ':'])
        && !["\":", "\" :", "':", "' :", "”:", "```"].iter().any(|it| text.contains(it))
        && !before_colons.any(|part| ends_in_key(part, is_key))
}

/// Returns whether the last words of a text spell a key of the input.
pub(super) fn ends_in_key(text: &str, is_key: IsKey<'_>) -> bool {
    let is_blank = [' ', '\t'];
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '$');
    // Skips the Markdown marks after a key, as in `**limit**: 3`.
    let text = text.trim_end_matches([' ', '\t', '*', '`']);
    let mut rest = text;
    for _ in 0..MOST_WORDS {
        let before = rest.trim_end_matches(is_blank);
        rest = before.trim_end_matches(is_part);
        if rest.len() == before.len() {
            return false;
        }
        let words = &text[rest.len()..];
        if is_key(words) || is_key(words.trim_start_matches('-')) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_passed_over_unless_they_are_a_key_with_a_value() {
        let is_key = |word: &str| ["limit", "Dry run", "do it all"].contains(&word);
        for text in [
            "",
            "Here you are:",
            "Note: see https://example.org",
            "The limit is 3.",
            "limit",
            "no limits: none",
            "Dry. run: yes",
            "Dry\nrun: yes",
        ] {
            assert!(is_words(text, &is_key), "{text}");
        }
        for text in [
            "limit: 3",
            "and with limit : 3",
            "- limit: 3",
            "--limit: 3",
            "**limit**: 3",
            "`limit`: 3",
            "limit：3",
            "Note: Dry run: true",
            "please do it all: true",
            "limit:",
        ] {
            assert!(!is_words(text, &is_key), "{text}");
        }
    }
}
