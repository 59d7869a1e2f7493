//! SQLite with the journal's settings and nothing else: the journal's rows in its own tables, or one text for each
//! commit in a table without an index.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rusqlite::types::Value;
use rusqlite::{Connection, Statement, params_from_iter};
use tokio::sync::oneshot;

fn open(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", 4_000)?;
    connection.execute_batch(include_str!("../../../runtime/stores/sqlite/src/sqlite/1.sql"))?;
    connection.execute_batch(include_str!("../../../runtime/stores/sqlite/src/sqlite/2.sql"))?;
    connection
        .execute_batch("CREATE TABLE kept (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT")?;
    Ok(connection)
}

/// What a commit writes.
#[derive(Clone)]
pub enum Written {
    /// One text.
    Text(String),
    /// A new call: its columns, and those of its entries.
    New(Vec<Value>, Vec<Vec<Value>>),
    /// The changed columns: `state`, `version`, `epoch`, `due`, `lease`, `body`, `id`, and the columns of new
    /// entries.
    Changed(Vec<Value>, Vec<Vec<Value>>),
}

struct Statements<'c> {
    begin: Statement<'c>,
    text: Statement<'c>,
    new: Statement<'c>,
    changed: Statement<'c>,
    entry: Statement<'c>,
    commit: Statement<'c>,
}

impl<'c> Statements<'c> {
    fn of(connection: &'c Connection) -> Result<Self> {
        Ok(Self {
            begin: connection.prepare("BEGIN IMMEDIATE")?,
            text: connection.prepare("INSERT INTO kept (text) VALUES (?1)")?,
            new: connection.prepare(
                "INSERT INTO calls (id, run, turn, idx, tool, digest, created, state, version, epoch, due, \
                 delivered, lease, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            )?,
            changed: connection.prepare(
                "UPDATE calls SET state = ?1, version = ?2, epoch = ?3, due = ?4, lease = ?5, body = ?6 WHERE id = ?7",
            )?,
            entry: connection.prepare("INSERT INTO events (call, number, body) VALUES (?1, ?2, ?3)")?,
            commit: connection.prepare("COMMIT")?,
        })
    }

    fn write(&mut self, written: &Written) -> Result<()> {
        let entries = match written {
            Written::Text(text) => return Ok(self.text.execute([text]).map(|_| ())?),
            Written::New(row, entries) => {
                self.new.execute(params_from_iter(row))?;
                entries
            }
            Written::Changed(row, entries) => {
                self.changed.execute(params_from_iter(row))?;
                entries
            }
        };
        for entry in entries {
            self.entry.execute(params_from_iter(entry))?;
        }
        Ok(())
    }
}

/// Commits on the caller's own thread.
pub struct Alone(Connection);

impl Alone {
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self(open(path)?))
    }

    /// Commits these one after the other, and returns the time.
    pub fn commits(&self, all: &[Written]) -> Result<Duration> {
        let mut statements = Statements::of(&self.0)?;
        let start = Instant::now();
        for written in all {
            statements.begin.execute([])?;
            statements.write(written)?;
            statements.commit.execute([])?;
        }
        Ok(start.elapsed())
    }
}

/// Commits on a thread that puts whatever waits into one transaction.
#[derive(Clone)]
pub struct Grouped(Sender<Waiting>);

type Waiting = (Written, oneshot::Sender<()>);

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

    pub async fn commit(&self, written: Written) -> Result<()> {
        let (answer, answered) = oneshot::channel();
        self.0.send((written, answer)).ok().context("the bare writer has ended")?;
        Ok(answered.await?)
    }
}

fn write(connection: &Connection, receiver: &Receiver<Waiting>) -> Result<()> {
    let mut statements = Statements::of(connection)?;
    while let Ok(first) = receiver.recv() {
        statements.begin.execute([])?;
        let mut group = vec![first];
        let mut done = 0;
        while done < group.len() {
            statements.write(&group[done].0)?;
            done += 1;
            if done == group.len() {
                group.extend(receiver.try_iter().take(256 - done));
            }
        }
        statements.commit.execute([])?;
        for (_, answer) in group {
            let _ = answer.send(());
        }
    }
    Ok(())
}
