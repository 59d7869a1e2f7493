//! The options of a builder for the journal: where it is stored, who may decide, for how long.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::ExecutorBuilder;
use super::journal_config::AskerBuilder;
use super::journal_config::OnNoApprover;
use toolwright_journal::approval::Approver;
use toolwright_journal::approval::ApproverKey;
use toolwright_journal::approval::PublicKey;
use toolwright_journal::arguments::SealingKey;
use toolwright_journal::journal::Store;

impl ExecutorBuilder {
    /// Records calls in a journal. Every call that changes something is recorded before it is run, and its result
    /// with it; one that a person has to decide waits there. Reads that ask nobody are not recorded, unless
    /// [`journal_reads`](Self::journal_reads) says so.
    ///
    /// A journal needs an approver who is [asked](Self::ask) in this process, or
    /// [`on_no_approver`](Self::on_no_approver), which says what happens without one. An approver needs no journal: without
    /// one, the executor makes one in memory, see [`ask`](Self::ask).
    #[must_use]
    pub fn journal(self, store: impl Store) -> Self {
        self.journal_arc(Arc::new(store))
    }

    /// Keeps the journal in a store that is shared with other owners; see [`journal`](Self::journal).
    #[must_use]
    pub fn journal_arc(mut self, store: Arc<dyn Store>) -> Self {
        self.journal.store = Some(store);
        self
    }

    /// Trusts a key: its holder may decide, under this name. Only trusted keys count; approving never makes or trusts
    /// one. Keys are made by `toolwright keys new`.
    #[must_use]
    pub fn trust(mut self, name: impl Into<String>, key: PublicKey) -> Self {
        self.journal.approvers.push((name.into(), key));
        self
    }

    /// Who is asked in this process, without a key of their own. Their decisions are signed, in the name `local
    /// approver`, with a key that is made for this process and gone with it. That is enough for a program that a person
    /// starts and watches; somebody who is known by name, or who decides about calls of other processes, has a key:
    /// [`approver`](Self::approver).
    ///
    /// ```
    /// use toolwright::approval::Terminal;
    /// use toolwright::{Executor, Registry};
    ///
    /// let executor = Executor::builder(Registry::empty()).ask(Terminal::new()).build()?;
    /// # drop(executor);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Without a [`journal`](Self::journal), the executor makes one in memory. **It is gone with the process**: what waited is
    /// forgotten, and nobody can find out what became of a call that ran when the process ended. It holds the last 10,000
    /// calls that have ended, and every call that is open; a call that arrives a second time after 10,000 others have ended
    /// is a new call. No other program reaches it, so an approver that passes requests on (a
    /// [`Channel`](toolwright_journal::approval::Channel)) needs a journal that the application gives: `MemoryStore` has no
    /// bound, and its clones share the calls; `SqliteStore` outlives the process.
    ///
    /// A durable journal outlives the key: after a restart, and in other processes, a call that was approved and has not
    /// begun is asked about again, and grants do not count. `build` refuses the two together unless
    /// [`trust_process_key`](Self::trust_process_key) accepts that.
    ///
    /// Where the approver fails (no terminal, a panic, no usable answer), standard error and the event
    /// [`ApproverFailed`](crate::event::EventKind::ApproverFailed) say why. The call then waits for the other trusted
    /// keys. Where there are none, it ends at once as [`Expired`](toolwright_journal::journal::State::Expired), with
    /// the answer `approval_required`.
    #[must_use]
    pub fn ask(mut self, approver: impl Approver) -> Self {
        self.journal.asker = Some(AskerBuilder { key: None, approver: Arc::new(approver) });
        self
    }

    /// Accepts an approver without a key of their own ([`ask`](Self::ask)) beside a durable journal. Their decisions stand in
    /// the journal and count in this process alone: after a restart, and in other processes, a call that was approved and
    /// has not begun is asked about again, and grants given with it do not count.
    #[must_use]
    pub fn trust_process_key(mut self) -> Self {
        self.journal.trusts_process_key = true;
        self
    }

    /// Sets the approver that is asked in this process. Its decisions are signed with this key, which is trusted with it; with a
    /// key that another process knows too, decisions count there as well. Without a journal, and where the approver
    /// fails, the same happens as with [`ask`](Self::ask).
    #[must_use]
    pub fn approver(mut self, key: ApproverKey, approver: impl Approver) -> Self {
        self.journal.asker = Some(AskerBuilder { key: Some(key), approver: Arc::new(approver) });
        self
    }

    /// What happens to a call that a person would have to decide, where none is asked in this process.
    #[must_use]
    pub fn on_no_approver(mut self, what: OnNoApprover) -> Self {
        self.journal.on_no_approver = Some(what);
        self
    }

    /// How long a person may think, 24 hours unless set; then the call is answered `expired`.
    #[must_use]
    pub fn approval_expires_after(mut self, time: Duration) -> Self {
        self.journal.expires_after = Some(time);
        self
    }

    /// For how long a claim counts that its owner does not renew, 30 seconds unless set. It is renewed three times
    /// as often. After it, the call of a process that is gone is taken up by another.
    #[must_use]
    pub fn lease(mut self, time: Duration) -> Self {
        self.journal.lease = Some(time);
        self
    }

    /// Keeps reads in the journal as well, which costs each of them two commits.
    #[must_use]
    pub fn journal_reads(mut self) -> Self {
        self.journal.reads = true;
        self
    }

    /// Lays every call aside as a dead letter that its tool began and that failed, also where the model should correct it or
    /// trying again would fail again. Otherwise only calls are dead letters that may be repeated and have no attempt left, and
    /// those of which it is not known what became of them. Its run gets the same answer either way; an operator requeues or
    /// discards it. A call that the policy, a person or a stage refused is none.
    #[must_use]
    pub fn dead_letter_failures(mut self) -> Self {
        self.journal.lays_failures_aside = true;
        self
    }

    /// What arguments with secrets are sealed with in the journal. Without it, a call with a secret that would
    /// have to wait is refused.
    #[must_use]
    pub fn sealing_key(mut self, key: SealingKey) -> Self {
        self.journal.sealing = Some(key);
        self
    }

    /// The project that grants of scope `project` count in.
    #[must_use]
    pub fn project(mut self, name: impl Into<String>) -> Self {
        self.journal.project = Some(name.into());
        self
    }

    /// A folder that tools work in. A journal inside would be in their reach, so it is refused.
    #[must_use]
    pub fn workspace_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.journal.roots.push(root.into());
        self
    }

    /// Keeps with each call the id of the trace in which it was made, so that whoever looks at a dead letter finds what
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
    #[must_use]
    pub fn trace_id(
        mut self,
        trace_id: impl Fn() -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.journal.trace_id = Some(Box::new(trace_id));
        self
    }

    /// What time it is for the journal: the system's clock unless set, for tests of deadlines.
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.journal.clock = Some(Arc::new(now));
        self
    }
}
