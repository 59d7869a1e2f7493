//! Finds deferred tools by words and the beginnings of words.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use foldhash::fast::FixedState;

use super::Catalog;
use crate::registry::Entry;
use toolwright_core::tool::{Definition, Exposure};

/// How many words of a query count; the rest is ignored.
const MOST_WORDS: usize = 16;

/// How many tools a search returns at most, however many were asked for.
const MOST_FOUND: usize = 100;

/// The words of a tool in lower case, each once for each place.
pub(crate) struct Words(BTreeSet<(String, Place)>);

/// Where a tool has a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Name,
    /// A tag, the group or the title.
    Label,
    /// The description, or the name of a parameter.
    Description,
}

impl Place {
    /// Scores a match: the name counts most, a whole word more than its beginning.
    fn fit(self, is_whole: bool) -> u32 {
        let (whole, beginning) = match self {
            Self::Name => (8, 6),
            Self::Label => (5, 4),
            Self::Description => (3, 1),
        };
        if is_whole { whole } else { beginning }
    }
}

impl Words {
    pub(crate) fn of(definition: &Definition) -> Self {
        let labels = definition.tags.iter().chain(&definition.group).chain(&definition.title);
        let parameters = definition.parameters.iter().map(|it| it.name.as_str());
        let described = parameters.chain(std::iter::once(definition.description.as_str()));
        let at = |place| move |word| (word, place);
        let name = words(&definition.name).map(at(Place::Name));
        let labels = labels.flat_map(|label| words(label)).map(at(Place::Label));
        let described = described.flat_map(words).map(at(Place::Description));
        Self(name.chain(labels).chain(described).collect())
    }
}

/// The deferred tools by their words, for a search that looks at no other tool.
pub(super) struct Index {
    /// Sorted by word, so that words with a common beginning are neighbours.
    words: Vec<(Box<str>, ToolsOfWord)>,
}

/// The numbers of the tools that have a word, and where each has it.
type ToolsOfWord = Vec<(usize, Place)>;

impl Index {
    /// Indexes the tools by their numbers.
    pub(super) fn of(entries: &[Arc<Entry>]) -> Self {
        let mut tools = HashMap::<&str, ToolsOfWord, FixedState>::default();
        let deferred = entries.iter().enumerate();
        let deferred = deferred.filter(|(_, it)| it.definition.exposure == Exposure::Deferred);
        for (tool, entry) in deferred {
            for (word, place) in &entry.words().0 {
                tools.entry(word).or_default().push((tool, *place));
            }
        }
        let mut words: Vec<(Box<str>, _)> =
            tools.into_iter().map(|(word, tools)| (Box::from(word), tools)).collect();
        words.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Self { words }
    }

    /// Scores the match of each tool with a word.
    fn fit(&self, word: &str, fits: &mut [u32]) {
        fits.fill(0);
        // In the order of the index, the words that begin with `word` follow it.
        let first = self.words.partition_point(|(known, _)| **known < *word);
        for (known, tools) in &self.words[first..] {
            if !known.starts_with(word) {
                return;
            }
            let is_whole = known.len() == word.len();
            for (tool, place) in tools {
                fits[*tool] = fits[*tool].max(place.fit(is_whole));
            }
        }
    }
}

