//! The store of a process that drives runs. It kills the process at commits, and breaks a promise if the trial asks for
//! it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use jiff::Timestamp;
use toolwright::CallId;
use toolwright::journal::{CommitError, Store, Transaction};

use super::point::{AgentPoint, Step};
use crate::deadly::die;

/// Kills the process when it comes to a point for the nth time.
#[derive(Clone, Default)]
pub struct Fatal(Option<Arc<(AgentPoint, AtomicU32)>>);

impl Fatal {
    pub fn at(point: AgentPoint, nth: u32) -> Self {
        Self(Some(Arc::new((point, AtomicU32::new(nth.max(1))))))
    }

    pub fn reached(&self, point: AgentPoint) {
        let Some(plan) = &self.0 else { return };
        if plan.0 == point && plan.1.fetch_sub(1, Ordering::SeqCst) == 1 {
            die();
        }
    }
}

/// The store around the one under test.
pub struct FatalStore {
    inner: Arc<dyn Store>,
    fatal: Fatal,
    /// Whether to report the model's answer before it is durable. Then the run's next commit makes the answer durable.
    is_late: bool,
    held: Mutex<Vec<Transaction>>,
}

impl FatalStore {
    pub fn new(inner: Arc<dyn Store>, fatal: Fatal, is_late: bool) -> Self {
        Self { inner, fatal, is_late, held: Mutex::default() }
    }

    /// Takes the transaction that was held back for the run of this transaction.
    fn held_of(&self, unit: &Transaction) -> Option<Transaction> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let is_its = |it: &Transaction| {
            it.documents.iter().any(|own| unit.documents.iter().any(|other| other.key == own.key))
        };
        held.iter().position(is_its).map(|at| held.remove(at))
    }
}

impl Store for FatalStore {
    fn commit<'a>(
        &'a self,
        unit: Transaction,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        let step = Step::of(&unit);
        Box::pin(async move {
            step.into_iter().for_each(|step| self.fatal.reached(AgentPoint::Before(step)));
            if self.is_late && step == Some(Step::Answer) {
                self.held.lock().unwrap_or_else(PoisonError::into_inner).push(unit);
            } else {
                if let Some(held) = self.held_of(&unit) {
                    self.inner.commit(held, now).await?;
                }
                self.inner.commit(unit, now).await?;
            }
            step.into_iter().for_each(|step| self.fatal.reached(AgentPoint::After(step)));
            Ok(())
        })
    }

    fn renew<'a>(
        &'a self,
        call: CallId,
        epoch: u64,
        until: Timestamp,
    ) -> BoxFuture<'a, Result<(), CommitError>> {
        self.inner.renew(call, epoch, until)
    }

    fn acknowledge<'a>(&'a self, call: CallId) -> BoxFuture<'a, Result<(), CommitError>> {
        Box::pin(async move {
            self.fatal.reached(AgentPoint::Before(Step::Acknowledgement));
            self.inner.acknowledge(call).await?;
            self.fatal.reached(AgentPoint::After(Step::Acknowledgement));
            Ok(())
        })
    }

    toolwright::pass_on_questions!(inner);
}
