//! Stores calls in an SQLite file.
//!
//! - If the disk is fast, a single write is made on the task of its caller. All other writes are made by one thread,
//!   which commits simultaneous writes together. Other threads read.
//! - Several processes may use one file at once. They wait for each other, up to five seconds.
//! - After the file was deleted or replaced, every commit and query is refused.
//!
//! ```text
//!  commit, renew ──► rows ──┬─ alone ─────────► BEGIN IMMEDIATE, unit, COMMIT ─────────► answer
//!                           └─ writer thread ── group: BEGIN IMMEDIATE, units, COMMIT ──► answers
//!  get, list, … ────────────► reader threads ──────────────────────────────────────────► records
//!  changed ◄── at once from the writer, within a moment from other processes ── watcher thread
//! ```

mod failure;
mod file;
mod format;
mod identity;
mod query;
mod reader;
mod row;
mod statements;
mod triggers;
mod watcher;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use rusqlite::{Params, params};
use tokio::sync::oneshot;

use self::failure::JournalFile;
use self::file::{OpenedFile, Origin};
use self::reader::{READERS, Readers, Reading};
use self::row::TransactionRows;
use self::watcher::{Changes, Watcher};
use self::writer::{Work, Writer};
use toolwright_core::context::CallId;
use toolwright_journal::journal::{
    CallPage, CallRecord, CallSlot, CallSummary, CommitError, Document, Entry, Filter, Page, Store,
    StoreError, Transaction,
};

/// A store in an SQLite file, for one machine. Several processes may use the file at once. Clones share the threads of
/// the store, which end when the last clone is dropped and all accepted writes are in the file.
///
/// A commit is durable: it survives the end of the process and a power failure. If the file is deleted or replaced
/// while the store is open, every commit and query fails from then on. Two files beside it, with the same name and the
/// endings `-wal` and `-shm`, belong to the journal.
///
/// Needs the feature `sqlite`: `toolwright = { version = "0.1", features = ["sqlite"] }`.
///
/// ```
/// use toolwright::journal::{DocumentWrite, SqliteStore, Store, Transaction};
///
/// # let folder = std::env::temp_dir().join(format!("toolwright-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("calls.db");
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let store = SqliteStore::open(&path).await?;
/// let note = DocumentWrite { key: "note".to_owned(), expects: None, text: Some("hello".to_owned()) };
/// store.commit(Transaction { documents: vec![note], ..Transaction::default() }, jiff::Timestamp::UNIX_EPOCH).await?;
///
/// let other = SqliteStore::open_existing(&path).await?;
/// assert_eq!(other.document("note").await?.map(|it| it.text), Some("hello".to_owned()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SqliteStore(Arc<Inner>);

struct Inner {
    asked: PathBuf,
    name: JournalFile,
    writer: Writer,
    readers: Readers,
    watcher: Watcher,
}

impl SqliteStore {
    /// Opens the journal in a file. If the file does not exist, makes one that (on Unix) only its owner can read. The
    /// folder must exist.
    ///
    /// # Errors
    /// When the file cannot be opened or made, is not a journal, has a newer format version, or is damaged. Also when
    /// another program locks it for more than five seconds, when (on Unix) every user of the machine may read or write
    /// it, or when its triggers are not exactly those of a journal.
    pub fn open(
        path: impl AsRef<Path>,
    ) -> impl Future<Output = Result<Self, StoreError>> + Send + 'static {
        Self::open_file(path.as_ref().to_owned(), Origin::MadeIfMissing)
    }

    /// Opens the journal in a file that must already exist.
    ///
    /// # Errors
    /// Those of [`open`](Self::open); also when there is no such file.
    pub fn open_existing(
        path: impl AsRef<Path>,
    ) -> impl Future<Output = Result<Self, StoreError>> + Send + 'static {
        Self::open_file(path.as_ref().to_owned(), Origin::Existing)
    }

    async fn open_file(path: PathBuf, origin: Origin) -> Result<Self, StoreError> {
        let words = format!("journal `{}` has no thread to open it", path.display());
        let (answer, answered) = oneshot::channel();
        thread::Builder::new()
            .name("toolwright-journal-opener".to_owned())
            .spawn(move || {
                // The caller may no longer wait for the answer.
                let _ = answer.send(Inner::open(&path, origin));
            })
            .map_err(|error| StoreError::unavailable(words.as_str()).with_source(error))?;
        let inner = answered.await.map_err(|_| StoreError::unavailable(words))??;
        Ok(Self(Arc::new(inner)))
    }

    /// Sets a pragma of the writing connection, so that a test can simulate a full disk or an impatient writer.
    #[doc(hidden)]
    #[cfg(feature = "conformance")]
    pub async fn pragma(&self, setting: &'static str, value: i64) -> Result<(), CommitError> {
        self.0.writer.does(Work::Pragma(setting, value)).await
    }

    /// Returns the first call that a query finds. Fails if the call cannot be read.
    async fn first_record(
        &self,
        sql: &'static str,
        values: impl Params + Send + 'static,
    ) -> Result<Option<CallRecord>, StoreError> {
        let read = move |reading: &mut Reading<'_>| {
            let CallPage { mut calls, mut damaged, .. } =
                records(reading, sql, values, 1, |_| true)?;
            damaged.pop().map_or_else(|| Ok(calls.pop()), |damaged| Err(damaged.error))
        };
        self.0.readers.read(read).await
    }
}

