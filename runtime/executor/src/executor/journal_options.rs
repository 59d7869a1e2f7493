//! The options of a builder for people: who is asked in this process, where calls are recorded that wait for them, and which
//! folders are out of reach of both.

use std::path::PathBuf;
use std::sync::Arc;

use super::journal_config::AskerBuilder;
use super::rules::Rules;
use super::{ExecutorBuilder, Journal};
use toolwright_journal::approval::{Approver, ApproverKey};

impl ExecutorBuilder {
    /// Records calls in a journal: a store, or a [`Journal`] with its options. Every call that changes something is recorded
    /// before it is run, and its result with it; one that a person has to decide waits there. Reads that ask no person are not
    /// recorded, unless [`record_reads`](Journal::record_reads) says so.
    ///
    /// A journal needs an approver who is [asked](Self::ask) in this process, or
    /// [`on_no_approver`](Journal::on_no_approver), which says what happens without one. An approver needs no journal: without
    /// one, the executor makes one in memory, see [`ask`](Self::ask).
    #[must_use]
    pub fn journal(mut self, journal: impl Into<Journal>) -> Self {
        self.journal = Some(journal.into());
        self
    }

    /// Sets who is asked in this process, without a key of their own. Their decisions are signed, in the name `local
    /// approver`, with a key that is made for this process and gone with it. That is enough for a program that a person
    /// starts and watches; a person who is known by name, or who decides about calls of other processes, has a key:
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
    /// forgotten, and it cannot be found out what became of a call that ran when the process ended. It holds the last 10,000
    /// calls that have ended, and every call that is open; a call that arrives a second time after 10,000 others have ended
    /// is a new call. No other program reaches it, so an approver that passes requests on (a
    /// [`Channel`](toolwright_journal::approval::Channel)) needs a journal that the application gives: `MemoryStore` has no
    /// bound, and its clones share the calls; `SqliteStore` outlives the process.
    ///
    /// A durable journal outlives the key: after a restart, and in other processes, a call that was approved and has not
    /// begun is asked about again, and grants do not count. `build` refuses the two together unless
    /// [`trust_process_key`](Journal::trust_process_key) accepts that.
    ///
    /// Where the approver fails (no terminal, a panic, no usable answer), standard error and the event
    /// [`ApproverFailed`](crate::event::ToolEventKind::ApproverFailed) say why. The call then waits for the other trusted
    /// keys. Where there are none, it ends at once as [`Expired`](toolwright_journal::journal::State::Expired), with
    /// the answer `approval_required`.
    #[must_use]
    pub fn ask(mut self, approver: impl Approver) -> Self {
        self.asker = Some(AskerBuilder { key: None, approver: Arc::new(approver) });
        self
    }

    /// Sets the approver that is asked in this process. Its decisions are signed with this key, which is trusted with it; with a
    /// key that another process knows too, decisions count there as well. Without a journal, and where the approver
    /// fails, the same happens as with [`ask`](Self::ask).
    #[must_use]
    pub fn approver(mut self, key: ApproverKey, approver: impl Approver) -> Self {
        self.asker = Some(AskerBuilder { key: Some(key), approver: Arc::new(approver) });
        self
    }

    /// Reports whether the application has said who decides: an approver, or a journal in which calls wait.
    #[doc(hidden)]
    #[must_use]
    pub fn names_people(&self) -> bool {
        self.asker.is_some() || self.journal.is_some()
    }

    /// Sets who is asked where the application has [said nothing](Self::names_people). Not where the policy has `four_eyes`:
    /// this approver may be the user.
    #[doc(hidden)]
    #[must_use]
    pub fn or_ask(mut self, approver: impl Approver) -> Self {
        self.last_asker = Some(AskerBuilder { key: None, approver: Arc::new(approver) });
        self
    }

    /// Takes the approver of [`or_ask`](Self::or_ask) where it counts.
    pub(super) fn ask_the_last(&mut self, rules: Option<&Rules>) {
        let Some(last) = self.last_asker.take().filter(|_| !self.names_people()) else { return };
        if rules.is_some_and(|rules| !rules.current().four_eyes()) {
            self.journal = Some(Journal::of_this_process());
            self.asker = Some(last);
        }
    }

    /// Names a folder that tools work in. A journal inside would be in their reach, so it is refused.
    #[must_use]
    pub fn workspace_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.roots.push(root.into());
        self
    }
}
