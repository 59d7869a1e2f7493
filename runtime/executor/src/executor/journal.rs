//! The journal as an application gives it to an executor: a store, and everything that means nothing without one.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::journal_config::{Clock, OnNoApprover, TraceId};
use toolwright_journal::approval::{ApproverKey, PublicKey};
use toolwright_journal::arguments::SealingKey;
use toolwright_journal::journal::Store;

/// A journal of calls for an executor: the store that they are recorded in, who may decide about them, and for how long.
/// [`ExecutorBuilder::journal`](crate::executor::ExecutorBuilder::journal) takes one, or a store alone where nothing else is to be said.
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
    pub(super) store: Arc<dyn Store>,
    /// Whether the executor made the store, which forgets.
    pub(super) is_own: bool,
    pub(super) approvers: Vec<(String, PublicKey)>,
    /// Whether a key of the process may decide about calls that outlive it.
    pub(super) trusts_process_key: bool,
    pub(super) on_no_approver: Option<OnNoApprover>,
    pub(super) expires_after: Option<Duration>,
    pub(super) lease: Option<Duration>,
    pub(super) reads: bool,
    pub(super) lays_failures_aside: bool,
    pub(super) sealing: Option<SealingKey>,
    pub(super) hand_over_key: Option<ApproverKey>,
    pub(super) project: Option<String>,
    pub(super) clock: Option<Clock>,
    pub(super) trace_id: Option<TraceId>,
}

impl Journal {
    /// Makes a journal in a store.
    pub fn new(store: impl Store) -> Self {
        Self::shared(Arc::new(store))
    }

    /// Makes a journal in a store that is shared with other owners.
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

    /// Trusts a key: its holder may decide, under this name. Only trusted keys count; approving never makes or trusts
    /// one. Keys are made by `toolwright keys new`.
    pub fn trust(mut self, name: impl Into<String>, key: PublicKey) -> Self {
        self.approvers.push((name.into(), key));
        self
    }

    /// Accepts an approver without a key of their own ([`ask`](crate::executor::ExecutorBuilder::ask)) beside a durable journal. Their decisions stand in
    /// the journal and count in this process alone: after a restart, and in other processes, a call that was approved and
    /// has not begun is asked about again, and grants given with it do not count.
    pub fn trust_process_key(mut self) -> Self {
        self.trusts_process_key = true;
        self
    }

    /// Sets what happens to a call that a person would have to decide, where none is asked in this process.
    pub fn on_no_approver(mut self, what: OnNoApprover) -> Self {
        self.on_no_approver = Some(what);
        self
    }

    /// Sets what happens to such a call where [`on_no_approver`](Self::on_no_approver) has not said it.
    pub fn or_on_no_approver(mut self, what: OnNoApprover) -> Self {
        self.on_no_approver.get_or_insert(what);
        self
    }

    /// Returns whether no key is trusted yet.
    #[must_use]
    pub fn trusts_none(&self) -> bool {
        self.approvers.is_empty()
    }

    /// Returns whether the store outlives the process.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        self.store.is_durable()
    }

    /// Whether it outlives the key that would sign the tokens of calls which are carried out elsewhere.
    pub(super) fn lacks_hand_over_key(&self) -> bool {
        self.hand_over_key.is_none() && self.is_durable()
    }

    /// Limits how long a person may think, 24 hours unless set; then the call is answered `expired`.
    pub fn approval_expires_after(mut self, time: Duration) -> Self {
        self.expires_after = Some(time);
        self
    }

    /// Sets for how long a claim counts that its owner does not renew, 30 seconds unless set. It is renewed three times
    /// as often. After it, the call of a process that is gone is taken up by another.
    pub fn lease(mut self, time: Duration) -> Self {
        self.lease = Some(time);
        self
    }

    /// Keeps reads in the journal as well, which costs each of them two commits.
    pub fn record_reads(mut self) -> Self {
        self.reads = true;
        self
    }

    /// Lays every call aside as a dead letter that its tool began and that failed, also where the model should correct it or
    /// trying again would fail again. Otherwise only calls are dead letters that may be repeated and have no attempt left, and
    /// those of which it is not known what became of them. Its run gets the same answer either way; an operator requeues or
    /// discards it. A call that the policy, a person or a stage refused is none.
    pub fn dead_letter_failures(mut self) -> Self {
        self.lays_failures_aside = true;
        self
    }

    /// Sets the key that encrypts arguments with secrets in the journal. Without it, a call with a secret that would
    /// have to wait is refused.
    pub fn sealing_key(mut self, key: SealingKey) -> Self {
        self.sealing = Some(key);
        self
    }

    /// Sets the key that signs the tokens of calls that are carried out elsewhere. With it, a token counts after a restart, and
    /// in each process that has the key. A journal that outlives the process needs one where there are such tools; without
    /// it, a key is made for the process. Keys are made by `toolwright keys new`; that this one is not
    /// [trusted](Self::trust) does not matter, because it approves nothing.
    pub fn hand_over_key(mut self, key: ApproverKey) -> Self {
        self.hand_over_key = Some(key);
        self
    }

    /// Sets the project that grants of scope `project` count in.
    pub fn project(mut self, name: impl Into<String>) -> Self {
        self.project = Some(name.into());
        self
    }

    /// Keeps with each call the id of the trace in which it was made, so that an operator who looks at a dead letter finds what
    /// led to it. The closure is asked within the span of the call, once for each call that is recorded; it knows
    /// whatever traces the application.
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

    /// Sets the clock of the journal: the system's unless set, for tests of deadlines.
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
