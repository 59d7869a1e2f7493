//! The settings of an executor's journal, as an application makes them: a store and its options.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::journal_config::{Clock, OnNoApprover, TraceId};
use toolwright_journal::approval::{ApproverKey, PublicKey};
use toolwright_journal::arguments::SealingKey;
use toolwright_journal::journal::Store;

/// The settings of an executor's journal: the store that records the calls, the keys that may sign decisions, and the
/// time limits. [`ExecutorBuilder::journal`](crate::executor::ExecutorBuilder::journal) takes a `Journal`, or only a
/// store if the defaults suffice.
///
/// ```
/// use std::time::Duration;
///
/// use toolwright::journal::{Journal, MemoryStore};
/// use toolwright::{Executor, OnNoApprover, Registry};
///
/// let journal = Journal::new(MemoryStore::new())
///     .on_no_approver(OnNoApprover::Park)
///     .approval_expires_after(Duration::from_secs(60 * 60));
/// let executor = Executor::builder(Registry::empty()).journal(journal).build()?;
/// assert!(executor.worker().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "an executor has the journal only after `.journal(…)`"]
pub struct Journal {
    pub(crate) store: Arc<dyn Store>,
    /// Whether the executor made the store, which is lost with the process.
    pub(crate) is_own: bool,
    pub(super) approvers: Vec<(String, PublicKey)>,
    /// Whether a key made for this process may decide about calls that outlive the process.
    pub(super) trusts_process_key: bool,
    pub(crate) on_no_approver: Option<OnNoApprover>,
    pub(crate) expires_after: Option<Duration>,
    pub(crate) lease: Option<Duration>,
    pub(crate) reads: bool,
    pub(crate) lays_failures_aside: bool,
    pub(crate) sealing: Option<SealingKey>,
    pub(super) hand_over_key: Option<ApproverKey>,
    pub(crate) project: Option<String>,
    pub(crate) clock: Option<Clock>,
    pub(super) trace_id: Option<TraceId>,
}

impl Journal {
    /// Makes the settings for a journal in this store.
    pub fn new(store: impl Store) -> Self {
        Self::shared(Arc::new(store))
    }

