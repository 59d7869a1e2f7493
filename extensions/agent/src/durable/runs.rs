//! Reads and administers the runs of a journal without their application.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use toolwright::journal::{CommitError, DocumentWrite, SealingKey, Store, Transaction};
use toolwright::unstable::changes::FileChanges;

use super::RunError;
use super::body::Body;
use super::filter::RunFilter;
use super::fork::{Forking, fork};
use super::head::{Cancelled, Head, written};
use super::info::RunInfo;
use super::keys;
use super::removal::remove;
use super::rewind::{Redone, Rewind, Rewinding};
use super::turn::{self, RecordedTurn};
use crate::limits::{PeriodSpending, ceilings};

/// Reads and administers the runs of a journal. This type needs neither agents nor tools, and drives no run.
///
/// ```
/// use std::sync::Arc;
/// use toolwright::journal::MemoryStore;
/// use toolwright_agent::durable::Runs;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// // A SQLite file in an application: `SqliteStore::open("calls.db").await?`.
/// let runs = Runs::of(Arc::new(MemoryStore::new()));
/// assert!(runs.list_open().await?.is_empty());
/// assert!(runs.head("r1").await.unwrap_err().to_string().starts_with("the journal has no run `r1`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Runs {
    store: Arc<dyn Store>,
    sealing: Option<SealingKey>,
}

impl Runs {
    /// Makes a reader of the runs in this journal.
    #[must_use]
    pub fn of(store: Arc<dyn Store>) -> Self {
        Self { store, sealing: None }
    }

    pub(super) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Sets the key that decrypts the runs' documents.
    #[must_use]
    pub(super) fn sealed(mut self, key: Option<SealingKey>) -> Self {
        self.sealing = key;
        self
    }

    /// Lists the runs that have not ended, ordered by their ids. A run that has ended is listed until its calls are
    /// acknowledged. For a head that cannot be read, the list has the error.
    ///
    /// # Errors
    /// When the journal fails.
    pub async fn list_open(&self) -> Result<Vec<Result<Head, RunError>>, RunError> {
        self.list(keys::OPEN).await
    }

    /// Lists the runs that have ended and that [`list_open`](Self::list_open) does not list.
    ///
    /// # Errors
    /// When the journal fails.
    pub async fn list_ended(&self) -> Result<Vec<Result<Head, RunError>>, RunError> {
        self.list(keys::ENDED).await
    }

    /// Finds the runs that a filter selects, those that [`list_open`](Self::list_open) lists first. Leaves out heads that
    /// cannot be read, because the filter cannot judge them. This method reads the heads of all runs that the filter may
    /// select.
    ///
    /// # Errors
    /// When the journal fails.
    pub async fn find(&self, filter: &RunFilter) -> Result<Vec<Head>, RunError> {
        let (mut found, mut names) = (Vec::new(), HashSet::new());
        // A run that has ended is still listed as open while its calls may go on.
        for (prefix, is_left_out) in
            [(keys::OPEN, false), (keys::ENDED, filter.wants_none_that_ended())]
        {
            if !is_left_out {
                let heads = self.list(prefix).await?.into_iter().flatten();
                // A run that is listed as ended between the two readings is in both lists.
                let is_new = |head: &Head| filter.takes(head) && names.insert(head.run.clone());
                found.extend(heads.filter(is_new));
            }
        }
        Ok(found)
    }

    async fn list(&self, prefix: &str) -> Result<Vec<Result<Head, RunError>>, RunError> {
        let mut heads = Vec::new();
        for document in self.store.documents(prefix).await? {
            let Some(run) = document.key.strip_prefix(prefix) else { continue };
            match self.head(run).await {
                Err(RunError::Store(error)) => return Err(error.into()),
                head => heads.push(head),
            }
        }
        Ok(heads)
    }

    /// Lists the spending under ceilings, by day and month; see
    /// [`AgentBuilder::ceiling`](crate::AgentBuilder::ceiling).
    ///
    /// # Errors
    /// When a document of the accounts cannot be read, or the journal fails.
    pub async fn spending(&self) -> Result<Vec<PeriodSpending>, RunError> {
        Ok(ceilings::all(&*self.store).await?)
    }

    /// Reads the state of a run.
    ///
    /// # Errors
    /// When there is no such run, its head cannot be read, or the journal fails.
    pub async fn head(&self, run: &str) -> Result<Head, RunError> {
        Ok(head_of(&*self.store, run).await?.0)
    }

    /// Reports whether the texts of a run are encrypted, so that only its application can read them.
    #[must_use]
    pub fn is_encrypted(head: &Head) -> bool {
        matches!(head.state, Body::Sealed(_))
    }

