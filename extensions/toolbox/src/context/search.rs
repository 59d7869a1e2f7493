//! Finds parts of entries by their words.

use rusqlite::params;
use toolwright::{ErrorClass, ToolError};

use super::database::unavailable;
use super::path::LogicalPath;
use super::store::ContextStore;

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
        let words = words(query).ok_or_else(|| {
            ToolError::new("invalid_query", "the query has no word to search for")
                .class(ErrorClass::Invalid)
                .hint("name words that occur in the text")
        })?;
        let folder = LogicalPath::parse_folder(folder)?;
        // The index returns rows in the order of `rank`, so the limit ends the search early.
        let select = "SELECT e.path, c.first_line, snippet(chunk_index, 0, '', '', '…', 40), v.untrusted
            FROM chunk_index JOIN chunks c ON c.id = chunk_index.rowid JOIN entries e ON e.id = c.entry
              JOIN versions v ON v.entry = e.id AND v.version = e.version
            WHERE chunk_index MATCH ?1
              AND (?2 IS NULL OR e.path = ?2 OR substr(e.path, 1, length(?2) + 1) = ?2 || '/')
            ORDER BY rank LIMIT ?3";
        let found = || {
            let connection = self.connection();
            let mut statement = connection.prepare_cached(select)?;
            let folder = folder.as_ref().map(LogicalPath::as_str);
            let rows = statement.query_map(params![words, folder, limit], |row| {
                Ok(ContextMatch {
                    path: row.get(0)?,
                    line: row.get(1)?,
                    text: row.get(2)?,
                    untrusted: row.get(3)?,
                })
            })?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        found().map_err(unavailable)
    }
}

/// A query for FTS5 in which every word is quoted, so that none is taken for an operator; pure.
fn words(query: &str) -> Option<String> {
    let mut parts = Vec::new();
    for (index, part) in query.split('"').enumerate() {
        let words = part.split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty());
        // Parts with an odd index are between quotation marks.
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

#[cfg(test)]
mod tests {
    use super::*;

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
            (" \"\" -- ", None),
        ];
        for (query, expected) in cases {
            assert_eq!(words(query).as_deref(), expected, "{query}");
        }
    }
}
