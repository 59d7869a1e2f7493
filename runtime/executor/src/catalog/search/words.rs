//! The words of a text, and the stem by which the forms of one word are the same.

/// The maximum length in bytes of a word whose ending is removed. Longer words are rarely words of a natural language.
const LONGEST: usize = 40;

/// Returns the stems of the words of a text, in order. A word is a run of letters and digits, or a part of a
/// `camelCase` name.
pub(super) fn stems(text: &str) -> impl Iterator<Item = String> {
    words(text).into_iter().map(stem)
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before_is_small = false;
    for letter in text.chars() {
        let starts_one = letter.is_uppercase() && before_is_small;
        if (!letter.is_alphanumeric() || starts_one) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        before_is_small = letter.is_lowercase() || letter.is_numeric();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Removes the endings of plurals and verbs from an English word, so that `invoices` and `created` find `invoice` and
/// `create`. A stem need not be a word, because the words of queries and of tools are shortened in the same way.
fn stem(mut word: String) -> String {
    if !word.is_ascii() || word.len() > LONGEST {
        return word;
    }
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    let is_plural = word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us");
    if word.ends_with("sses") {
        word.truncate(word.len() - 2);
    } else if is_plural && word.len() > 3 {
        word.pop();
    }
    let of_verb = ["ing", "ed"].iter().find_map(|ending| word.strip_suffix(ending));
    if let Some(length) = of_verb.map(str::len).filter(|length| *length > 2) {
        word.truncate(length);
        if let [.., one, other] = word.as_bytes()
            && one == other
            && !b"lsz".contains(other)
        {
            word.pop();
        }
    }
    if word.ends_with('e') && word.len() > 4 {
        word.pop();
    }
    word
}

#[cfg(test)]
mod tests {
    use super::{stem, words};

    #[test]
    fn words_stand_between_other_characters_and_at_capitals() {
        let found = words("readFile trigger.current-update v2 ÄRGER");
        assert_eq!(found, ["read", "file", "trigger", "current", "update", "v2", "ärger"]);
    }

    #[test]
    fn the_forms_of_a_word_have_one_stem() {
        for forms in [
            &["invoice", "invoices", "invoiced"][..],
            &["create", "creates", "created", "creating"],
            &["query", "queries"],
            &["plan", "plans", "planned", "planning"],
            &["address", "addresses"],
            &["call", "calls", "called", "calling"],
        ] {
            let stems: Vec<String> = forms.iter().map(|it| stem((*it).to_owned())).collect();
            assert!(stems.iter().all(|it| *it == stems[0]), "{stems:?}");
        }
        for word in ["bus", "as", "red", "ring", "ärgers", "v2"] {
            assert_eq!(stem(word.to_owned()), word);
        }
    }
}
