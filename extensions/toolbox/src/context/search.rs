//! Finds parts of entries by their words, and by their vectors if there is an embedding model.

use std::collections::HashMap;

use rusqlite::{Connection, Row, params};
use tokio::time::Instant;
use toolwright::{ErrorClass, ToolError};

use super::database::unavailable;
use super::merge::merge_by_rank;
use super::path::LogicalPath;
use super::store::ContextStore;
use super::vector::UnitVector;
use crate::blocking::blocking;

/// How many of its best parts each of the two searches contributes to the merged list, unless more results are
/// requested.
const DEPTH: u32 = 100;

/// How many words of a part are shown if it was found by its vector.
const WORDS_SHOWN: usize = 40;

/// A part of an entry that a search has found.
#[toolwright::data]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextMatch {
    /// The logical path of the entry.
    pub path: String,
    /// The line with which the part begins, counted from 1.
    pub line: u32,
    /// The words around what was found.
    pub text: String,
    /// Where the text comes from, where a stranger wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<String>,
}

/// The result of [`ContextStore::find`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundParts {
    /// The parts, the best first.
    pub parts: Vec<ContextMatch>,
    /// The reason why some parts were not searched by their vectors, if the store has an embedding model.
    pub problem: Option<String>,
}

impl ContextStore {
    /// Searches the latest versions for parts with any of the words of a query. Parts with more of the words, and with rarer
    /// words, come first. Words in double quotes have to be adjacent. If `folder` is given, only entries below it are searched.
    ///
    /// # Errors
    /// `invalid_query` for a query without a word; `invalid_path`; `context_unavailable` when SQLite fails.
    pub fn search(
        &self,
        query: &str,
        folder: Option<&str>,
        limit: u32,
    ) -> Result<Vec<ContextMatch>, ToolError> {
        let words = words_of(query)?;
        let folder = LogicalPath::parse_folder(folder)?;
        let folder = folder.as_ref().map(LogicalPath::as_str);
        let found = find_words(&self.connection(), &words, folder, limit).map_err(unavailable)?;
        Ok(found.into_iter().map(|(_, found)| found).collect())
    }

    /// Searches as [`search`](Self::search) does, and if there is an embedding model, also for parts of similar meaning; both
    /// lists are merged by rank. A query that is a phrase in double quotes is searched for by its words alone. Parts that have
    /// no vectors yet get them first, as far as the time allows. Needs tokio's runtime.
    ///
    /// # Errors
    /// Those of [`search`](Self::search). If the embedding model fails, the search is by words, and
    /// [`problem`](FoundParts::problem) says so.
    pub async fn find(
        &self,
        query: &str,
        folder: Option<&str>,
        limit: u32,
    ) -> Result<FoundParts, ToolError> {
        let words = words_of(query)?;
        let folder = LogicalPath::parse_folder(folder)?;
        let until = Instant::now() + self.embedding_time;
        let (mut vector, mut problem) = (None, None);
        if let Some(embedding) = self.embedding.as_ref().filter(|_| !is_exact(query)) {
            match embedding.embed_query(query, until).await {
                Ok(embedded) => {
                    vector = Some((embedding.model().to_owned(), embedded));
                    problem = self.embed_until(until).await;
                }
                Err(why) => problem = Some(format!("the search was by words alone: {why}")),
            }
        }
        let store = self.clone();
        let read = move || {
            let folder = folder.as_ref().map(LogicalPath::as_str);
            let mut connection = store.connection();
            // One transaction, so that both searches read the same parts.
            let transaction = connection.transaction()?;
            match vector {
                Some((model, vector)) => {
                    find_both(&transaction, &words, (&model, &vector), folder, limit)
                }
                None => {
                    let found = find_words(&transaction, &words, folder, limit)?;
                    Ok(found.into_iter().map(|(_, found)| found).collect())
                }
            }
        };
        let parts = blocking(read).await?.map_err(unavailable)?;
        Ok(FoundParts { parts, problem })
    }
}

/// The SQL condition that an entry is below a folder, which is parameter 2.
const BELOW: &str = "(?2 IS NULL OR e.path = ?2 OR substr(e.path, 1, length(?2) + 1) = ?2 || '/')";

/// Returns the numbers of the parts that contain any of the words, with the text around the match, the best first.
fn find_words(
    connection: &Connection,
    words: &str,
    folder: Option<&str>,
    limit: u32,
) -> rusqlite::Result<Vec<(i64, ContextMatch)>> {
    // The index returns rows ordered by `rank`, so the limit ends the search early.
    let select = format!(
        "SELECT e.path, c.first_line, snippet(chunk_index, 0, '', '', '…', 40), v.untrusted, c.id
         FROM chunk_index JOIN chunks c ON c.id = chunk_index.rowid JOIN entries e ON e.id = c.entry
           JOIN versions v ON v.entry = e.id AND v.version = e.version
         WHERE chunk_index MATCH ?1 AND {BELOW}
         ORDER BY rank LIMIT ?3"
    );
    let mut statement = connection.prepare_cached(&select)?;
    let rows = statement
        .query_map(params![words, folder, limit], |row| Ok((row.get(4)?, match_of(row)?)))?;
    rows.collect()
}

