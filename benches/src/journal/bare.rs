//! SQLite with the journal's settings and nothing else.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rusqlite::Connection;
use tokio::sync::oneshot;

fn open(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", 4_000)?;
    connection
        .execute_batch("CREATE TABLE kept (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT")?;
    Ok(connection)
}

/// On the caller's own thread.
pub struct Alone(Connection);

impl Alone {
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self(open(path)?))
    }

    /// How long it takes to commit these, one after the other.
    pub fn commits(&self, texts: &[String]) -> Result<Duration> {
        let mut begin = self.0.prepare("BEGIN IMMEDIATE")?;
        let mut insert = self.0.prepare("INSERT INTO kept (text) VALUES (?1)")?;
        let mut commit = self.0.prepare("COMMIT")?;
        let start = Instant::now();
        for text in texts {
            begin.execute([])?;
            insert.execute([text])?;
            commit.execute([])?;
        }
        Ok(start.elapsed())
    }
}

/// On a thread that commits whatever waits in one transaction.
#[derive(Clone)]
pub struct Grouped(Sender<Waiting>);

type Waiting = (String, oneshot::Sender<()>);

impl Grouped {
    pub fn open(path: &Path) -> Result<Self> {
        let connection = open(path)?;
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            if let Err(error) = write(&connection, &receiver) {
                eprintln!("the bare writer failed: {error}");
            }
        });
        Ok(Self(sender))
    }

    pub async fn commit(&self, text: String) -> Result<()> {
        let (answer, answered) = oneshot::channel();
        self.0.send((text, answer)).ok().context("the bare writer has ended")?;
        Ok(answered.await?)
    }
}

fn write(connection: &Connection, receiver: &Receiver<Waiting>) -> Result<()> {
    let mut begin = connection.prepare("BEGIN IMMEDIATE")?;
    let mut insert = connection.prepare("INSERT INTO kept (text) VALUES (?1)")?;
    let mut commit = connection.prepare("COMMIT")?;
    while let Ok(first) = receiver.recv() {
        begin.execute([])?;
        let mut group = vec![first];
        let mut done = 0;
        while done < group.len() {
            insert.execute([&group[done].0])?;
            done += 1;
            if done == group.len() {
                group.extend(receiver.try_iter().take(256 - done));
            }
        }
        commit.execute([])?;
        for (_, answer) in group {
            let _ = answer.send(());
        }
    }
    Ok(())
}
