//! A store around the one under test. It kills the process at commits, and records what the store promised the
//! application.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use toolwright::CallId;
use toolwright::journal::{CommitError, State, Store, StoreError, Transaction};

use crate::deadly::Deadly;
use crate::line;
use crate::point::{Change, Point};

/// A promise of the store to an application.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Told {
    /// When the store made the promise.
    pub at: Timestamp,
    /// The life of the application.
    pub life: u32,
    /// The promise.
    pub what: Promise,
}

/// What a store promises by reporting success.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Promise {
    /// A change of a call is durable.
    Committed {
        /// The call.
        call: CallId,
        /// The version of the call.
        version: u64,
        /// The state of the call.
        state: State,
        /// Until when the owner of the call may run it.
        lease: Option<Timestamp>,
    },
    /// A lease holds until a time.
    Renewed {
        /// The call.
        call: CallId,
        /// The epoch of the lease.
        epoch: u64,
        /// The end of the lease.
        until: Timestamp,
    },
}

/// The store around the one under test.
pub struct Watched {
    inner: Arc<dyn Store>,
    deadly: Deadly,
    told: File,
    life: u32,
}

impl Watched {
    /// Wraps a store; its promises are recorded in the folder.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn new(
        inner: Arc<dyn Store>,
        deadly: Deadly,
        folder: &Path,
        life: u32,
    ) -> io::Result<Self> {
        let told = OpenOptions::new().append(true).create(true).open(path(folder))?;
        Ok(Self { inner, deadly, told, life })
    }

    /// Records promises. A killed process loses nothing that it has written to a file, so this does not wait for the
    /// disk.
    fn tell(&self, promises: Vec<Promise>) -> Result<(), StoreError> {
        let Self { life, .. } = *self;
        for what in promises {
            let told = Told { at: Timestamp::now(), life, what };
            line::of(&told)
                .map_err(io::Error::from)
                .and_then(|line| (&self.told).write_all(line.as_bytes()))
                .map_err(|error| {
                    StoreError::unavailable(format!("the harness cannot note it: {error}"))
                })?;
        }
        Ok(())
    }
}

fn path(folder: &Path) -> std::path::PathBuf {
    folder.join("told")
}

/// Returns all promises to the applications of a folder.
///
/// # Errors
/// When it cannot be read.
pub fn read(folder: &Path) -> io::Result<Vec<Told>> {
    crate::marks::lines(&path(folder))
}

impl Store for Watched {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        let change = Change::of(&unit);
        let promises = unit.calls.iter().map(|write| Promise::Committed {
            call: write.record.id,
            version: write.record.version,
            state: write.record.state,
            lease: write.record.lease,
        });
        let promises = promises.collect();
        Box::pin(async move {
            change.into_iter().for_each(|change| self.deadly.reached(Point::Before(change)));
            self.inner.commit(unit, now).await?;
            change.into_iter().for_each(|change| self.deadly.reached(Point::After(change)));
            Ok(self.tell(promises)?)
        })
    }

    fn renew<'a>(
        &'a self,
        call: CallId,
        epoch: u64,
        until: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        Box::pin(async move {
            self.deadly.reached(Point::BeforeRenewal);
            self.inner.renew(call, epoch, until).await?;
            self.deadly.reached(Point::AfterRenewal);
            Ok(self.tell(vec![Promise::Renewed { call, epoch, until }])?)
        })
    }

    fn acknowledge<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<(), CommitError>> {
        Box::pin(async move {
            self.deadly.reached(Point::Before(Change::Delivered));
            self.inner.acknowledge(call).await?;
            self.deadly.reached(Point::After(Change::Delivered));
            Ok(())
        })
    }

    toolwright::pass_on_questions!(inner);
}
