//! The store's API for applications: texts under logical paths, each with its versions, in one SQLite file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use toolwright::{ErrorClass, ToolError};

use super::chunk::chunks;
use super::database::{self, ContextStoreError, unavailable};
use super::embedder::Embedder;
use super::embedding::{self, Embedding};
use super::path::LogicalPath;
use super::source::ContextSource;
use crate::workspace::content_hash;

/// The largest text that can be stored, in bytes.
const LARGEST: usize = 64 << 20;

/// A store of texts under logical paths, with all their versions and a full-text search. It is the service of the tools
/// [`CONTEXT`](crate::CONTEXT). Texts that are too large for a conversation are stored here, and then searched, queried
/// and read in parts.
///
/// Everything is in one SQLite file, which only its owner can read and which several processes may use at once. A
/// replaced text remains as an earlier version; no version is removed. A clone uses the same file.
///
/// ```
/// use toolwright_toolbox::{ContextStore, OnConflict};
///
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("context.db");
/// let store = ContextStore::open(file)?;
/// store.write("notes/tea.md", "Buy Assam.\n", OnConflict::Error, None)?;
/// assert_eq!(store.write("notes/tea.md", "Buy honey.\n", OnConflict::Error, None).unwrap_err().kind(), "path_conflict");
/// let second = store.write("notes/tea.md", "Buy honey.\n", OnConflict::Overwrite, Some("enough tea"))?;
/// assert_eq!(second.version, 2);
/// assert_eq!(store.read("notes/tea.md", Some(1))?.content, "Buy Assam.\n");
/// assert_eq!(store.search("honey", None, 10)?[0].path, "notes/tea.md");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ContextStore {
    file: PathBuf,
    connection: Arc<Mutex<Connection>>,
    pub(super) sources: Vec<Arc<dyn ContextSource>>,
    reader: Arc<str>,
    pub(super) embedding: Option<Arc<Embedding>>,
    pub(super) embedding_time: Duration,
}

/// What to do if there is an entry already.
#[toolwright::data]
#[serde(rename_all = "snake_case")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnConflict {
    /// Refuse.
    #[default]
    Error,
    /// Make a new version of it.
    Overwrite,
}

/// What was written.
#[toolwright::data]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredEntry {
    /// The logical path.
    pub path: String,
    /// The number of the version, counted from 1.
    pub version: u32,
    /// The size of the text in bytes.
    pub bytes_written: usize,
    /// The hash of the text.
    pub hash: String,
    /// Why parts of the store have no vectors yet, if an embedding model is to make them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_embedded: Option<String>,
}

/// One version of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextEntry {
    /// The number of this version, counted from 1.
    pub version: u32,
    /// The number of the entry's last version.
    pub last_version: u32,
    /// The text of this version.
    pub content: String,
    /// The hash of the text.
    pub hash: String,
    /// The note that explains why the version was written, if there is one.
    pub note: Option<String>,
    /// The source from which a refresh fetches the entry again.
    pub source: Option<String>,
    /// The source of the text, if the text is untrusted.
    pub untrusted: Option<String>,
}

/// A text to be stored.
pub(super) struct NewText<'a> {
    pub(super) content: &'a str,
    pub(super) note: Option<&'a str>,
    /// The source for refreshes; `None` does not change the source of the entry.
    pub(super) source: Option<&'a str>,
    /// The source of the text, if the text is untrusted.
    pub(super) untrusted: Option<&'a str>,
}

/// The condition under which an entry may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before<'a> {
    Any,
    Missing,
    /// The entry exists, and its text has this hash.
    Hash(&'a str),
}

/// The row of an entry in the database.
pub(super) struct EntryRow {
    id: i64,
    version: u32,
    hash: String,
}

impl ContextStore {
    /// Opens a store, or creates its file.
    ///
    /// # Errors
    /// When the file cannot be created or opened, is not a context store, or a later version of this crate has written it.
    pub fn open(file: impl AsRef<Path>) -> Result<Self, ContextStoreError> {
        let file = file.as_ref();
        let unmade = |source| ContextStoreError::Unmade { file: file.to_owned(), source };
        let file = std::path::absolute(file).map_err(unmade)?;
        let connection = Arc::new(Mutex::new(database::open(&file)?));
        Ok(Self {
            file,
            connection,
            sources: Vec::new(),
            reader: "context_read".into(),
            embedding: None,
            embedding_time: embedding::TIME,
        })
    }

