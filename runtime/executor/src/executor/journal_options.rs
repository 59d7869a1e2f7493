//! The options of the builder for approvals: the approver of this process, the journal in which calls wait, and the
//! folders in which the journal must not be.

use std::path::PathBuf;
use std::sync::Arc;

use super::builder::ExecutorBuilder;
use crate::call::{AskerBuilder, Journal, Rules};
use toolwright_journal::approval::{Approver, ApproverKey};

impl ExecutorBuilder {
    /// Records calls in a journal, given as a store or as a [`Journal`] with options. Every call that changes something
    /// is recorded before it runs, and its result is recorded afterwards. A call that needs a person's decision waits
    /// in the journal. Reads that need no approval are recorded only with [`record_reads`](Journal::record_reads), or
    /// if their tools make calls or are carried out elsewhere.
    ///
    /// A journal needs either an approver that this process [asks](Self::ask), or
    /// [`on_no_approver`](Journal::on_no_approver), which says what happens without an approver. An approver does not
    /// need this method: without it, the executor makes a journal in memory, see [`ask`](Self::ask).
    #[must_use]
    pub fn journal(mut self, journal: impl Into<Journal>) -> Self {
        self.journal = Some(journal.into());
        self
    }

    /// Sets the approver that this process asks, without a stored key. The executor signs the decisions in the name
    /// `local approver`, with a key that is made for this process and lost when it ends. That is enough for a program
    /// that a person starts and watches. A person who is identified by name, or who decides about calls of other
    /// processes, needs a key: see [`approver`](Self::approver).
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
    /// Without a [`journal`](Self::journal), the executor makes one in memory. **That journal is lost when the process
    /// ends**: waiting calls are forgotten, and the outcome of a call that was running stays unknown. It stores every
    /// open call, and the last 10,000 calls that have ended. If a call arrives a second time after 10,000 others have
    /// ended, it is treated as a new call. No other program can read this journal, so an approver that passes requests
    /// on (a [`Channel`](toolwright_journal::approval::Channel)) needs a journal that the application sets.
    /// `MemoryStore` has no bound, and its clones share the calls; `SqliteStore` outlives the process.
    ///
    /// A durable journal outlives the key. After a restart, and in other processes, a person would be asked again about
    /// a call that was approved and has not begun, and grants would not be valid. `build` therefore refuses a durable
    /// journal with this approver, unless [`trust_process_key`](Journal::trust_process_key) accepts that.
    ///
    /// If the approver fails (no terminal, a panic, no usable answer), standard error and the event
    /// [`ApproverFailed`](crate::event::ToolEventKind::ApproverFailed) say why. The call then waits if another key is
    /// trusted, or with [`OnNoApprover::Park`](crate::executor::OnNoApprover::Park). Otherwise, the call ends at once
    /// as [`Expired`](toolwright_journal::journal::State::Expired), with the answer `approval_required`.
    #[must_use]
    pub fn ask(mut self, approver: impl Approver) -> Self {
        self.asker = Some(AskerBuilder { key: None, approver: Arc::new(approver) });
        self
    }

    /// Sets the approver of this process, whose decisions are signed with this key. The key is thereby trusted. If
    /// another process has or trusts the same key, the decisions are valid there as well. Without a journal, or if the
    /// approver fails, the executor behaves as with [`ask`](Self::ask).
    #[must_use]
    pub fn approver(mut self, key: ApproverKey, approver: impl Approver) -> Self {
        self.asker = Some(AskerBuilder { key: Some(key), approver: Arc::new(approver) });
        self
    }

    /// Reports whether the application has set who decides: an approver, or a journal in which calls wait.
    #[doc(hidden)]
    #[must_use]
    pub fn names_people(&self) -> bool {
        self.asker.is_some() || self.journal.is_some()
    }

    /// Sets the approver for an application that has [set neither an approver nor a journal](Self::names_people). It is
    /// not used if the policy has `four_eyes`, because this approver may be the user on whose behalf calls are made.
    #[doc(hidden)]
    #[must_use]
    pub fn or_ask(mut self, approver: impl Approver) -> Self {
        self.last_asker = Some(AskerBuilder { key: None, approver: Arc::new(approver) });
        self
    }

    /// Uses the approver of [`or_ask`](Self::or_ask) if the application has set neither an approver nor a journal.
    pub(super) fn ask_the_last(&mut self, rules: Option<&Rules>) {
        let Some(last) = self.last_asker.take().filter(|_| !self.names_people()) else { return };
        if rules.is_some_and(|rules| !rules.current().four_eyes()) {
            self.journal = Some(Journal::of_this_process());
            self.asker = Some(last);
        }
    }

    /// Names a folder in which tools work. The build refuses a journal, a policy file or an approver's key inside it,
    /// because tools could change these files.
    #[must_use]
    pub fn workspace_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.roots.push(root.into());
        self
    }
}
