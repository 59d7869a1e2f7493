//! A store that is slow, lies, fails or counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use futures::future::BoxFuture;
use jiff::Timestamp;
use toolwright::CallId;
use toolwright::journal::{
    CallPage, CallRecord, CallSlot, CallSummary, CommitError, Document, Entry, Filter, MemoryStore,
    Page, Store, StoreError, Transaction,
};

/// Something that is done once.
pub type Hook = std::sync::Mutex<Option<BoxFuture<'static, ()>>>;

#[derive(Default)]
pub struct Odd {
    pub inner: MemoryStore,
    /// Commits yield before they are done.
    pub slow_commits: bool,
    /// Commits are done a moment later, although whoever asked for them has gone.
    pub is_behind: bool,
    /// Documents are read, and given a moment later.
    pub slow_documents: bool,
    /// The commit of this number stands, and its caller is told that it failed.
    pub lies_at: Option<usize>,
    /// Commits so far.
    pub commits: Arc<AtomicUsize>,
    /// How often one call was read.
    pub gets: Arc<AtomicUsize>,
    /// How many records were listed.
    pub listed: Arc<AtomicUsize>,
    /// Nobody hears of changes.
    pub is_deaf: bool,
    /// The commit of this number fails, and nothing of it stands.
    pub fails_at: Option<usize>,
    /// So many commits find the store unavailable, and nothing of them stands.
    pub away_for: usize,
    /// From this number on every commit fails.
    pub fails_from: Option<usize>,
    /// What cannot be read: `history`, `document`, `documents` or `list`.
    pub unreadable: Option<&'static str>,
    /// From when until when no method answers but that it is unavailable, by the clock that tests pause.
    pub away: Option<(tokio::time::Instant, tokio::time::Instant)>,
    /// Histories are read a moment after they are asked for.
    pub late_histories: bool,
    /// What somebody else does when the next commit is asked for, and before it is done.
    pub before_commit: Hook,
    /// Nothing is listed while this says no.
    pub lists: Option<tokio::sync::watch::Receiver<bool>>,
    /// Where it says to be kept.
    pub file: Option<std::path::PathBuf>,
}

impl Odd {
    fn readable(&self, what: &str) -> Result<(), StoreError> {
        match self.unreadable {
            Some(it) if it == what => Err(StoreError::corrupt("the disk cannot be read")),
            _ => self.reachable(),
        }
    }

    fn reachable(&self) -> Result<(), StoreError> {
        let now = tokio::time::Instant::now();
        match self.away {
            Some((from, until)) if from <= now && now < until => {
                Err(StoreError::unavailable("the store cannot be reached"))
            }
            _ => Ok(()),
        }
    }
}

impl Store for Odd {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        Box::pin(async move {
            let first = self.before_commit.lock().unwrap().take();
            if let Some(first) = first {
                first.await;
            }
            self.reachable()?;
            let number = self.commits.fetch_add(1, SeqCst) + 1;
            if self.slow_commits {
                tokio::task::yield_now().await;
            }
            if number <= self.away_for {
                return Err(StoreError::unavailable("the store cannot be reached").into());
            }
            if self.fails_at == Some(number) || self.fails_from.is_some_and(|first| number >= first)
            {
                return Err(StoreError::full("the disk is full").into());
            }
            let inner = self.inner.clone();
            let done = match self.is_behind {
                false => inner.commit(unit, now).await,
                true => tokio::spawn(async move {
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                    inner.commit(unit, now).await
                })
                .await
                .unwrap(),
            };
            match self.lies_at {
                Some(at) if at == number => {
                    Err(StoreError::unavailable("the connection was lost").into())
                }
                _ => done,
            }
        })
    }

    fn renew<'a>(
        &'a self,
        call: CallId,
        epoch: u64,
        until: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        match self.reachable() {
            Ok(()) => self.inner.renew(call, epoch, until),
            Err(error) => Box::pin(std::future::ready(Err(error.into()))),
        }
    }

    fn acknowledge<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<(), CommitError>> {
        self.inner.acknowledge(call)
    }

    fn get<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<Option<CallRecord>, StoreError>> {
        self.gets.fetch_add(1, SeqCst);
        match self.reachable() {
            Ok(()) => self.inner.get(call),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn at<'a>(
        &'a self,
        place: &'a CallSlot,
    ) -> BoxFuture<'a, Result<Option<CallRecord>, StoreError>> {
        match self.reachable() {
            Ok(()) => self.inner.at(place),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn list<'a>(
        &'a self,
        filter: &'a Filter,
        page: Page,
    ) -> BoxFuture<'a, Result<CallPage<CallRecord>, StoreError>> {
        Box::pin(async move {
            self.readable("list")?;
            if let Some(mut lists) = self.lists.clone() {
                lists.wait_for(|lists| *lists).await.unwrap();
            }
            let found = self.inner.list(filter, page).await?;
            self.listed.fetch_add(found.calls.len(), SeqCst);
            Ok(found)
        })
    }

    fn summaries<'a>(
        &'a self,
        filter: &'a Filter,
        page: Page,
    ) -> BoxFuture<'a, Result<CallPage<CallSummary>, StoreError>> {
        Box::pin(async move {
            self.readable("list")?;
            if let Some(mut lists) = self.lists.clone() {
                lists.wait_for(|lists| *lists).await.unwrap();
            }
            self.inner.summaries(filter, page).await
        })
    }

    fn history<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        Box::pin(async move {
            self.readable("history")?;
            if self.late_histories {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            self.inner.history(call).await
        })
    }

    fn document<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Document>, StoreError>> {
        Box::pin(async move {
            self.readable("document")?;
            self.inner.document(key).await
        })
    }

    fn documents<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Document>, StoreError>> {
        Box::pin(async move {
            self.readable("documents")?;
            let found = self.inner.documents(prefix).await?;
            if self.slow_documents {
                tokio::task::yield_now().await;
            }
            Ok(found)
        })
    }

    fn id<'a>(&'a self) -> BoxFuture<'a, Result<String, StoreError>> {
        match self.reachable() {
            Ok(()) => self.inner.id(),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        if self.is_deaf { Box::pin(crate::support::forever()) } else { self.inner.changed() }
    }

    fn file(&self) -> Option<&std::path::Path> {
        self.file.as_deref()
    }
}