    /// Adds a kind of source, from which `context_refresh` can fetch entries again.
    #[must_use]
    pub fn with_source(mut self, source: impl ContextSource) -> Self {
        self.sources.push(Arc::new(source));
        self
    }

    /// Adds an embedding model, so that [`find`](Self::find) also finds texts of similar meaning. Texts that are in the store
    /// already get their vectors by [`embed`](Self::embed), or bit by bit as the tools write and search.
    #[must_use]
    pub fn with_embedder(mut self, embedder: impl Embedder) -> Self {
        self.embedding = Some(Arc::new(Embedding::new(embedder)));
        self
    }

    /// Sets how long a write, a refresh or a search of the tools waits for the embedding model: 10 seconds unless set.
    #[must_use]
    pub fn with_embedding_time(mut self, most: Duration) -> Self {
        self.embedding_time = most;
        self
    }

    /// Sets the name under which the application has registered the tool that reads entries, because the hints of
    /// errors name this tool: `context_read` unless set.
    #[must_use]
    pub fn with_reader(mut self, name: impl Into<Arc<str>>) -> Self {
        self.reader = name.into();
        self
    }

    /// Returns the absolute path of the file, for [`PolicyBuilder::journal`](toolwright::policy::PolicyBuilder::journal), which
    /// protects it from tools. Two more files with its name, ending in `-wal` and `-shm`, belong to it.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Writes a whole text. If it is unchanged, no new version is made. The embedding model is not asked:
    /// [`embed`](Self::embed) or the next [`find`](Self::find) asks it.
    ///
    /// # Errors
    /// `invalid_path`; `path_conflict` when there is an entry and `on_conflict` is [`OnConflict::Error`]; `context_too_large`
    /// for more than 64 MiB; `context_unavailable` when SQLite fails.
    pub fn write(
        &self,
        path: &str,
        content: &str,
        on_conflict: OnConflict,
        note: Option<&str>,
    ) -> Result<StoredEntry, ToolError> {
        let before = match on_conflict {
            OnConflict::Error => Before::Missing,
            OnConflict::Overwrite => Before::Any,
        };
        let path = LogicalPath::parse(path)?;
        self.put(&path, before, &NewText { content, note, source: None, untrusted: None })
    }

    /// Reads a version of an entry; the last one if none is given.
    ///
    /// # Errors
    /// `invalid_path`; `not_found`; `version_not_found`; `context_unavailable` when SQLite fails.
    pub fn read(&self, path: &str, version: Option<u32>) -> Result<ContextEntry, ToolError> {
        let path = LogicalPath::parse(path)?;
        let connection = self.connection();
        let query = "SELECT v.version, e.version, v.content, v.hash, v.note, e.source, v.untrusted
            FROM entries e JOIN versions v ON v.entry = e.id AND v.version = coalesce(?2, e.version)
            WHERE e.path = ?1";
        let entry = connection
            .prepare_cached(query)
            .and_then(|mut statement| {
                statement.query_row(params![path.as_str(), version], entry_of).optional()
            })
            .map_err(unavailable)?;
        match (entry, version, find_row(&connection, &path).map_err(unavailable)?) {
            (Some(entry), ..) => Ok(entry),
            (None, Some(version), Some(last)) => {
                let message =
                    format!("`{path}` has no version {version}, its last is {}", last.version);
                Err(ToolError::new("version_not_found", message))
            }
            (None, ..) => Err(missing(&path)),
        }
    }

    /// Returns whether an entry with this path exists.
    pub(super) fn has(&self, path: &LogicalPath) -> Result<bool, ToolError> {
        find_row(&self.connection(), path).map(|row| row.is_some()).map_err(unavailable)
    }