    /// Returns the data that the application stored with a run when it was started.
    ///
    /// # Errors
    /// When the data cannot be read, or is encrypted.
    pub fn info(&self, head: &Head) -> Result<RunInfo, RunError> {
        info_of(head, self.sealing.as_ref())
    }

    /// Reads the record of a turn, counted from 1; the record is empty if nothing is recorded.
    ///
    /// # Errors
    /// When a document of the turn cannot be read, or the journal fails.
    pub async fn turn(&self, run: &str, number: u64) -> Result<RecordedTurn, RunError> {
        turn::read_turn(&*self.store, run, number, self.sealing.as_ref()).await
    }

    /// Requests the end of a run: its driver answers its open calls and records the end. If no process works on the
    /// journal, the next process that does so ends the run. Returns `false` if the run has ended or was cancelled
    /// before.
    ///
    /// # Errors
    /// When there is no such run, or the journal fails.
    pub async fn cancel(
        &self,
        run: &str,
        who: &str,
        why: &str,
        now: Timestamp,
    ) -> Result<bool, RunError> {
        if self.head(run).await?.ended.is_some() {
            return Ok(false);
        }
        let key = keys::cancel(run);
        let (who, why) = (who.to_owned(), why.to_owned());
        let text = written(&Cancelled { who, why, at: now });
        let text = text.map_err(|error| RunError::damaged(&key, error))?;
        let write = DocumentWrite { key, expects: None, text: Some(text) };
        let unit = Transaction { documents: vec![write], ..Transaction::default() };
        match self.store.commit(unit, now).await {
            // The run may have ended meanwhile, with a driver that did not read the request. If the head cannot be
            // read now, the request is recorded nevertheless.
            Ok(()) => Ok(match self.head(run).await {
                Ok(head) => head.ended.is_none() || head.cancelled.is_some(),
                Err(RunError::NoSuchRun { .. }) => false,
                Err(_) => true,
            }),
            Err(CommitError::Store(error)) => Err(error.into()),
            Err(_) => Ok(false),
        }
    }

    /// Ends the pause of a run that is parked, or whose model is unavailable: the next process that works on the
    /// journal drives it. Returns whether the run had a pause.
    ///
    /// # Errors
    /// When there is no such run, another process changes it at the same moment, or the journal fails.
    pub async fn resume(&self, run: &str, now: Timestamp) -> Result<bool, RunError> {
        let (mut head, version) = head_of(&*self.store, run).await?;
        let outage = head.outage.as_mut().filter(|outage| outage.until > now);
        if head.parked.is_none() && outage.is_none() {
            return Ok(false);
        }
        if let Some(outage) = outage {
            outage.until = now;
        }
        let head = Head { parked: None, crashes: None, updated: now, ..head };
        let key = keys::head(run);
        let text = head.text().map_err(|error| RunError::damaged(&key, error))?;
        let write = DocumentWrite { key, expects: Some(version), text: Some(text) };
        let unit = Transaction { documents: vec![write], ..Transaction::default() };
        match self.store.commit(unit, now).await {
            Ok(()) => Ok(true),
            Err(CommitError::Store(error)) => Err(error.into()),
            Err(_) => Err(RunError::NotNow {
                run: run.to_owned(),
                why: "is changed by a process at this moment; look at it, and resume it again"
                    .to_owned(),
            }),
        }
    }

    /// Removes the record of a run that has ended: its head, its turns, its messages and its entries in the lists. The
    /// run's calls stay in the journal, so its id cannot be used again: the journal would answer the calls of another
    /// run of this id with the old answers.
    ///
    /// # Errors
    /// When there is no such run, it has not ended, a call of it may still go on, a rewind of it is not finished, or the
    /// journal fails.
    pub async fn remove(&self, run: &str, now: Timestamp) -> Result<(), RunError> {
        let (head, version) = head_of(&*self.store, run).await?;
        remove(&*self.store, &head, version, now).await
    }

    /// Makes a new run from the record of another run up to the end of a turn, and returns the new run's head. None of
    /// the copied calls run again: the answer of each journalled call says in which run the call ran. Any process that
    /// has the run's agent can continue the new run.
    ///
    /// # Errors
    /// When there is no such run or turn, the turn has calls without an answer, the new id is taken or cannot be that of a
    /// run, the record is damaged or encrypted, or the journal fails.
    pub async fn fork(
        &self,
        run: &str,
        turn: u64,
        new: &str,
        now: Timestamp,
    ) -> Result<Head, RunError> {
        let head = self.head(run).await?;
        let forking = Forking { store: &*self.store, sealing: self.sealing.as_ref(), now };
        fork(&forking, &head, turn, new).await
    }