impl Inner {
    fn open(path: &Path, origin: Origin) -> Result<Self, StoreError> {
        let OpenedFile { asked, name, connection } = file::open(path, origin)?;
        let readers = (0..READERS).map(|_| file::open_reader(&name)).collect::<Result<_, _>>()?;
        let changes = Changes::new();
        Ok(Self {
            watcher: Watcher::new(&name, file::open_reader(&name)?, Arc::clone(&changes))?,
            readers: Readers::start(&name, readers)?,
            writer: Writer::start(&name, connection, changes)?,
            asked,
            name,
        })
    }
}

impl Store for SqliteStore {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        async move {
            unit.check()?;
            let rows = TransactionRows::of(unit, now, &self.0.name)?;
            self.0.writer.does(Work::Commit(rows)).await
        }
        .boxed()
    }

    fn renew<'a>(
        &'a self,
        call: CallId,
        epoch: u64,
        until: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        let (lease, due) = (until.to_string(), row::instant(until));
        self.0.writer.does(Work::Renew { call, epoch, lease, due }).boxed()
    }

    fn acknowledge<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<(), CommitError>> {
        self.0.writer.does(Work::Acknowledge { call }).boxed()
    }

    fn get<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<Option<CallRecord>, StoreError>> {
        self.first_record(
            "SELECT id, lease, delivered, body FROM calls WHERE id = ?1",
            [*call.as_bytes()],
        )
        .boxed()
    }

    fn at<'a>(
        &'a self,
        place: &'a CallSlot,
    ) -> BoxFuture<'a, Result<Option<CallRecord>, StoreError>> {
        let sql = "SELECT id, lease, delivered, body FROM calls INDEXED BY calls_by_place WHERE run = ?1 AND turn = ?2 AND idx = ?3";
        let values = (place.run.clone(), place.turn.map(row::number), place.index);
        self.first_record(sql, values).boxed()
    }

    fn list<'a>(
        &'a self,
        filter: &'a Filter,
        page: Page,
    ) -> BoxFuture<'a, Result<CallPage<CallRecord>, StoreError>> {
        let query = query::query(filter, page);
        let filter = filter.clone();
        let read = move |reading: &mut Reading<'_>| {
            let values = rusqlite::params_from_iter(query.values);
            let takes = |record: &CallRecord| filter.text.is_none() || filter.takes(record);
            records(reading, &query.sql, values, page.limit, takes)
        };
        self.0.readers.read(read).boxed()
    }

    fn summaries<'a>(
        &'a self,
        filter: &'a Filter,
        page: Page,
    ) -> BoxFuture<'a, Result<CallPage<CallSummary>, StoreError>> {
        if filter.text.is_some() {
            // Only the records contain the texts that the filter searches.
            let listed = self.list(filter, page);
            return async move { Ok(listed.await?.map(|record| CallSummary::of(&record))) }.boxed();
        }
        let query = query::summaries(filter, page);
        let read = move |reading: &mut Reading<'_>| {
            let mut found = CallPage::new();
            let values = rusqlite::params_from_iter(query.values);
            reading.rows(&query.sql, values, |name, row| {
                add(&mut found, page.limit, id(name, row)?, |id| row::summary(id, row));
                Ok(true)
            })?;
            Ok(found)
        };
        self.0.readers.read(read).boxed()
    }

    fn history<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        let read = move |reading: &mut Reading<'_>| {
            let sql = "SELECT body FROM events WHERE call = ?1 ORDER BY number";
            let mut entries = Vec::new();
            reading.rows(sql, params![call.as_bytes()], |_, row| {
                let entry = row::entry(row).map_err(|why| {
                    let entry = entries.len() + 1;
                    StoreError::damaged(call, format_args!("entry {entry} of its history: {why}"))
                })?;
                entries.push(entry);
                Ok(true)
            })?;
            Ok(entries)
        };
        self.0.readers.read(read).boxed()
    }

    fn document<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Document>, StoreError>> {
        let key = key.to_owned();
        let read = move |reading: &mut Reading<'_>| {
            let sql = "SELECT key, version, text FROM documents WHERE key = ?1";
            Ok(documents(reading, sql, &key, |_| true)?.pop())
        };
        self.0.readers.read(read).boxed()
    }

    fn documents<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Document>, StoreError>> {
        let prefix = prefix.to_owned();
        let read = move |reading: &mut Reading<'_>| {
            let sql = "SELECT key, version, text FROM documents WHERE key >= ?1 ORDER BY key";
            documents(reading, sql, &prefix, |key| key.starts_with(&prefix))
        };
        self.0.readers.read(read).boxed()
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        let mut changes = self.0.watcher.listen();
        async move {
            // `self` owns the sender, so the channel cannot be closed here.
            let _ = changes.changed().await;
        }
        .boxed()
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.0.asked)
    }
}

