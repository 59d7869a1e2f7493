//! The threads that read, each on its own connection, so that no reader waits for the writer or blocks a runtime.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rusqlite::{Connection, Params, Row, Statement};
use tokio::sync::oneshot;

use super::failure::JournalFile;
use toolwright_journal::journal::{StoreError, StoreErrorKind};

/// The maximum number of reads at the same time.
pub const READERS: usize = 2;

/// The maximum number of prepared statements that a reader caches.
const PREPARED: usize = 64;

/// The sender of queries to the reading threads.
#[derive(Clone)]
pub struct Readers {
    name: JournalFile,
    sender: Sender<Job>,
}

type Job = Box<dyn for<'c> FnOnce(&mut Reading<'c>) + Send>;

/// The connection of a reading thread, with its prepared statements and the name of the file.
pub struct Reading<'c> {
    pub name: JournalFile,
    connection: &'c Connection,
    prepared: HashMap<String, Statement<'c>>,
}

impl Readers {
    pub fn start(name: &JournalFile, connections: Vec<Connection>) -> Result<Self, StoreError> {
        let (sender, receiver) = channel::<Job>();
        let jobs = Arc::new(Mutex::new(receiver));
        for connection in connections {
            let (named, jobs) = (name.clone(), Arc::clone(&jobs));
            thread::Builder::new()
                .name("toolwright-journal-reader".to_owned())
                .spawn(move || run(named, &connection, &jobs))
                .map_err(|error| {
                    name.says(
                        StoreErrorKind::Unavailable,
                        format_args!("has no thread to read it: {error}"),
                    )
                    .with_source(error)
                })?;
        }
        Ok(Self { name: name.clone(), sender })
    }

    pub async fn read<T: Send + 'static>(
        &self,
        work: impl for<'c> FnOnce(&mut Reading<'c>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let ended = || {
            self.name
                .says(StoreErrorKind::Unavailable, "can no longer be read: its threads have ended")
        };
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |reading| {
            // The caller may no longer wait for the answer.
            let _ = answer.send(reading.name.refuse_replaced().and_then(|()| work(reading)));
        });
        self.sender.send(job).map_err(|_| ended())?;
        answered.await.map_err(|_| ended())?
    }
}

fn run(name: JournalFile, connection: &Connection, jobs: &Mutex<Receiver<Job>>) {
    let mut reading = Reading { name, connection, prepared: HashMap::new() };
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match job {
            Ok(job) => job(&mut reading),
            Err(_) => return,
        }
    }
}

impl Reading<'_> {
    /// Passes each row to `each`, until `each` needs no more rows.
    pub fn rows(
        &mut self,
        sql: &str,
        values: impl Params,
        mut each: impl FnMut(&JournalFile, &Row<'_>) -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        let name = &self.name;
        let failed = |error: rusqlite::Error| name.failure("be read", error);
        if !self.prepared.contains_key(sql) {
            if self.prepared.len() == PREPARED {
                self.prepared.clear();
            }
            let statement = self.connection.prepare(sql).map_err(failed)?;
            self.prepared.insert(sql.to_owned(), statement);
        }
        let Some(statement) = self.prepared.get_mut(sql) else { return Ok(()) };
        let mut rows = statement.query(values).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            if !each(name, row)? {
                break;
            }
        }
        Ok(())
    }
}
