//! The options of a builder that concern approval: the approver of this process, the journal in which calls wait, and
//! the folders in which the journal must not lie.

use std::path::PathBuf;
use std::sync::Arc;

use super::builder::ExecutorBuilder;
use crate::call::{AskerBuilder, Journal, Rules};
use toolwright_journal::approval::{Approver, ApproverKey};

impl ExecutorBuilder {
    /// Records calls in a journal: a store, or a [`Journal`] with its options. Every call that changes something is
    /// recorded before it runs, and its result afterwards; a call that a person has to decide waits there. Reads that
    /// need no approval are recorded only with [`record_reads`](Journal::record_reads).
    ///
    /// A journal needs an approver that this process [asks](Self::ask), or [`on_no_approver`](Journal::on_no_approver),
    /// which says what happens without one. An approver needs no journal: the executor then makes one in memory, see
    /// [`ask`](Self::ask).
    #[must_use]
    pub fn journal(mut self, journal: impl Into<Journal>) -> Self {
        self.journal = Some(journal.into());
        self
    }

    /// Sets the approver that this process asks, without a stored key. The executor signs the decisions, in the name
    /// `local approver`, with a key that is made for this process and lost with it. That is enough for a program that a
    /// person starts and watches. A person who is known by name, or who decides about calls of other processes, needs a
    /// key: [`approver`](Self::approver).
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
    /// Without a [`journal`](Self::journal), the executor makes one in memory. **It is lost with the process**: calls
    /// that waited are forgotten, and the outcome of a call that ran when the process ended stays unknown. It stores
    /// the last 10,000 calls that have ended, and every call that is open; a call that arrives a second time after
    /// 10,000 others have ended is a new call. No other program reaches it, so an approver that passes requests on (a
    /// [`Channel`](toolwright_journal::approval::Channel)) needs a journal that the application gives: `MemoryStore`
    /// has no bound, and its clones share the calls; `SqliteStore` outlives the process.
    ///
    /// A durable journal outlives the key: after a restart, and in other processes, a person is asked again about a
    /// call that was approved and has not begun, and grants do not count. `build` refuses the two together unless
    /// [`trust_process_key`](Journal::trust_process_key) accepts that.
    ///
    /// Where the approver fails (no terminal, a panic, no usable answer), standard error and the event
    /// [`ApproverFailed`](crate::event::ToolEventKind::ApproverFailed) say why. The call then waits for the other
    /// trusted keys. If there are none, the call ends at once as
    /// [`Expired`](toolwright_journal::journal::State::Expired), with the answer `approval_required`.
    #[must_use]
    pub fn ask(mut self, approver: impl Approver) -> Self {
        self.asker = Some(AskerBuilder { key: None, approver: Arc::new(approver) });
        self
    }

    /// Sets the approver of this process. Its decisions are signed with this key, which is thereby trusted; if
    /// another process has the same key, the decisions are valid there as well. Without a journal, or if the approver
    /// fails, the executor behaves as with [`ask`](Self::ask).
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

    /// Sets the approver for an application that has [set none](Self::names_people). It is not used if the policy has
    /// `four_eyes`, because this approver may be the user.
    #[doc(hidden)]
    #[must_use]
    pub fn or_ask(mut self, approver: impl Approver) -> Self {
        self.last_asker = Some(AskerBuilder { key: None, approver: Arc::new(approver) });
        self
    }

    /// Uses the approver set by [`or_ask`](Self::or_ask) if the application has set none.
    pub(super) fn ask_the_last(&mut self, rules: Option<&Rules>) {
        let Some(last) = self.last_asker.take().filter(|_| !self.names_people()) else { return };
        if rules.is_some_and(|rules| !rules.current().four_eyes()) {
            self.journal = Some(Journal::of_this_process());
            self.asker = Some(last);
        }
    }

    /// Names a folder that tools work in. The build refuses a journal inside it, because tools could change it.
    #[must_use]
    pub fn workspace_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.roots.push(root.into());
        self
    }
}
