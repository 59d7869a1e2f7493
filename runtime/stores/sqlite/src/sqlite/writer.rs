//! Writes to the file. If the disk is fast, a single commit is made on the task of its caller. A thread makes all other
//! commits. It groups simultaneous ones, so that many callers wait for the disk only once.
//!
//! - A transaction that conflicts is undone, and the other transactions of its group are committed.
//! - A transaction is answered after its commit is durable, or after SQLite has reported a failure.
//! - A caller commits on its own task only if the last commit was quick and no other program is writing. After a slow
//!   commit the thread makes the next one, so that a slow disk does not block one task after the other.
//! - The thread ends when the last store is dropped and every request has been answered.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::oneshot;
use tokio::task::yield_now;

use super::failure::JournalFile;
use super::file::PATIENCE;
use super::row::TransactionRows;
use super::statements::Statements;
use super::watcher::Changes;
use toolwright_core::context::CallId;
use toolwright_journal::journal::{CommitError, StoreError, StoreErrorKind};

/// How many transactions share a commit at most, so that the first of them does not wait too long.
const GROUP: usize = 256;

/// The longest time that a commit may take so that the next one may be made on the task of its caller. Passing a commit
/// to the thread costs about a tenth of this time, which matters only if the disk is fast.
const QUICK: Duration = Duration::from_millis(1);

/// The writer of a journal, which performs the writes of all callers.
pub struct Writer {
    sender: Sender<QueuedWork>,
    shared: Arc<WriterState>,
}

/// The state that callers and the thread share.
struct WriterState {
    name: JournalFile,
    held: Mutex<WriteConnection>,
    /// How many callers wait for the answer to their write.
    waiting: AtomicUsize,
    /// Whether the last commit was so quick that a caller may commit on its own thread.
    is_quick: AtomicBool,
    changes: Arc<Changes>,
}

/// The connection that writes. Each open store has one, which its clones share.
struct WriteConnection {
    connection: Connection,
    /// The schema version of SQLite that was checked last.
    seen: Cell<Option<i64>>,
    /// How long a write waits while another program writes to the file.
    patience: Duration,
}

pub enum Work {
    Commit(TransactionRows),
    Renew {
        call: CallId,
        epoch: u64,
        lease: String,
        due: i64,
    },
    Acknowledge {
        call: CallId,
    },
    /// Sets a pragma of the connection, for tests.
    #[cfg(feature = "conformance")]
    Pragma(&'static str, i64),
}

struct QueuedWork {
    work: Work,
    answer: oneshot::Sender<Result<(), CommitError>>,
}

impl Writer {
    pub fn start(
        name: &JournalFile,
        connection: Connection,
        changes: Arc<Changes>,
    ) -> Result<Self, StoreError> {
        let (sender, receiver) = channel();
        let shared = Arc::new(WriterState {
            name: name.clone(),
            held: Mutex::new(WriteConnection {
                connection,
                seen: Cell::new(None),
                patience: PATIENCE,
            }),
            waiting: AtomicUsize::new(0),
            is_quick: AtomicBool::new(false),
            changes,
        });
        let threads = Arc::clone(&shared);
        thread::Builder::new()
            .name("toolwright-journal-writer".to_owned())
            .spawn(move || threads.run(&receiver))
            .map_err(|error| {
                name.says(
                    StoreErrorKind::Unavailable,
                    format_args!("has no thread to write it: {error}"),
                )
                .with_source(error)
            })?;
        Ok(Self { sender, shared })
    }

    /// Performs the work and commits it durably, even if the caller stops waiting.
    pub async fn does(&self, work: Work) -> Result<(), CommitError> {
        let _waiting = Waiting::among(&self.shared.waiting);
        let mut offered = OfferedWork { writer: self, work: Some(work) };
        if self.shared.is_quick.load(Ordering::Relaxed) && self.shared.is_one() {
            // Lets other tasks queue their writes, so that all of them wait for the disk together.
            yield_now().await;
            if let Some(done) = offered.work.as_ref().and_then(|work| self.shared.here(work)) {
                offered.work = None;
                return done;
            }
        }
        let answered = offered.send_work().await;
        answered.unwrap_or_else(|_| {
            let words = "can no longer be written: its thread has ended";
            Err(self.shared.name.says(StoreErrorKind::Unavailable, words).into())
        })
    }
}

/// Work that the writer's thread performs unless the caller performs it first, even if the caller no longer waits.
struct OfferedWork<'w> {
    writer: &'w Writer,
    work: Option<Work>,
}

impl OfferedWork<'_> {
    fn send_work(&mut self) -> oneshot::Receiver<Result<(), CommitError>> {
        let (answer, answered) = oneshot::channel();
        if let Some(work) = self.work.take() {
            // If the thread has ended, no answer arrives, which the caller reports as an error.
            let _ = self.writer.sender.send(QueuedWork { work, answer });
        }
        answered
    }
}

impl Drop for OfferedWork<'_> {
    fn drop(&mut self) {
        drop(self.send_work());
    }
}

/// Raises the number of waiting callers by one, as long as this value exists.
struct Waiting<'w>(&'w AtomicUsize);

impl<'w> Waiting<'w> {
    fn among(waiting: &'w AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl WriterState {
    /// Whether only one caller waits, so that its work need not be combined with other work.
    fn is_one(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) == 1
    }