/// Returns the parts that contain any of the words or have a similar meaning, merged by rank.
fn find_both(
    connection: &Connection,
    words: &str,
    (model, vector): (&str, &UnitVector),
    folder: Option<&str>,
    limit: u32,
) -> rusqlite::Result<Vec<ContextMatch>> {
    let depth = limit.max(DEPTH);
    let by_words = find_words(connection, words, folder, depth)?;
    let word_ids: Vec<i64> = by_words.iter().map(|(id, _)| *id).collect();
    let similar = find_similar(connection, model, vector, folder, depth)?;
    let mut by_words: HashMap<i64, ContextMatch> = by_words.into_iter().collect();
    let merged = merge_by_rank(&[&word_ids, &similar]);
    let mut select = connection.prepare_cached(
        "SELECT e.path, c.first_line, c.text, v.untrusted
         FROM chunks c JOIN entries e ON e.id = c.entry
           JOIN versions v ON v.entry = e.id AND v.version = e.version
         WHERE c.id = ?1",
    )?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let parts = merged.into_iter().take(most).map(|id| match by_words.remove(&id) {
        Some(found) => Ok(found),
        None => {
            let mut found = select.query_row([id], match_of)?;
            found.text = beginning(&found.text);
            Ok(found)
        }
    });
    parts.collect()
}

/// Returns the numbers of the parts with the most similar vectors, the best first. It compares each vector of the
/// model.
fn find_similar(
    connection: &Connection,
    model: &str,
    vector: &UnitVector,
    folder: Option<&str>,
    limit: u32,
) -> rusqlite::Result<Vec<i64>> {
    let select = match folder {
        None => "SELECT chunk, vector FROM vectors WHERE model = ?1 AND ?2 IS NULL",
        Some(_) => &format!(
            "SELECT s.chunk, s.vector FROM entries e JOIN chunks c ON c.entry = e.id
               JOIN vectors s ON s.chunk = c.id AND s.model = ?1 WHERE {BELOW}"
        ),
    };
    let mut statement = connection.prepare_cached(select)?;
    let mut rows = statement.query(params![model, folder])?;
    let mut found: Vec<(f32, i64)> = Vec::new();
    while let Some(row) = rows.next()? {
        let cosine = row.get_ref(1)?.as_blob().map_or(0.0, |blob| vector.cosine(blob));
        // A part with a cosine of 0 or less is not similar at all.
        if cosine > 0.0 {
            found.push((cosine, row.get(0)?));
        }
    }
    found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(found.into_iter().map(|(_, id)| id).collect())
}

fn match_of(row: &Row<'_>) -> rusqlite::Result<ContextMatch> {
    Ok(ContextMatch {
        path: row.get(0)?,
        line: row.get(1)?,
        text: row.get(2)?,
        untrusted: row.get(3)?,
    })
}

/// Returns the first words of a part, as many as the index shows around a match. Pure.
fn beginning(text: &str) -> String {
    let mut ends = text.match_indices(char::is_whitespace).filter(|(at, _)| {
        // Count the end of each word, because words may be separated by several spaces.
        text[..*at].chars().next_back().is_some_and(|it| !it.is_whitespace())
    });
    match ends.nth(WORDS_SHOWN - 1) {
        Some((end, _)) if !text[end..].trim().is_empty() => format!("{}…", &text[..end]),
        _ => text.to_owned(),
    }
}

/// Returns whether a query consists only of phrases in double quotes, which are searched for literally. Pure.
fn is_exact(query: &str) -> bool {
    let outside = query.split('"').step_by(2);
    query.contains('"') && outside.flat_map(str::chars).all(|it| !it.is_alphanumeric())
}

fn words_of(query: &str) -> Result<String, ToolError> {
    words(query).ok_or_else(|| {
        ToolError::new("invalid_query", "the query has no word to search for")
            .class(ErrorClass::Invalid)
            .hint("name words that occur in the text")
    })
}

/// Makes a query for FTS5 in which every word is quoted, so that no word is read as an operator. Pure.
fn words(query: &str) -> Option<String> {
    let mut parts = Vec::new();
    for (index, part) in query.split('"').enumerate() {
        let words = part.split(|it| !is_of_word(it));
        let words = words.filter(|word| word.contains(char::is_alphanumeric));
        // Parts with an odd index are between double quotes.
        if index % 2 == 1 {
            parts.push(words.collect::<Vec<_>>().join(" "));
        } else {
            parts.extend(words.map(str::to_owned));
        }
    }
    parts.retain(|part| !part.is_empty());
    let quoted: Vec<String> = parts.into_iter().map(|part| format!("\"{part}\"")).collect();
    (!quoted.is_empty()).then(|| quoted.join(" OR "))
}

/// Returns whether a character is part of a word. An accent may be a character of its own, after its letter.
fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_shown_by_its_first_words_and_only_a_phrase_is_exact() {
        let long = "one  word ".repeat(30);
        assert_eq!(beginning(&long).split_whitespace().count(), 40);
        assert!(beginning(&long).ends_with("word…"));
        assert_eq!(beginning("a few\n"), "a few\n");
        for (query, expected) in
            [("\"a b\"", true), ("\"a\" - \"b\"", true), ("\"a\" b", false), ("a b", false)]
        {
            assert_eq!(is_exact(query), expected, "{query}");
        }
    }

    #[test]
    fn no_word_of_a_query_is_an_operator() {
        let cases = [
            ("tea honey", Some(r#""tea" OR "honey""#)),
            (r#""quarterly revenue" 2026"#, Some(r#""quarterly revenue" OR "2026""#)),
            (
                "NOT a*b (c) AND text:d",
                Some(r#""NOT" OR "a" OR "b" OR "c" OR "AND" OR "text" OR "d""#),
            ),
            (r#"an "open quote"#, Some(r#""an" OR "open quote""#)),
            ("Straße №5", Some(r#""Straße" OR "5""#)),
            ("Zu\u{308}rich \u{308}", Some("\"Zu\u{308}rich\"")),
            (" \"\" -- ", None),
        ];
        for (query, expected) in cases {
            assert_eq!(words(query).as_deref(), expected, "{query}");
        }
    }
}
