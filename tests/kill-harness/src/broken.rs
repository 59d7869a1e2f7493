//! A store that breaks one promise, to test whether the checker finds it.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use toolwright::CallId;
use toolwright::journal::{CallWrite, CommitError, Failure, State, Store, Transaction, Transition};

/// The promise that the store breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Break {
    /// The store accepts the result of an owner that has lost its lease, and renews that lease.
    Fence,
    /// The store reports the commit that begins a call before that commit is durable. The call's result makes it
    /// durable.
    WriteAhead,
    /// The store accepts a commit whatever version the call has.
    Cas,
    /// The store reports that leases are renewed, and does not renew them.
    Renew,
    /// It accepts a supplied result for a call that has its result.
    Supply,
}

impl Break {
    /// Every promise.
    pub const ALL: [Self; 5] =
        [Self::Fence, Self::WriteAhead, Self::Cas, Self::Renew, Self::Supply];

    /// Returns how many processes are needed to notice that the promise is broken.
    #[must_use]
    pub fn processes(self) -> usize {
        match self {
            Self::WriteAhead | Self::Supply => 1,
            Self::Fence | Self::Cas | Self::Renew => 2,
        }
    }
}

impl fmt::Display for Break {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Fence => "fence",
            Self::WriteAhead => "write-ahead",
            Self::Cas => "cas",
            Self::Renew => "renew",
            Self::Supply => "supply",
        })
    }
}

impl FromStr for Break {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|it| it.to_string() == text);
        known.ok_or_else(|| {
            format!(
                "`{text}` is not a promise that can be broken: `fence`, `write-ahead`, `cas`, `renew`, `supply`"
            )
        })
    }
}

/// The store around the one under test.
pub struct Broken {
    inner: Arc<dyn Store>,
    promise: Break,
    /// The transactions that were reported and are not durable.
    held: Mutex<HashMap<CallId, Transaction>>,
}

impl Broken {
    /// Wraps a store.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>, promise: Break) -> Self {
        Self { inner, promise, held: Mutex::default() }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<CallId, Transaction>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Commits on top of the present version, whatever it is.
    async fn on_top(&self, mut unit: Transaction, now: Timestamp) -> Result<(), CommitError> {
        loop {
            match self.inner.commit(unit.clone(), now).await {
                Err(CommitError::Call { call, found: Some(found), .. }) => {
                    for write in unit.calls.iter_mut().filter(|write| write.record.id == call) {
                        rebase(write, found);
                    }
                }
                ended => return ended,
            }
        }
    }

    /// Holds back the beginning of a call until its next commit.
    async fn late(&self, unit: Transaction, now: Timestamp) -> Result<(), CommitError> {
        let Some(write) = unit.calls.first() else { return self.inner.commit(unit, now).await };
        let (call, expects) = (write.record.id, write.expects);
        if write.record.state == State::Running {
            if let Some(found) = self.held().get(&call).map(|it| it.calls[0].record.version) {
                return Err(CommitError::Call { call, expected: expects, found: Some(found) });
            }
            self.held().insert(call, unit);
            return Ok(());
        }
        let held = self.held().remove(&call);
        if let Some(held) = held {
            self.inner.commit(held, now).await?;
        }
        self.inner.commit(unit, now).await
    }
}

fn rebase(write: &mut CallWrite, found: u64) {
    let expected = write.expects.unwrap_or_default();
    let moved = |number: u64| number - expected + found;
    write.expects = Some(found);
    write.record.version = moved(write.record.version);
    for entry in &mut write.entries {
        entry.number = moved(entry.number);
    }
}

/// Returns whether the owner of a call reports how it ended.
fn is_result(unit: &Transaction) -> bool {
    let events = unit.calls.iter().flat_map(|write| &write.entries).map(|entry| entry.event);
    let is_one = |event| match event {
        Some(Transition::Succeeded) => true,
        Some(Transition::Errored { failure, .. }) => failure != Failure::OwnerLost,
        _ => false,
    };
    events.into_iter().any(is_one)
}

/// Returns whether the result of a call that was handed over is supplied.
fn is_supplied(unit: &Transaction) -> bool {
    let mut events = unit.calls.iter().flat_map(|write| &write.entries).map(|entry| entry.event);
    events.any(|event| matches!(event, Some(Transition::Supplied | Transition::Declined)))
}

impl Store for Broken {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        Box::pin(async move {
            match self.promise {
                Break::Cas => self.on_top(unit, now).await,
                Break::Fence if is_result(&unit) => self.on_top(unit, now).await,
                Break::WriteAhead => self.late(unit, now).await,
                Break::Supply if is_supplied(&unit) => self.on_top(unit, now).await,
                Break::Fence | Break::Renew | Break::Supply => self.inner.commit(unit, now).await,
            }
        })
    }

    fn renew<'a>(
        &'a self,
        call: CallId,
        epoch: u64,
        until: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        Box::pin(async move {
            match self.promise {
                Break::Renew => Ok(()),
                Break::WriteAhead if self.held().contains_key(&call) => Ok(()),
                Break::Fence => match self.inner.renew(call, epoch, until).await {
                    Err(CommitError::Fenced { .. }) => Ok(()),
                    ended => ended,
                },
                Break::WriteAhead | Break::Cas | Break::Supply => {
                    self.inner.renew(call, epoch, until).await
                }
            }
        })
    }

    fn acknowledge<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<(), CommitError>> {
        self.inner.acknowledge(call)
    }

    toolwright::pass_on_questions!(inner);
}
