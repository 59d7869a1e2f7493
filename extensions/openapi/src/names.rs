//! Makes names for tools and arguments that every model provider accepts. Each name is used only once. The functions
//! are pure.

use std::collections::{HashMap, HashSet};

/// The maximum length of a name that every model provider accepts.
const LONGEST: usize = 64;

/// Assigns names, each only once.
#[derive(Debug, Default)]
pub(crate) struct Names {
    given: HashSet<String>,
    /// For each name without a number, the next number to try.
    next: HashMap<String, usize>,
}

impl Names {
    /// Returns a valid name for this text, with a number if the name is already taken.
    pub(crate) fn of(&mut self, text: &str) -> String {
        let name = fitting(text);
        if self.given.insert(name.clone()) {
            return name;
        }
        let next = self.next.entry(name.clone()).or_insert(2);
        loop {
            let end = format!("_{next}");
            let numbered = format!("{}{end}", &name[..name.len().min(LONGEST - end.len())]);
            *next += 1;
            if self.given.insert(numbered.clone()) {
                return numbered;
            }
        }
    }

    /// Takes a name without changing it. Returns whether the name was free.
    pub(crate) fn take(&mut self, name: &str) -> bool {
        self.given.insert(name.to_owned())
    }
}

/// Makes a valid name: replaces each run of invalid characters with `_`, cuts the name to 64 characters, and makes it
/// begin with a letter or `_`.
pub(crate) fn fitting(text: &str) -> String {
    let mut name = String::new();
    for character in text.chars() {
        match character.is_ascii_alphanumeric() || matches!(character, '_' | '-') {
            true => name.push(character),
            false if !name.is_empty() && !name.ends_with('_') => name.push('_'),
            false => {}
        }
    }
    let name = name.trim_matches('_');
    let starts_well = name.starts_with(|it: char| it.is_ascii_alphabetic());
    let mut name = if starts_well { name.to_owned() } else { format!("_{name}") };
    name.truncate(LONGEST);
    name
}

/// Returns whether a text is a valid argument name without changes. Providers accept up to 64 ASCII letters, digits,
/// `_`, `.` and `-`.
pub(crate) fn is_fitting(text: &str) -> bool {
    let fits = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '.' | '-');
    !text.is_empty() && text.len() <= LONGEST && text.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_only_characters_that_providers_take() {
        for (text, name) in [
            ("listPets", "listPets"),
            ("repos/list-for-user", "repos_list-for-user"),
            ("GET /pets/{petId}/", "GET_pets_petId"),
            ("$id", "id"),
            ("filter[status]", "filter_status"),
            ("3d", "_3d"),
            ("日本", "_"),
            ("", "_"),
        ] {
            assert_eq!(fitting(text), name);
        }
        assert_eq!(fitting(&"x".repeat(100)).len(), LONGEST);
    }

    #[test]
    fn texts_of_one_name_are_numbered() {
        let mut names = Names::default();
        let long = "x".repeat(80);
        let given: Vec<String> =
            ["a b", "a/b", "a?b", "a_b_2", &long, &long].iter().map(|it| names.of(it)).collect();
        assert_eq!(given[..4], ["a_b", "a_b_2", "a_b_3", "a_b_2_2"]);
        assert_eq!(given[5], format!("{}_2", "x".repeat(62)));
    }

    /// Where each name looked for a free number from 2 on, this would take hours.
    #[test]
    fn a_document_of_equal_names_is_numbered_at_once() {
        let mut names = Names::default();
        let last = (0..200_000).map(|_| names.of("list")).last();
        assert_eq!(last.as_deref(), Some("list_200000"));
    }
}
