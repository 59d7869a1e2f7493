//! Decides whether two names mean the same person. The application's session, a trusted key and a policy may each spell
//! a name differently.

use crate::printable::acts;

/// Returns whether two names mean the same person. Differences in case, blanks, invisible characters, the width of
/// letters and the encoding of accents are ignored.
#[doc(hidden)]
#[must_use]
pub fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (letters(one), letters(other));
    one.len() == other.len() && one.iter().zip(&other).all(|(one, other)| one.is_same(other))
}

/// Returns whether two names certainly mean different persons. If a name is missing or blank, this is not certain.
#[doc(hidden)]
#[must_use]
pub fn is_another(one: Option<&str>, other: &str) -> bool {
    let is_blank = |name: &str| letters(name).is_empty();
    one.is_some_and(|one| !is_blank(one) && !is_blank(other) && !is_same(one, other))
}

/// A letter of a name, prepared for comparison.
struct Letter {
    letter: char,
    /// Whether separate accent characters follow the letter.
    has_accents: bool,
}

impl Letter {
    /// Compares two letters. One of them may be an accented letter, and the other a plain letter with separate accents.
    /// There is no table of accented letters, so any two such letters count as equal if one of them is not ASCII.
    fn is_same(&self, other: &Self) -> bool {
        match self.has_accents == other.has_accents {
            true => self.letter == other.letter,
            false => !self.letter.is_ascii() || !other.letter.is_ascii(),
        }
    }
}

/// Splits a name into letters for comparison. Three conversions of case make ẞ, ß, SS and ss equal.
fn letters(name: &str) -> Vec<Letter> {
    let seen = name.chars().filter(|it| !it.is_whitespace() && !acts(*it)).map(narrow);
    let lower = seen.flat_map(char::to_lowercase);
    let folded = lower.flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    let mut letters: Vec<Letter> = Vec::with_capacity(name.len());
    for letter in folded {
        match letters.last_mut() {
            Some(last) if matches!(letter, '\u{300}'..='\u{36f}') => last.has_accents = true,
            _ => letters.push(Letter { letter, has_accents: false }),
        }
    }
    letters
}

/// Converts a full-width letter to its usual form.
fn narrow(letter: char) -> char {
    match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(letter) - 0xfee0).unwrap_or(letter),
        _ => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_compared_as_it_is_seen() {
        for (one, other) in [
            ("ada", " ADA\n"),
            ("Ada Lovelace", "ada\u{a0}love\u{200b}lace"),
            ("ada", "ａｄａ"),
            ("Groß", "GROSS"),
            ("José", "Jose\u{301}"),
            ("Thế", "The\u{302}\u{301}"),
        ] {
            assert!(is_same(one, other) && !is_another(Some(one), other), "{one:?} {other:?}");
        }
        for (one, other) in
            [("ada", "adam"), ("José", "Jose"), ("Jose\u{301}", "Jose"), ("李", "王")]
        {
            assert!(!is_same(one, other) && is_another(Some(one), other), "{one:?} {other:?}");
        }
        for blank in [None, Some(""), Some(" \u{200b}")] {
            assert!(!is_another(blank, "ada"), "{blank:?}");
        }
    }
}
