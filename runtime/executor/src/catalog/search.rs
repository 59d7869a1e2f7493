//! Finds deferred tools by words and the beginnings of words.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Bound;

use super::Catalog;
use toolwright_core::tool::{Definition, Exposure};

/// So many words of a query count; the rest is passed over.
const MOST_WORDS: usize = 16;

/// No search gives more than this, however many were asked for.
const MOST_FOUND: usize = 100;

/// What a search looks at, in lower case.
pub(crate) struct Words {
    name: BTreeSet<String>,
    labels: BTreeSet<String>,
    description: BTreeSet<String>,
}

impl Words {
    pub(crate) fn of(definition: &Definition) -> Self {
        let labels = definition.tags.iter().chain(&definition.group).chain(&definition.title);
        let parameters = definition.parameters.iter().map(|it| it.name.as_str());
        let described = parameters.chain(std::iter::once(definition.description.as_str()));
        Self {
            name: words(&definition.name).collect(),
            labels: labels.flat_map(|label| words(label)).collect(),
            description: described.flat_map(words).collect(),
        }
    }

    /// How well a word fits: the name counts most, a whole word more than its beginning.
    fn fit(&self, word: &str) -> u32 {
        let places = [(&self.name, 8, 6), (&self.labels, 5, 4), (&self.description, 3, 1)];
        let fits = places.map(|(words, whole, beginning)| {
            // What begins with a word comes right after it in order.
            match words.range::<str, _>((Bound::Included(word), Bound::Unbounded)).next() {
                Some(found) if found == word => whole,
                Some(found) if found.starts_with(word) => beginning,
                _ => 0,
            }
        });
        fits.into_iter().max().unwrap_or_default()
    }
}

impl Catalog {
    /// Finds the deferred tools that fit these words best, the best first, at most `limit` (and never more
    /// than 100). A word fits a word of the name, group, tags, title, parameters or description, or
    /// its beginning. Tools that fit more of the words come first; the rest of the order is the fit,
    /// then the name, so that an equal question has an equal answer.
    ///
    /// ```
    /// use toolwright::{Registry, tool};
    ///
    /// /// Create an issue in the tracker.
    /// #[tool(deferred)]
    /// async fn create_issue() {}
    ///
    /// /// Close an issue.
    /// #[tool(deferred)]
    /// async fn close_issue() {}
    ///
    /// let catalog = Registry::of([CREATE_ISSUE, CLOSE_ISSUE])?.catalog();
    /// let found = catalog.search("create something in the track", 5);
    /// assert_eq!(found.first().expect("found").name, "create_issue");
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    #[must_use]
    pub fn search(&self, query: &str, limit: usize) -> Vec<&Definition> {
        let mut wanted: Vec<String> = Vec::new();
        for word in words(query).take(MOST_WORDS) {
            if !wanted.contains(&word) {
                wanted.push(word);
            }
        }
        let mut found: Vec<(usize, u32, &Definition)> = Vec::new();
        for entry in self.0.tools.entries() {
            if entry.definition.exposure != Exposure::Deferred {
                continue;
            }
            let fits = wanted.iter().map(|word| entry.words().fit(word));
            let (words, fit) = fits
                .filter(|fit| *fit > 0)
                .fold((0, 0), |(words, all), fit| (words + 1, all + fit));
            if words > 0 {
                found.push((words, fit, &entry.definition));
            }
        }
        found.sort_by_key(|(words, fit, it)| (Reverse(*words), Reverse(*fit), it.name.as_str()));
        found.into_iter().take(limit.min(MOST_FOUND)).map(|(.., definition)| definition).collect()
    }
}

/// The words of a text in lower case: what is between other characters, and the parts of a
/// `camelCase` name.
fn words(text: &str) -> impl Iterator<Item = String> {
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
    words.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_between_other_characters_and_at_capitals() {
        let found: Vec<String> = words("readFile trigger.current-update v2 ÄRGER").collect();
        assert_eq!(found, ["read", "file", "trigger", "current", "update", "v2", "ärger"]);
    }
}