    /// Goes back to the end of an earlier turn of a run: makes a new run from the turns up to that turn, and restores
    /// the files that the calls of later turns have changed. `files` is the log of these changes (`ChangeLog` of
    /// `toolwright-toolbox`). No process continues the old run until the rewind is [undone](Self::redo). Without an id
    /// in `new`, the new run is named after the old run and the turn: `r1-at-4` for turn 4 of `r1`.
    ///
    /// One commit of the journal decides the rewind. If the process dies after that commit, no process continues either
    /// run until this method is called again and has restored the remaining files.
    ///
    /// ```
    /// # use futures::future::BoxFuture;
    /// # use toolwright::unstable::changes::{ChangingCalls, FileChanges, RestoredFiles};
    /// # struct NoFiles;
    /// # impl FileChanges for NoFiles {
    /// #     fn examine<'a>(&'a self, _: &'a ChangingCalls) -> BoxFuture<'a, Result<RestoredFiles, toolwright::ToolError>> {
    /// #         Box::pin(async { Ok(RestoredFiles::default()) })
    /// #     }
    /// #     fn take_back<'a>(&'a self, _: &'a ChangingCalls, _: toolwright::CallId, _: &'a str) -> BoxFuture<'a, Result<RestoredFiles, toolwright::ToolError>> {
    /// #         Box::pin(async { Ok(RestoredFiles::default()) })
    /// #     }
    /// # }
    /// use std::sync::Arc;
    /// use toolwright::journal::MemoryStore;
    /// use toolwright_agent::durable::Runs;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// # let log = NoFiles;
    /// // `log` in an application: `ChangeLog::open("changes.db", workspace)?`.
    /// let runs = Runs::of(Arc::new(MemoryStore::new()));
    /// let error = runs.rewind("r1", 4, None, &log, jiff::Timestamp::now()).await.unwrap_err();
    /// assert!(error.to_string().starts_with("the journal has no run `r1`"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When there is no such run or turn, or no turn after it; a process drives the run, or some of its calls have no
    /// answer; a file is not as the turns left it, or its earlier content is not in the log
    /// ([`RunError::FilesChanged`]); the new id is used; the log or the journal fails. An error before the commit that
    /// decides changes nothing. After an error that comes later, call this method again.
    pub async fn rewind(
        &self,
        run: &str,
        turn: u64,
        new: Option<&str>,
        files: &dyn FileChanges,
        now: Timestamp,
    ) -> Result<Rewind, RunError> {
        self.rewinding(files, now).back(run, turn, new).await
    }

    /// Undoes a rewind, as long as the new run has done nothing: restores the files as the later turns had left them,
    /// removes the new run, and lets the old run continue. `run` may be the id of either run.
    ///
    /// # Errors
    /// When the run was not rewound, the new run has done something or is driven, a file is not as the rewind left it,
    /// or the log or the journal fails.
    pub async fn redo(
        &self,
        run: &str,
        files: &dyn FileChanges,
        now: Timestamp,
    ) -> Result<Redone, RunError> {
        self.rewinding(files, now).redo(run).await
    }

    fn rewinding<'a>(&'a self, files: &'a dyn FileChanges, now: Timestamp) -> Rewinding<'a> {
        Rewinding { store: &*self.store, sealing: self.sealing.as_ref(), files, now }
    }
}

/// Reads the head of a run and the version of its document.
pub(super) async fn head_of(store: &dyn Store, run: &str) -> Result<(Head, u64), RunError> {
    let key = keys::head(run);
    let found = store.document(&key).await?;
    let found = found.ok_or_else(|| RunError::NoSuchRun { run: run.to_owned() })?;
    let head = Head::read(&found.text).map_err(|error| RunError::damaged(&key, error))?;
    match head.run == run {
        true => Ok((head, found.version)),
        false => Err(RunError::damaged(&key, format!("it is the head of run `{}`", head.run))),
    }
}

/// Returns the data that is stored with a run, without its history.
pub(super) fn info_of(head: &Head, sealing: Option<&SealingKey>) -> Result<RunInfo, RunError> {
    let key = format!("{}#data", keys::head(&head.run));
    let data = head.data.open(&key, sealing)?;
    let (id, agent) = (head.run.clone(), head.agent.clone());
    Ok(RunInfo { id, agent, user: head.user.clone(), session: head.session.clone(), data })
}

impl fmt::Debug for Runs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Runs").finish_non_exhaustive()
    }
}
