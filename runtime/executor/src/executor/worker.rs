//! Processes the calls that are due in a journal. Only an executor with a journal has a worker.

use std::fmt;
use std::sync::Arc;

use crate::call::{CallFailure, Outcome, RunState};
use crate::lifecycle::{Lifecycle, Swept};
use toolwright_core::context::CallId;

/// A worker, which carries out the calls that wait in a journal: approved calls, expired deadlines, retries, and calls
/// whose process has ended. [`Executor::worker`](crate::executor::Executor::worker) makes a worker for all calls of the
/// journal, and [`Run::worker`](crate::executor::Run::worker) makes one for the calls of that run. Both return `None`
/// if there is no journal. Cloning is cheap.
///
/// ```
/// use toolwright::journal::{Journal, MemoryStore};
/// use toolwright::{Call, Executor, OnNoApprover, Registry, tool};
///
/// /// Refunds an order.
/// #[tool(effect = once, approval = "it sends money")]
/// async fn refund() {}
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let builder = Executor::builder(Registry::of([REFUND])?).unrestricted();
/// let executor = builder.journal(Journal::new(MemoryStore::new()).on_no_approver(OnNoApprover::Park)).build()?;
/// let run = executor.run("ticket-7").user("bob").start()?;
/// let outcome = run.submit(&Call::new("refund", "{}")).await;
/// let waits = outcome.suspended().ok_or("a refund has to be approved")?;
///
/// let worker = executor.worker().ok_or("the executor has no journal")?;
/// assert!(worker.resume(waits.call).await.suspended().is_some(), "it still waits for a person");
/// assert_eq!(worker.end_run("ticket-7").await?, 1);
/// let answer = worker.wait(waits.call).await.answer().ok_or("it has no answer")?;
/// assert_eq!(answer.error().map(|error| error.kind()), Some("cancelled"));
/// worker.acknowledge(waits.call).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Worker {
    state: Arc<RunState>,
}

impl Worker {
    pub(super) fn of(state: &Arc<RunState>) -> Option<Self> {
        Lifecycle::of(state).map(|_| Self { state: Arc::clone(state) })
    }

    fn lifecycle(&self) -> Lifecycle<'_> {
        Lifecycle::of(&self.state).expect("a worker is made only where there is a journal")
    }

    /// [Sweeps](Self::sweep) the journal at once, and again whenever something may be due, until the executor is
    /// drained. Spawn this future as a task. Any number of workers, in any number of processes, may work on one
    /// journal. Failures of the journal are traced, and the worker tries again.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use toolwright::journal::{Journal, MemoryStore};
    /// use toolwright::{Executor, OnNoApprover, Registry};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let builder = Executor::builder(Registry::empty());
    /// let executor = builder.journal(Journal::new(MemoryStore::new()).on_no_approver(OnNoApprover::Park)).build()?;
    /// let worker = executor.worker().ok_or("the executor has no journal")?;
    /// let working = tokio::spawn(async move { worker.work().await });
    /// // …
    /// let _ = executor.drain(Duration::from_secs(30)).await;
    /// working.await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn work(&self) {
        self.lifecycle().work().await;
    }

    /// Finds everything that is due in the journal, once, and processes it: expired deadlines, lost owners, decided
    /// calls, and approvers to notify.
    ///
    /// # Errors
    /// When the journal fails.
    pub async fn sweep(&self) -> Result<Swept, CallFailure> {
        self.lifecycle().sweep().await
    }

    /// Continues a suspended call: runs the call if it may run now, and returns its outcome. A call that still waits is
    /// returned as suspended. If several workers resume a call at the same time, only one of them runs it.
    pub async fn resume(&self, call: CallId) -> Outcome {
        self.lifecycle().resume(call).await
    }

    /// Waits until a call has its answer, and carries the call out as soon as it may run. Returns a
    /// [`SuspendedCall`](crate::executor::SuspendedCall) if it is unknown whether the call happened, because only a
    /// person or the call's tool can find that out. Returns one as well if the executor shuts down.
    pub async fn wait(&self, call: CallId) -> Outcome {
        self.lifecycle().wait(call, None).await
    }

    /// Cancels a call that is not running, because its caller does not need it any more. Returns the outcome of the
    /// call. A call that was handed over is cancelled too, although it may be carried out nevertheless. A running call
    /// continues, and an answered call keeps its answer.
    ///
    /// ```
    /// use toolwright::journal::{Journal, MemoryStore, State};
    /// use toolwright::{Call, Executor, OnNoApprover, Registry, tool};
    ///
    /// /// Deletes everything.
    /// #[tool(effect = idempotent, danger = critical, writes())]
    /// async fn delete_all() {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let journal = Journal::new(MemoryStore::new()).on_no_approver(OnNoApprover::Park);
    /// let executor = Executor::builder(Registry::of([DELETE_ALL])?).journal(journal).build()?;
    /// let run = executor.run("ticket-7").start()?;
    /// let call = run.submit(&Call::new("delete_all", "{}")).await.suspended().ok_or("it waits")?.call;
    /// let worker = executor.worker().ok_or("there is a journal")?;
    /// let answer = worker.cancel(call).await.answer().ok_or("it is answered")?;
    /// assert_eq!(answer.error().map(|error| error.kind()), Some("cancelled"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn cancel(&self, call: CallId) -> Outcome {
        self.lifecycle().cancel(call).await
    }

    /// Records that the run has received the answer of a call, so that the call is no longer listed as undelivered. A
    /// call of an accepted plan may still run after that.
    ///
    /// # Errors
    /// When the journal does not know the call, the call has no answer yet, or the journal fails.
    pub async fn acknowledge(&self, call: CallId) -> Result<(), CallFailure> {
        self.lifecycle().acknowledge(call).await
    }

    /// Ends a run: cancels its calls that are not running, and prevents further calls from being recorded. Reads that
    /// the journal does not record are still possible. Returns how many calls were cancelled.
    ///
    /// # Errors
    /// When the journal fails.
    pub async fn end_run(&self, run: &str) -> Result<usize, CallFailure> {
        self.lifecycle().end_run(run).await
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let run = self.state.is_own().then(|| self.state.id());
        formatter.debug_struct("Worker").field("run", &run).finish_non_exhaustive()
    }
}