    /// Makes a new version from the result of `edit`, if the present text has the expected hash or no hash is expected.
    /// No other call can write in between.
    pub(super) fn edit(
        &self,
        path: &LogicalPath,
        expected: Option<&str>,
        note: Option<&str>,
        edit: impl FnOnce(&str) -> Result<String, ToolError>,
    ) -> Result<(StoredEntry, String), ToolError> {
        self.write_with(|transaction| {
            let entry = find_row(transaction, path).map_err(unavailable)?;
            let entry = entry.ok_or_else(|| missing(path))?;
            self.is_as_expected(path, Some(&entry), expected.map_or(Before::Any, Before::Hash))?;
            let query = "SELECT content, untrusted FROM versions WHERE entry = ?1 AND version = ?2";
            let (content, untrusted): (String, Option<String>) = transaction
                .query_row(query, params![entry.id, entry.version], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .map_err(unavailable)?;
            let edited = edit(&content)?;
            // The edited version of an untrusted text is untrusted, too.
            let untrusted = untrusted.as_deref();
            let text = NewText { content: &edited, note, source: None, untrusted };
            let stored = insert(transaction, path, Some(&entry), &text)?;
            Ok((stored, edited))
        })
    }

    pub(super) fn put(
        &self,
        path: &LogicalPath,
        before: Before<'_>,
        text: &NewText<'_>,
    ) -> Result<StoredEntry, ToolError> {
        self.write_with(|transaction| self.put_in(transaction, path, before, text))
    }

    /// Writes as [`put`](Self::put) does, as a part of a transaction.
    pub(super) fn put_in(
        &self,
        transaction: &Transaction<'_>,
        path: &LogicalPath,
        before: Before<'_>,
        text: &NewText<'_>,
    ) -> Result<StoredEntry, ToolError> {
        let entry = find_row(transaction, path).map_err(unavailable)?;
        self.is_as_expected(path, entry.as_ref(), before)?;
        insert(transaction, path, entry.as_ref(), text)
    }

    /// Runs `write` in one transaction, which excludes other writers; rolls it back if `write` fails.
    pub(super) fn write_with<T>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        let mut connection = self.connection();
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(unavailable)?;
        let done = write(&transaction)?;
        transaction.commit().map_err(unavailable)?;
        Ok(done)
    }

    fn is_as_expected(
        &self,
        path: &LogicalPath,
        found: Option<&EntryRow>,
        before: Before<'_>,
    ) -> Result<(), ToolError> {
        let (now, expected) = match (before, found) {
            (Before::Any, _) | (Before::Missing, None) => return Ok(()),
            (Before::Hash(hash), Some(found)) if found.hash.eq_ignore_ascii_case(hash) => {
                return Ok(());
            }
            (Before::Missing, Some(_)) => return Err(self.conflict(path)),
            (Before::Hash(hash), Some(found)) => (format!("has hash {}", found.hash), hash),
            (Before::Hash(hash), None) => ("does not exist any more".to_owned(), hash),
        };
        let message = format!("`{path}` {now}, expected hash {expected}: it was changed since");
        Err(ToolError::new("entry_changed", message)
            .hint(format!("read it again with `{}`", self.reader)))
    }

    /// Makes the error for a path that already has an entry.
    pub(super) fn conflict(&self, path: &LogicalPath) -> ToolError {
        let hint = format!(
            "read it with `{}`, or write again with `on_conflict` set to `overwrite`",
            self.reader
        );
        ToolError::new("path_conflict", format!("`{path}` exists")).hint(hint)
    }

    pub(super) fn connection(&self) -> MutexGuard<'_, Connection> {
        // A thread that panicked has rolled its transaction back, so the connection is usable.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ContextStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ContextStore").field("file", &self.file).finish_non_exhaustive()
    }
}

/// Makes an entry from the columns version, last version, content, hash, note, source, untrusted.
pub(super) fn entry_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<ContextEntry> {
    Ok(ContextEntry {
        version: row.get(0)?,
        last_version: row.get(1)?,
        content: row.get(2)?,
        hash: row.get(3)?,
        note: row.get(4)?,
        source: row.get(5)?,
        untrusted: row.get(6)?,
    })
}

fn missing(path: &LogicalPath) -> ToolError {
    let message = format!("there is no entry `{path}`");
    ToolError::new("not_found", message).hint("list or search the entries to find its path")
}

fn find_row(connection: &Connection, path: &LogicalPath) -> rusqlite::Result<Option<EntryRow>> {
    let query = "SELECT e.id, e.version, v.hash FROM entries e
        JOIN versions v ON v.entry = e.id AND v.version = e.version WHERE e.path = ?1";
    connection
        .prepare_cached(query)?
        .query_row([path.as_str()], |row| {
            Ok(EntryRow { id: row.get(0)?, version: row.get(1)?, hash: row.get(2)? })
        })
        .optional()
}