fn records(
    reading: &mut Reading<'_>,
    sql: &str,
    values: impl Params,
    limit: usize,
    takes: impl Fn(&CallRecord) -> bool,
) -> Result<CallPage<CallRecord>, StoreError> {
    let mut found = CallPage::new();
    if limit == 0 {
        return Ok(found);
    }
    reading.rows(sql, values, |name, row| {
        let id = id(name, row)?;
        let read = row::record(id, row);
        if read.as_ref().is_ok_and(|record| !takes(record)) {
            return Ok(true);
        }
        add(&mut found, limit, id, |_| read);
        Ok(found.len() < limit)
    })?;
    Ok(found)
}

fn add<T>(
    found: &mut CallPage<T>,
    limit: usize,
    id: CallId,
    read: impl FnOnce(CallId) -> Result<T, row::Unreadable>,
) {
    found.push(limit, id, read(id).map_err(|why| StoreError::damaged(id, why)));
}

/// Parses the id of a call from the first column of its row.
fn id(name: &JournalFile, row: &rusqlite::Row<'_>) -> Result<CallId, StoreError> {
    row.get(0).map(CallId::from_bytes).map_err(|error| name.failure("be read", error))
}

fn documents(
    reading: &mut Reading<'_>,
    sql: &str,
    from: &str,
    takes: impl Fn(&str) -> bool,
) -> Result<Vec<Document>, StoreError> {
    let mut found = Vec::new();
    reading.rows(sql, [from], |name, row| {
        let key = text(name, row, 0)?;
        if !takes(key) {
            return Ok(false);
        }
        let version = row.get::<_, i64>(1).map_err(|error| name.failure("be read", error))?;
        found.push(Document {
            key: key.to_owned(),
            version: version.cast_unsigned(),
            text: text(name, row, 2)?.to_owned(),
        });
        Ok(true)
    })?;
    Ok(found)
}

fn text<'r>(
    name: &JournalFile,
    row: &'r rusqlite::Row<'_>,
    column: usize,
) -> Result<&'r str, StoreError> {
    let text = row.get_ref(column).and_then(|value| Ok(value.as_str()?));
    text.map_err(|error| name.failure("be read", error))
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SqliteStore")
            .field("file", &self.0.name.path())
            .finish_non_exhaustive()
    }
}
