//! Finds deferred tools by words and the beginnings of words, ranked by BM25: a word scores more if few tools have
//! it, if the tool has it often, and if the tool has it in a prominent place such as its name.

mod words;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use foldhash::fast::FixedState;
use serde_json::Value;

use self::words::stems;
use super::Catalog;
use super::entry::Entry;
use toolwright_core::tool::{Definition, Exposure};

/// The maximum number of words of a query; the search ignores further words.
const MOST_WORDS: usize = 64;

/// The maximum number of tools that a search returns, even if the caller asks for more.
const MOST_FOUND: usize = 100;

/// The weights of a word by its place: the tool's name, a label (tag, group or title), the description, the name of a
/// parameter, or the description of a parameter.
const NAME: u32 = 8;
const LABEL: u32 = 6;
const DESCRIPTION: u32 = 4;
const PARAMETER: u32 = 4;
const OF_PARAMETER: u32 = 1;

/// How fast the weight of a repeated word saturates, in the unit of the weights of places: the `k1` of BM25.
const SATURATION: f64 = 8.0;

/// How much the length of a tool's text lowers the score of a word in it: the parameter `b` of BM25.
const BY_LENGTH: f64 = 0.3;

/// The factor by which scores become whole numbers. Sums of whole numbers do not depend on the order of the summands,
/// so equal queries give equal results.
const UNIT: f64 = 1_000.0;

/// How many letters a searched word must have to match the beginning of a word, and the weight of that match, in tenths
/// of a whole match.
const BEGINNING: (usize, u32) = (3, 3);

/// The nesting depth up to which the search includes the parameters inside of parameters.
const DEPTH: usize = 4;

/// The words of a tool, each with its weight in the search.
pub(crate) struct Words {
    weights: BTreeMap<String, u32>,
    /// The sum of all weights, as a measure of the tool's length.
    length: u32,
}

impl Words {
    pub(crate) fn of(definition: &Definition) -> Self {
        let mut words = Self { weights: BTreeMap::new(), length: 0 };
        words.add(&definition.name, NAME);
        let labels = definition.tags.iter().chain(&definition.group).chain(&definition.title);
        labels.for_each(|label| words.add(label, LABEL));
        words.add(&definition.description, DESCRIPTION);
        words.add_parameters(&definition.input_schema, DEPTH);
        words
    }

    fn add(&mut self, text: &str, weight: u32) {
        for word in stems(text) {
            *self.weights.entry(word).or_default() += weight;
            self.length = self.length.saturating_add(weight);
        }
    }

    fn add_parameters(&mut self, schema: &Value, depth: usize) {
        if depth == 0 {
            return;
        }
        for (name, parameter) in schema["properties"].as_object().into_iter().flatten() {
            self.add(name, PARAMETER);
            self.add(parameter["description"].as_str().unwrap_or_default(), OF_PARAMETER);
            self.add_parameters(parameter, depth - 1);
        }
        if let Some(items) = schema.get("items") {
            self.add_parameters(items, depth - 1);
        }
    }
}

/// An index of the deferred tools by their words; the search does not cover other tools.
pub(super) struct Index {
    /// The words in alphabetical order, so that words with a common beginning are adjacent.
    words: Vec<(Box<str>, ToolsOfWord)>,
}

/// The numbers of the tools that have a word, each with the score of the word.
type ToolsOfWord = Vec<(usize, u32)>;

impl Index {
    /// Builds the index. The number of a tool is its position in `entries`.
    pub(super) fn of(entries: &[Arc<Entry>]) -> Self {
        let mut tools = HashMap::<&str, ToolsOfWord, FixedState>::default();
        let deferred = entries.iter().enumerate();
        let deferred = deferred.filter(|(_, it)| it.definition.exposure == Exposure::Deferred);
        let (mut all, mut length) = (0_u32, 0.0);
        for (tool, entry) in deferred {
            let words = entry.words();
            all += 1;
            length += f64::from(words.length);
            for (word, weight) in &words.weights {
                tools.entry(word).or_default().push((tool, *weight));
            }
        }
        let average = length / f64::from(all.max(1));
        let of_word = |(word, mut tools): (&str, ToolsOfWord)| {
            let rarity = rarity(all, tools.len());
            for (tool, weight) in &mut tools {
                let length = f64::from(entries[*tool].words().length) / average.max(1.0);
                *weight = score(rarity, *weight, length);
            }
            (Box::from(word), tools)
        };
        let mut words: Vec<(Box<str>, _)> = tools.into_iter().map(of_word).collect();
        words.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Self { words }
    }

    /// Writes into `fits` how well each tool matches a word.
    fn fit(&self, word: &str, fits: &mut [u32]) {
        fits.fill(0);
        let (letters, tenths) = BEGINNING;
        let is_beginning = word.chars().count() >= letters;
        // In alphabetical order, the words that begin with `word` come directly from `word` on.
        let first = self.words.partition_point(|(known, _)| **known < *word);
        for (known, tools) in &self.words[first..] {
            let is_whole = known.len() == word.len();
            if !known.starts_with(word) || !(is_whole || is_beginning) {
                return;
            }
            for (tool, score) in tools {
                let score = if is_whole { *score } else { *score * tenths / 10 };
                fits[*tool] = fits[*tool].max(score);
            }
        }
    }
}