impl Catalog {
    /// Finds the deferred tools that fit these words best, the best first, at most `limit` (and never more
    /// than 100). A word fits a word of the name, group, tags, title, parameters or description, or
    /// its beginning. Tools that fit more of the words come first; the rest of the order is the fit,
    /// then the name, so that an equal query has an equal answer.
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
        let tools = &self.0.tools;
        // For each tool, how many words fit, and the sum of their scores.
        let mut found = vec![(0_u32, 0_u32); tools.entries().len()];
        let mut fits = vec![0; tools.entries().len()];
        for word in &wanted {
            tools.index_of_words().fit(word, &mut fits);
            for ((words, all), fit) in found.iter_mut().zip(&fits) {
                *words += u32::from(*fit > 0);
                *all += fit;
            }
        }
        let found = found.into_iter().zip(tools.entries()).filter(|((words, _), _)| *words > 0);
        let mut found: Vec<_> = found.map(|(fit, entry)| (fit, &*entry.definition)).collect();
        let by_fit = |(one, a): &Found<'_>, (other, b): &Found<'_>| {
            other.cmp(one).then_with(|| a.name.cmp(&b.name))
        };
        let limit = limit.min(MOST_FOUND);
        if limit < found.len() {
            found.select_nth_unstable_by(limit, by_fit);
            found.truncate(limit);
        }
        found.sort_unstable_by(by_fit);
        found.into_iter().map(|(_, definition)| definition).collect()
    }
}

/// How many words fit a tool, and the sum of their scores.
type Found<'a> = ((u32, u32), &'a Definition);

/// Splits a text into words in lower case: at other characters, and between the parts of a `camelCase` name.
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
    use serde_json::json;

    use super::*;
    use crate::dynamic::DynamicTool;
    use crate::registry::Registry;

    /// The words of names and descriptions: some begin others, and some stand in both.
    const WORDS: [&str; 9] =
        ["in", "invoice", "invoices", "inventory", "create", "creates", "created", "a", "order"];

    /// Every tool by how it fits, as the order of a search is described.
    fn looked_through(catalog: &Catalog, query: &str) -> Vec<String> {
        let fit = |word: &str, text: &str, whole: u32, beginning: u32| {
            let found = words(text).map(|it| {
                if it == word {
                    whole
                } else if it.starts_with(word) {
                    beginning
                } else {
                    0
                }
            });
            found.max().unwrap_or_default()
        };
        let deferred = catalog.definitions().filter(|it| it.exposure == Exposure::Deferred);
        let mut found: Vec<(u32, u32, String)> = deferred
            .map(|it| {
                let fits = words(query)
                    .map(|word| fit(&word, &it.name, 8, 6).max(fit(&word, &it.description, 3, 1)));
                let fits: Vec<u32> = fits.filter(|fit| *fit > 0).collect();
                (u32::try_from(fits.len()).unwrap(), fits.iter().sum(), it.name.clone())
            })
            .filter(|(words, ..)| *words > 0)
            .collect();
        found.sort_by(|one, other| {
            (other.0, other.1).cmp(&(one.0, one.1)).then(one.2.cmp(&other.2))
        });
        found.into_iter().map(|(.., name)| name).collect()
    }

    #[test]
    fn a_search_by_the_index_finds_what_looking_through_every_tool_finds() {
        let word = |number: usize| WORDS[number % WORDS.len()];
        let tools = (0..200).map(|number| {
            let name = format!("{}_{}_{number}", word(number), word(number / 9));
            let description = format!("{} {}", word(number / 3), word(number * 7));
            let answer =
                |_, _| std::future::ready(Ok::<_, toolwright_core::error::ToolError>("done"));
            let tool = DynamicTool::new(name, description, json!({"type": "object"}), answer);
            tool.exposure(if number % 5 == 0 { Exposure::Direct } else { Exposure::Deferred })
        });
        let catalog = Registry::of(tools).unwrap().catalog();
        for query in ["invoice", "inv", "create order", "a", "in a creat 7", "nothing", ""] {
            let expected = looked_through(&catalog, query);
            for limit in [0, 1, 5, 99] {
                let found: Vec<&str> =
                    catalog.search(query, limit).iter().map(|it| it.name.as_str()).collect();
                assert_eq!(found, expected[..limit.min(expected.len())], "{query}, {limit}");
            }
        }
    }

    #[test]
    fn words_stand_between_other_characters_and_at_capitals() {
        let found: Vec<String> = words("readFile trigger.current-update v2 ÄRGER").collect();
        assert_eq!(found, ["read", "file", "trigger", "current", "update", "v2", "ärger"]);
    }
}