    /// Does the work on the caller's thread. Returns `None` if the work would have to wait for other work or another
    /// program, or other work for this work.
    fn here(&self, work: &Work) -> Option<Result<(), CommitError>> {
        #[cfg(feature = "conformance")]
        if let Work::Pragma(..) = work {
            return None;
        }
        if !self.is_one() {
            return None;
        }
        let held = self.held.try_lock().ok()?;
        let mut statements = Statements::of(&held.connection, &held.seen, self.name.clone());
        let done = match self.begun_at_once(&held, &mut statements) {
            Ok(true) => self.finish(&mut statements, work),
            Ok(false) => return None,
            Err(error) => Err(error.into()),
        };
        self.changes.notify();
        Some(done)
    }

    /// Begins a transaction. Returns `false` at once if another program is writing.
    fn begun_at_once(
        &self,
        held: &WriteConnection,
        statements: &mut Statements<'_>,
    ) -> Result<bool, StoreError> {
        held.waits(Duration::ZERO, &self.name)?;
        let begun = statements.begin_at_once();
        held.waits(held.patience, &self.name)?;
        begun
    }

    /// Runs the thread.
    fn run(&self, accepted: &Receiver<QueuedWork>) {
        while let Ok(first) = accepted.recv() {
            let Ok(mut held) = self.held.lock() else { return };
            #[cfg(feature = "conformance")]
            if let Work::Pragma(setting, value) = first.work {
                let set = held.set(setting, value);
                first.answers(set.map_err(|error| self.name.failure("be set up", error).into()));
                continue;
            }
            let held = &mut *held;
            let mut statements = Statements::of(&held.connection, &held.seen, self.name.clone());
            let mut group = vec![first];
            match self.together(&mut statements, &mut group, accepted) {
                Ok(results) => {
                    self.changes.notify();
                    group.into_iter().zip(results).for_each(|(it, result)| it.answers(result));
                }
                Err(GroupFailure::Whole(error)) => {
                    group.into_iter().for_each(|it| it.answers(Err(error.clone().into())));
                }
                Err(GroupFailure::ByOne) => {
                    for it in group {
                        let result = self.alone(&mut statements, &it.work);
                        self.changes.notify();
                        it.answers(result);
                    }
                }
            }
        }
    }

    /// Commits a group of writes together, including writes that arrive in the meantime. Returns the results in the
    /// group's order.
    fn together(
        &self,
        statements: &mut Statements<'_>,
        group: &mut Vec<QueuedWork>,
        accepted: &Receiver<QueuedWork>,
    ) -> Result<Vec<Result<(), CommitError>>, GroupFailure> {
        group.extend(accepted.try_iter().take(GROUP - group.len()));
        statements.begin().map_err(GroupFailure::Whole)?;
        let mut results = Vec::with_capacity(group.len());
        while let Some(next) = group.get(results.len()) {
            match in_group(statements, &next.work) {
                Err(CommitError::Store(error)) => {
                    statements.rollback();
                    return Err(if group.len() == 1 {
                        GroupFailure::Whole(error)
                    } else {
                        GroupFailure::ByOne
                    });
                }
                result => results.push(result),
            }
            if results.len() == group.len() {
                group.extend(accepted.try_iter().take(GROUP - group.len()));
            }
        }
        self.commit(statements).map_err(GroupFailure::Whole)?;
        Ok(results)
    }

    fn alone(&self, statements: &mut Statements<'_>, work: &Work) -> Result<(), CommitError> {
        statements.begin()?;
        self.finish(statements, work)
    }

    /// Performs the work in a transaction that has begun, and commits it.
    fn finish(&self, statements: &mut Statements<'_>, work: &Work) -> Result<(), CommitError> {
        perform(statements, work).inspect_err(|_| statements.rollback())?;
        Ok(self.commit(statements)?)
    }

    /// Commits, and notes how long the disk took.
    fn commit(&self, statements: &mut Statements<'_>) -> Result<(), StoreError> {
        let start = Instant::now();
        let committed = statements.commit().inspect_err(|_| statements.rollback());
        self.is_quick.store(start.elapsed() <= QUICK, Ordering::Relaxed);
        committed
    }
}

impl WriteConnection {
    /// Sets how long SQLite waits while another program writes to the file.
    fn waits(&self, patience: Duration, name: &JournalFile) -> Result<(), StoreError> {
        let set = self.connection.busy_timeout(patience);
        set.map_err(|error| name.failure("be written", error))
    }

    #[cfg(feature = "conformance")]
    fn set(&mut self, setting: &'static str, value: i64) -> rusqlite::Result<()> {
        self.connection.pragma_update(None, setting, value)?;
        let patience = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        let patience = self.connection.pragma_query_value(None, "busy_timeout", patience)?;
        self.patience = Duration::from_millis(patience.unsigned_abs());
        Ok(())
    }
}

/// Why a group was not committed.
enum GroupFailure {
    /// No write of the group can be committed.
    Whole(StoreError),
    /// One write of the group may have caused the failure, for example because it is too large for the disk. So each
    /// write is tried alone.
    ByOne,
}

fn in_group(statements: &mut Statements<'_>, work: &Work) -> Result<(), CommitError> {
    match work {
        // A conflict in a transaction with one write leaves nothing to undo.
        Work::Commit(unit) if unit.writes() > 1 => {
            statements.within(|statements| statements.write(unit))
        }
        work => perform(statements, work),
    }
}

fn perform(statements: &mut Statements<'_>, work: &Work) -> Result<(), CommitError> {
    match work {
        Work::Commit(unit) => statements.write(unit),
        Work::Renew { call, epoch, lease, due } => statements.renew(*call, *epoch, lease, *due),
        Work::Acknowledge { call } => statements.acknowledge(*call),
        #[cfg(feature = "conformance")]
        Work::Pragma(..) => Ok(()),
    }
}

impl QueuedWork {
    fn answers(self, result: Result<(), CommitError>) {
        // The caller may have stopped waiting; the result of its write is in the file.
        let _ = self.answer.send(result);
    }
}
