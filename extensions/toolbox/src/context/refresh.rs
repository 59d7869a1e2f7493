//! Fetches entries again from their sources, one after another. Other calls can use the store meanwhile.

use rusqlite::params;
use toolwright::{Answer, ErrorClass, ToolError};

use super::database::unavailable;
use super::path::LogicalPath;
use super::store::{Before, ContextStore, NewText};
use crate::blocking::blocking;

/// What became of one entry.
#[toolwright::data]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefreshedEntry {
    /// The logical path of the entry.
    pub path: String,
    /// Whether it was changed.
    pub result: RefreshResult,
    /// Why it could not be fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Why parts of it have no vectors yet, if an embedding model is to make them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_embedded: Option<String>,
}

/// What a refresh did with an entry.
#[toolwright::data]
#[serde(rename_all = "snake_case")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefreshResult {
    /// The source has another text now, which is a new version.
    Updated,
    /// The source has the text that is stored.
    Unchanged,
    /// It could not be fetched or written, and is as it was.
    Failed,
}

struct SourcedEntry {
    path: LogicalPath,
    source: String,
    hash: String,
}

impl ContextStore {
    /// Fetches the entries below `folder` that have a source, or all of them. If one fails, the others are still fetched.
    ///
    /// # Errors
    /// `invalid_path`; `context_unavailable` when SQLite cannot list the entries, or their parts without vectors.
    pub async fn refresh(&self, folder: Option<&str>) -> Result<Vec<RefreshedEntry>, ToolError> {
        self.refresh_marked(folder).await.map(|(refreshed, _)| refreshed)
    }

    /// Refreshes as [`refresh`](Self::refresh) does, and also returns the sources of untrusted text in the messages.
    pub(super) async fn refresh_marked(
        &self,
        folder: Option<&str>,
    ) -> Result<(Vec<RefreshedEntry>, Vec<String>), ToolError> {
        let (mut refreshed, mut sources) = (Vec::new(), Vec::new());
        let (store, folder) = (self.clone(), folder.map(str::to_owned));
        for entry in blocking(move || store.list_sourced(folder.as_deref())).await?? {
            let path = entry.path.to_string();
            refreshed.push(match self.refresh_one(entry).await {
                Ok(result) => RefreshedEntry { path, result, message: None, not_embedded: None },
                Err(error) => {
                    let message = Some(error.message().to_owned());
                    sources.extend(Answer::from(error).untrusted_sources());
                    RefreshedEntry {
                        path,
                        result: RefreshResult::Failed,
                        message,
                        not_embedded: None,
                    }
                }
            });
        }
        // This also embeds parts that an earlier call could not embed.
        if let Some(problem) = self.embed_in_time().await {
            let paths = self.paths_without_vectors().await?;
            for entry in refreshed.iter_mut().filter(|it| paths.contains(&it.path)) {
                entry.not_embedded = Some(problem.clone());
            }
        }
        Ok((refreshed, sources))
    }

    async fn refresh_one(&self, entry: SourcedEntry) -> Result<RefreshResult, ToolError> {
        let (content, untrusted) = self.fetch(&entry.source).await?;
        let store = self.clone();
        let written = blocking(move || {
            let note = format!("refreshed from {}", entry.source);
            let (note, untrusted) = (Some(&*note), untrusted.as_deref());
            let text = NewText { content: &content, note, source: None, untrusted };
            // Do not overwrite a text that was written while the source was asked.
            let stored = store.put(&entry.path, Before::Hash(&entry.hash), &text)?;
            Ok(match stored.hash == entry.hash {
                true => RefreshResult::Unchanged,
                false => RefreshResult::Updated,
            })
        });
        written.await?
    }

    /// Fetches the text of a source such as `file:README.md`, and returns where it comes from if it is untrusted.
    pub(super) async fn fetch(&self, source: &str) -> Result<(String, Option<String>), ToolError> {
        let invalid = |problem: String| {
            let known: Vec<&str> = self.sources.iter().map(|it| it.scheme()).collect();
            let hint = match known.as_slice() {
                [] => "this store has no sources; write the text itself".to_owned(),
                known => format!("sources begin with one of `{}:`", known.join(":`, `")),
            };
            ToolError::new("invalid_source", problem).class(ErrorClass::Invalid).hint(hint)
        };
        let (scheme, name) = source
            .split_once(':')
            .ok_or_else(|| invalid(format!("`{source}` is not a source: it has no `:`")))?;
        let kind = self.sources.iter().find(|it| it.scheme() == scheme);
        let kind = kind.ok_or_else(|| invalid(format!("there is no source `{scheme}:`")))?;
        Ok((kind.fetch(name.to_owned()).await?, kind.untrusted(name)))
    }

    fn list_sourced(&self, folder: Option<&str>) -> Result<Vec<SourcedEntry>, ToolError> {
        let folder = LogicalPath::parse_folder(folder)?;
        let folder = folder.as_ref().map(LogicalPath::as_str);
        let select = "SELECT e.path, e.source, v.hash FROM entries e
            JOIN versions v ON v.entry = e.id AND v.version = e.version
            WHERE e.source IS NOT NULL
              AND (?1 IS NULL OR e.path = ?1 OR substr(e.path, 1, length(?1) + 1) = ?1 || '/')
            ORDER BY e.path";
        let read = || {
            let connection = self.connection();
            let mut statement = connection.prepare_cached(select)?;
            let rows = statement
                .query_map(params![folder], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            rows.collect::<rusqlite::Result<Vec<(String, String, String)>>>()
        };
        let rows = read().map_err(unavailable)?.into_iter();
        rows.map(|(path, source, hash)| {
            Ok(SourcedEntry { path: LogicalPath::parse(&path)?, source, hash })
        })
        .collect()
    }
}