fn insert(
    transaction: &Transaction<'_>,
    path: &LogicalPath,
    entry: Option<&EntryRow>,
    text: &NewText<'_>,
) -> Result<StoredEntry, ToolError> {
    let content = text.content;
    if content.len() > LARGEST {
        let message =
            format!("`{path}` would have {} bytes, expected at most {LARGEST}", content.len());
        return Err(ToolError::new("context_too_large", message).class(ErrorClass::Invalid));
    }
    let hash = content_hash(content.as_bytes());
    let is_unchanged = entry.is_some_and(|it| it.hash == hash);
    let version = match entry {
        Some(entry) if is_unchanged => entry.version,
        Some(entry) => entry.version.saturating_add(1),
        None => 1,
    };
    if let (Some(entry), Some(source)) = (entry.filter(|_| is_unchanged), text.source) {
        // The text is unchanged, but a refresh has to use the new source.
        let set = "UPDATE entries SET source = ?2 WHERE id = ?1";
        transaction.execute(set, params![entry.id, source]).map_err(unavailable)?;
    }
    match (entry, text.untrusted) {
        (Some(entry), Some(source)) if is_unchanged => {
            // The text is unchanged, but an untrusted source has now written it as well.
            let mark = "UPDATE versions SET untrusted = coalesce(untrusted || char(10), '') || ?3
                WHERE entry = ?1 AND version = ?2
                  AND instr(char(10) || coalesce(untrusted, '') || char(10), char(10) || ?3 || char(10)) = 0";
            transaction
                .execute(mark, params![entry.id, entry.version, source])
                .map_err(unavailable)?;
        }
        _ if is_unchanged => {}
        _ => rows(transaction, path, entry, version, &hash, text).map_err(unavailable)?,
    }
    Ok(StoredEntry {
        path: path.to_string(),
        version,
        bytes_written: content.len(),
        hash,
        not_embedded: None,
    })
}

/// Inserts a new version, and replaces the parts of the earlier version with those of the new one.
fn rows(
    transaction: &Transaction<'_>,
    path: &LogicalPath,
    entry: Option<&EntryRow>,
    version: u32,
    hash: &str,
    NewText { content, note, source, untrusted }: &NewText<'_>,
) -> rusqlite::Result<()> {
    let mut upsert = transaction.prepare_cached(
        "INSERT INTO entries (path, version, bytes, source) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (path) DO UPDATE SET version = ?2, bytes = ?3, source = coalesce(?4, source)
         RETURNING id",
    )?;
    let bytes = i64::try_from(content.len()).unwrap_or(i64::MAX);
    let written = params![path.as_str(), version, bytes, source];
    let id: i64 = upsert.query_row(written, |row| row.get(0))?;
    transaction.execute(
        "INSERT INTO versions (entry, version, content, hash, note, written_at, untrusted)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![id, version, content, hash, note, Timestamp::now().as_millisecond(), untrusted],
    )?;
    if entry.is_some() {
        transaction.execute("DELETE FROM chunks WHERE entry = ?1", [id])?;
    }
    let mut chunk = transaction
        .prepare_cached("INSERT INTO chunks (entry, first_line, text) VALUES (?1, ?2, ?3)")?;
    for part in chunks(content) {
        let line = i64::try_from(part.first_line).unwrap_or(i64::MAX);
        chunk.execute(params![id, line, &content[part.bytes]])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::OnConflict;

    #[test]
    fn where_the_disk_is_full_nothing_is_written_and_the_entry_is_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let store = ContextStore::open(folder.path().join("context.db")).unwrap();
        store.write("a", "before\n", OnConflict::Error, None).unwrap();
        // SQLite reports a file that may not grow as it reports a full disk.
        let limit = |_: &rusqlite::Row<'_>| Ok(());
        store.connection().query_row("PRAGMA max_page_count = 40", [], limit).unwrap();
        let long = "words ".repeat(200_000);
        let error = store.write("a", &long, OnConflict::Overwrite, None).unwrap_err();
        assert_eq!(error.kind(), "context_unavailable");
        assert!(error.message().starts_with("the disk of the store is full"), "{error}");
        assert_eq!(store.read("a", None).unwrap().content, "before\n");
        assert_eq!(store.search("words", None, 10).unwrap(), []);
    }
}
