//! Notifies waiting callers of commits: immediately if this process made them, and after a short time if another
//! process did.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::watch;

use super::failure::JournalFile;
use toolwright_journal::journal::StoreError;

/// The interval at which the watcher checks for commits of other processes while a caller waits.
const PAUSE: Duration = Duration::from_millis(100);

/// The sender of notifications that the file has changed.
pub struct Changes {
    sender: watch::Sender<()>,
    ended: AtomicBool,
}

/// The watcher for commits of other processes. Its thread starts with the first caller that waits.
pub struct Watcher {
    changes: Arc<Changes>,
    looking: Mutex<Looking>,
}

enum Looking {
    /// The connection to check with, and the data version when the store was opened.
    NotYet(Option<(Connection, i64)>),
    Since(Thread),
}

impl Changes {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { sender: watch::Sender::new(()), ended: AtomicBool::new(false) })
    }

    pub fn notify(&self) {
        self.sender.send_replace(());
    }
}

impl Watcher {
    pub fn new(
        name: &JournalFile,
        connection: Connection,
        changes: Arc<Changes>,
    ) -> Result<Self, StoreError> {
        let seen = data_version(&connection).map_err(|error| name.failure("be read", error))?;
        let looking = Mutex::new(Looking::NotYet(Some((connection, seen))));
        Ok(Self { changes, looking })
    }

    /// Subscribes to commits from now on.
    pub fn listen(&self) -> watch::Receiver<()> {
        let receiver = self.changes.sender.subscribe();
        let mut looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        if let Looking::NotYet(place) = &mut *looking
            && let Some((connection, seen)) = place.take()
        {
            let changes = Arc::clone(&self.changes);
            let thread = thread::Builder::new().name("toolwright-journal-watcher".to_owned());
            // Without the thread, waiting callers are not notified of commits by other processes, but they read again
            // after a while anyway.
            if let Ok(handle) = thread.spawn(move || look(&connection, seen, &changes)) {
                *looking = Looking::Since(handle.thread().clone());
            }
        }
        looking.wake();
        receiver
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.changes.ended.store(true, Ordering::Release);
        self.looking.lock().unwrap_or_else(PoisonError::into_inner).wake();
    }
}

impl Looking {
    fn wake(&self) {
        if let Self::Since(thread) = self {
            thread.unpark();
        }
    }
}

fn look(connection: &Connection, mut last: i64, changes: &Changes) {
    while !changes.ended.load(Ordering::Acquire) {
        if changes.sender.receiver_count() == 0 {
            thread::park();
            continue;
        }
        match data_version(connection) {
            Ok(now) if now == last => {}
            Ok(now) => {
                last = now;
                changes.notify();
            }
            // The waiting caller gets the failure when it reads next.
            Err(_) => changes.notify(),
        }
        thread::park_timeout(PAUSE);
    }
}

/// Reads SQLite's `data_version`, which changes with every commit of another connection.
fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA data_version", [], |row| row.get(0))
}
