//! The one thread that writes. It commits what waits in groups, so that many callers share one wait for the disk.
//!
//! - Each unit is undone by itself when it conflicts; the others of its group stand.
//! - A unit is answered after its commit is durable, or after it is sure that there will be none.
//! - The thread ends when no store is left that could send it something, and everything sent has been answered.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::failure::Named;
use super::row::UnitRows;
use super::statements::Statements;
use super::watcher::Changes;
use crate::context::CallId;
use crate::journal::{CommitError, StoreError};

/// How many units share a commit at most, so that the first of them does not wait for ever.
const GROUP: usize = 256;

/// The way to the thread.
#[derive(Clone)]
pub struct Writer {
    name: Named,
    sender: Sender<Accepted>,
}

pub enum Work {
    Commit(UnitRows),
    Renew {
        call: CallId,
        epoch: u64,
        lease: String,
        due: i64,
    },
    /// A setting of the connection, for tests.
    #[cfg(feature = "conformance")]
    Pragma(&'static str, i64),
}

struct Accepted {
    work: Work,
    answer: oneshot::Sender<Result<(), CommitError>>,
}

impl Writer {
    pub fn start(
        name: &Named,
        connection: Connection,
        changes: Arc<Changes>,
    ) -> Result<Self, StoreError> {
        let (sender, receiver) = channel();
        let named = name.clone();
        thread::Builder::new()
            .name("toolwright-journal-writer".to_owned())
            .spawn(move || run(&named, &connection, &receiver, &changes))
            .map_err(|error| name.says(format_args!("has no thread to write it: {error}")))?;
        Ok(Self { name: name.clone(), sender })
    }

    /// Does the work, durably, whether or not anybody still waits for it.
    pub async fn does(&self, work: Work) -> Result<(), CommitError> {
        let ended =
            || CommitError::Store(self.name.says("is not written any more: its thread ended"));
        let (answer, answered) = oneshot::channel();
        self.sender.send(Accepted { work, answer }).map_err(|_| ended())?;
        answered.await.map_err(|_| ended())?
    }
}

fn run(name: &Named, connection: &Connection, accepted: &Receiver<Accepted>, changes: &Changes) {
    let mut statements = match Statements::prepare(connection, name.clone()) {
        Ok(statements) => statements,
        Err(error) => {
            accepted.iter().for_each(|it| it.answers(Err(error.clone().into())));
            return;
        }
    };
    while let Ok(first) = accepted.recv() {
        #[cfg(feature = "conformance")]
        if let Work::Pragma(setting, value) = first.work {
            let set = connection.pragma_update(None, setting, value);
            first.answers(set.map_err(|error| name.failed("be set up", &error).into()));
            continue;
        }
        let mut group = vec![first];
        match together(&mut statements, &mut group, accepted) {
            Ok(results) => {
                changes.notify();
                group.into_iter().zip(results).for_each(|(it, result)| it.answers(result));
            }
            Err(Broken::Whole(error)) => {
                group.into_iter().for_each(|it| it.answers(Err(error.clone().into())));
            }
            Err(Broken::ByOne) => {
                for it in group {
                    let result = alone(&mut statements, &it.work);
                    changes.notify();
                    it.answers(result);
                }
            }
        }
    }
}

/// Why a group was not committed.
enum Broken {
    /// Because none can be.
    Whole(StoreError),
    /// Perhaps because of one of them, such as one that is too large for the disk.
    ByOne,
}

/// Does a group in one commit, to which is added what arrives meanwhile; the outcomes in the group's order.
fn together(
    statements: &mut Statements<'_>,
    group: &mut Vec<Accepted>,
    accepted: &Receiver<Accepted>,
) -> Result<Vec<Result<(), CommitError>>, Broken> {
    group.extend(accepted.try_iter().take(GROUP - group.len()));
    statements.begin().map_err(Broken::Whole)?;
    let mut results = Vec::with_capacity(group.len());
    while let Some(next) = group.get(results.len()) {
        match in_group(statements, &next.work) {
            Err(CommitError::Store(error)) => {
                statements.rollback();
                return Err(if group.len() == 1 { Broken::Whole(error) } else { Broken::ByOne });
            }
            result => results.push(result),
        }
        if results.len() == group.len() {
            group.extend(accepted.try_iter().take(GROUP - group.len()));
        }
    }
    let committed = statements.commit().inspect_err(|_| statements.rollback());
    committed.map_err(Broken::Whole)?;
    Ok(results)
}

fn in_group(statements: &mut Statements<'_>, work: &Work) -> Result<(), CommitError> {
    match work {
        // Of a single write nothing is left to undo when it conflicts.
        Work::Commit(unit) if unit.writes() > 1 => {
            statements.within(|statements| statements.write(unit))
        }
        work => done(statements, work),
    }
}

fn alone(statements: &mut Statements<'_>, work: &Work) -> Result<(), CommitError> {
    statements.begin()?;
    done(statements, work).inspect_err(|_| statements.rollback())?;
    Ok(statements.commit().inspect_err(|_| statements.rollback())?)
}

fn done(statements: &mut Statements<'_>, work: &Work) -> Result<(), CommitError> {
    match work {
        Work::Commit(unit) => statements.write(unit),
        Work::Renew { call, epoch, lease, due } => statements.renew(*call, *epoch, lease, *due),
        #[cfg(feature = "conformance")]
        Work::Pragma(..) => Ok(()),
    }
}

impl Accepted {
    fn answers(self, result: Result<(), CommitError>) {
        // Whoever asked may have gone; what was done stands.
        let _ = self.answer.send(result);
    }
}