    /// Makes the settings for a journal in a store that other processes or executors use as well.
    pub fn shared(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            is_own: false,
            approvers: Vec::new(),
            trusts_process_key: false,
            on_no_approver: None,
            expires_after: None,
            lease: None,
            reads: false,
            lays_failures_aside: false,
            sealing: None,
            hand_over_key: None,
            project: None,
            clock: None,
            trace_id: None,
        }
    }

    /// Trusts a key, whose holder may then decide under this name. Only decisions that are signed with trusted keys are
    /// valid. An approval never creates or trusts a key. The command `toolwright keys new` makes keys.
    pub fn trust(mut self, name: impl Into<String>, key: PublicKey) -> Self {
        self.approvers.push((name.into(), key));
        self
    }

    /// Accepts an approver without a stored key ([`ask`](crate::executor::ExecutorBuilder::ask)) together with a
    /// durable journal. The approver's decisions are recorded in the journal, but are valid in this process only. After
    /// a restart, and in other processes, a person is asked again about a call that was approved and has not begun. A
    /// grant that was given with such a decision is not valid there either.
    pub fn trust_process_key(mut self) -> Self {
        self.trusts_process_key = true;
        self
    }

    /// Sets what happens to a call that needs approval if this process has no approver.
    pub fn on_no_approver(mut self, what: OnNoApprover) -> Self {
        self.on_no_approver = Some(what);
        self
    }

    /// Sets what happens to a call that needs approval if this process has no approver. Does nothing if
    /// [`on_no_approver`](Self::on_no_approver) has been called.
    pub fn or_on_no_approver(mut self, what: OnNoApprover) -> Self {
        self.on_no_approver.get_or_insert(what);
        self
    }

    /// Returns whether no trusted key has been added.
    #[must_use]
    pub fn trusts_none(&self) -> bool {
        self.approvers.is_empty()
    }

    /// Returns whether the store outlives the process.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        self.store.is_durable()
    }

    /// Returns whether the journal outlives the key that would sign the tokens of calls that are handed over.
    pub(crate) fn lacks_hand_over_key(&self) -> bool {
        self.hand_over_key.is_none() && self.is_durable()
    }

    /// Limits how long a person may take to decide; after that time, the call is answered `expired`. The default is 24
    /// hours.
    pub fn approval_expires_after(mut self, time: Duration) -> Self {
        self.expires_after = Some(time);
        self
    }

    /// Sets how long the lease of a claimed call is valid. The default is 30 seconds. The owner renews the lease three
    /// times in that time. If the lease expires because the owner's process has ended, another process continues the
    /// call, or the call becomes a dead letter if no attempt is left. A call that must not be repeated becomes
    /// indeterminate instead.
    pub fn lease(mut self, time: Duration) -> Self {
        self.lease = Some(time);
        self
    }

    /// Records reads in the journal as well, which costs each of them two commits.
    pub fn record_reads(mut self) -> Self {
        self.reads = true;
        self
    }

    /// Makes a call a dead letter also if it fails with an error of class `Invalid` or `Final` after its tool has begun
    /// in this process. Without this setting, a failed call is a dead letter only if its effect may be repeated, and no
    /// attempt is left or its error is of class `Unknown`. The run receives the same answer either way, and an operator
    /// requeues or discards the dead letter. A call that the policy, a person or a middleware refused is not a dead
    /// letter.
    pub fn dead_letter_failures(mut self) -> Self {
        self.lays_failures_aside = true;
        self
    }

    /// Sets the key that encrypts arguments with secrets in the journal. Without this key, a call with a secret is
    /// refused if it would have to wait or would be handed over.
    pub fn sealing_key(mut self, key: SealingKey) -> Self {
        self.sealing = Some(key);
        self
    }

    /// Sets the key that signs the tokens of calls that are handed over. With this key, a token stays valid after a
    /// restart, and is valid in each process that has the key. A journal that outlives the process needs such a key if
    /// calls are handed over. For any other journal, the executor makes a key if none is set. The command `toolwright
    /// keys new` makes keys. This key cannot approve calls, so it does not have to be [trusted](Self::trust).
    pub fn hand_over_key(mut self, key: ApproverKey) -> Self {
        self.hand_over_key = Some(key);
        self
    }

    /// Sets the project of the executor. Grants of scope `project` are valid for executors of the same project.
    pub fn project(mut self, name: impl Into<String>) -> Self {
        self.project = Some(name.into());
        self
    }

    /// Stores with each call the id of the trace in which the call was made, so that an operator who examines a dead
    /// letter finds what led to it. The executor calls the closure within the span of the call. The closure returns the
    /// id from the tracing library of the application.
    ///
    /// With `tracing-opentelemetry` and `opentelemetry`:
    ///
    /// ```ignore
    /// use opentelemetry::trace::TraceContextExt as _;
    /// use tracing_opentelemetry::OpenTelemetrySpanExt as _;
    ///
    /// let builder = builder.trace_id(|| {
    ///     let context = tracing::Span::current().context();
    ///     let trace = context.span().span_context().trace_id();
    ///     (trace != opentelemetry::TraceId::INVALID).then(|| trace.to_string())
    /// });
    /// ```
    pub fn trace_id(
        mut self,
        trace_id: impl Fn() -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.trace_id = Some(Box::new(trace_id));
        self
    }

    /// Sets the clock of the journal, for tests of deadlines. The default is the clock of the system.
    pub fn clock(mut self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Some(Arc::new(now));
        self
    }
}

impl<S: Store> From<S> for Journal {
    fn from(store: S) -> Self {
        Self::new(store)
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Journal")
            .field("approvers", &self.approvers.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("on_no_approver", &self.on_no_approver)
            .finish_non_exhaustive()
    }
}