/// Returns the weight of a word by its rarity: `having` of `all` tools have it.
fn rarity(all: u32, having: usize) -> f64 {
    let having = f64::from(u32::try_from(having).unwrap_or(u32::MAX));
    (1.0 + (f64::from(all) - having + 0.5) / (having + 0.5)).ln()
}

/// Returns the score of a word for a tool. The length of the tool is given in lengths of an average tool.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is between nothing and the rarity of a word, which is small"
)]
fn score(rarity: f64, weight: u32, length: f64) -> u32 {
    let weight = f64::from(weight);
    let slowed = SATURATION * (1.0 - BY_LENGTH + BY_LENGTH * length);
    // However common the word is, a tool that contains it scores at least 1.
    (UNIT * rarity * weight / (weight + slowed)).max(1.0) as u32
}

impl Catalog {
    /// Finds the deferred tools that fit these words best, the best first. Returns at most `limit` tools, and never
    /// more than 100.
    ///
    /// Each word of the query is looked for in the name, group, tags, title and description of a tool, and in the names
    /// and descriptions of its parameters. It matches the same word, another form of it (`invoices` matches `invoice`),
    /// and a longer word that begins with it. A beginning needs at least three letters, and scores less.
    ///
    /// Tools are ranked by BM25: rare words count more than common ones, and words of names more than words of
    /// descriptions. Tools with equal scores are sorted by name, so equal queries give equal results.
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
        for word in stems(query) {
            if wanted.len() == MOST_WORDS {
                break;
            }
            if !wanted.contains(&word) {
                wanted.push(word);
            }
        }
        let tools = &self.0.tools;
        let mut found = vec![0_u32; tools.entries().len()];
        let mut fits = vec![0; tools.entries().len()];
        for word in &wanted {
            tools.index_of_words().fit(word, &mut fits);
            for (all, fit) in found.iter_mut().zip(&fits) {
                *all += fit;
            }
        }
        let found = found.into_iter().zip(tools.entries()).filter(|(fit, _)| *fit > 0);
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

/// A tool that the search found, with its score.
type Found<'a> = (u32, &'a Definition);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dynamic::DynamicTool;
    use crate::registry::Registry;

    /// The words of names and descriptions: some begin others, some are forms of others, and some stand in both.
    const WORDS: [&str; 9] =
        ["in", "invoice", "invoices", "inventory", "create", "creates", "created", "a", "order"];

    fn deferred(name: String, description: String) -> DynamicTool {
        let answer = |_, _| std::future::ready(Ok::<_, toolwright_core::error::ToolError>("done"));
        let schema = json!({"type": "object"});
        DynamicTool::new(name, description, schema, answer).exposure(Exposure::Deferred)
    }

    /// Every tool by how it fits, as the order of a search is described.
    fn looked_through(catalog: &Catalog, query: &str) -> Vec<String> {
        let tools = || catalog.definitions().filter(|it| it.exposure == Exposure::Deferred);
        let all: Vec<Words> = tools().map(Words::of).collect();
        let count = u32::try_from(all.len()).unwrap();
        let average = all.iter().map(|it| f64::from(it.length)).sum::<f64>() / f64::from(count);
        let counts = |words: &Words, known: &str| {
            let having = all.iter().filter(|it| it.weights.contains_key(known)).count();
            let rarity = rarity(count, having);
            score(rarity, words.weights[known], f64::from(words.length) / average)
        };
        let mut wanted: Vec<String> = stems(query).collect();
        wanted.sort();
        wanted.dedup();
        let fit = |words: &Words, word: &String| {
            let known = words.weights.keys().filter(|it| it.starts_with(word));
            let fit = known.map(|it| match it == word {
                true => counts(words, it),
                false if word.len() > 2 => counts(words, it) * 3 / 10,
                false => 0,
            });
            fit.max().unwrap_or_default()
        };
        let found = tools().zip(&all);
        let found = found.map(|(it, words)| {
            (wanted.iter().map(|word| fit(words, word)).sum::<u32>(), it.name.clone())
        });
        let mut found: Vec<(u32, String)> = found.filter(|(fit, _)| *fit > 0).collect();
        found.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
        found.into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn a_search_by_the_index_finds_what_looking_through_every_tool_finds() {
        let word = |number: usize| WORDS[number % WORDS.len()];
        let tools = (0..200).map(|number| {
            let name = format!("{}_{}_{number}", word(number), word(number / 9));
            let tool = deferred(name, format!("{} {}", word(number / 3), word(number * 7)));
            if number % 5 == 0 { tool.exposure(Exposure::Direct) } else { tool }
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
    fn a_rare_word_counts_more_than_common_ones_and_a_name_more_than_a_description() {
        let tool = |name: &str, description: &str| deferred(name.into(), description.into());
        let mut tools: Vec<DynamicTool> =
            (0..20).map(|it| tool(&format!("get_data_{it}"), "Gets the data of a user.")).collect();
        tools.push(tool("weather", "Looks at the sky."));
        tools.push(tool("sky", "Says how the weather is."));
        let catalog = Registry::of(tools).unwrap().catalog();
        let first = |query: &str| catalog.search(query, 1)[0].name.clone();
        assert_eq!(first("get me the data of the weather for a user"), "weather");
        assert_eq!(first("skies"), "sky");
    }
}
