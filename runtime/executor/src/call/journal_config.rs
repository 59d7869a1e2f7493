//! The journal of an executor, as the executor uses it: the store, the trusted keys and the time limits.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use uuid::Uuid;

use super::journal::Journal;
use super::journal_id::JournalId;
use super::problem::BuildProblem;
use toolwright_core::context::CallId;
use toolwright_journal::approval::{Approver, ApproverKey, KeyError, TrustedKeys};
use toolwright_journal::arguments::SealingKey;
use toolwright_journal::journal::{MemoryStore, Store, StoreError};

/// The key that signs the tokens of calls that are handed over.
pub(crate) struct HandOverKey {
    pub(crate) key: ApproverKey,
    /// Whether the key was made for this process only, so that it is lost when the process ends.
    pub(crate) is_of_process: bool,
}

/// The name of the key that signs the tokens of calls which are handed over, if the key is made for one process.
const HANDS_OVER: &str = "executor";

/// What the executor does with a call that needs approval if no approver can be asked.
///
/// The approver of this process may also fail to decide, for instance because there is no terminal or a function
/// panics. The call then waits if another key is trusted, or with `Park`. Otherwise, the call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnNoApprover {
    /// The executor refuses the call and answers the model.
    Deny,
    /// The call waits in the journal until a person decides, for instance with the command `toolwright approvals`.
    Park,
    /// The executor fails: the host application gets an error, and the model gets no answer.
    Fail,
}

pub(crate) type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A closure that returns the id of the application's current trace.
pub(super) type TraceId = Box<dyn Fn() -> Option<String> + Send + Sync>;

pub(crate) struct JournalConfig {
    pub(crate) store: Arc<dyn Store>,
    /// Whether the executor made the store itself. The store is then lost when the process ends.
    pub(crate) is_own: bool,
    pub(crate) trusted: TrustedKeys,
    /// The approver that decides in this process, with the key that signs its decisions.
    pub(crate) asker: Option<Asker>,
    pub(crate) on_no_approver: OnNoApprover,
    pub(crate) expires_after: Duration,
    pub(crate) lease: Duration,
    pub(crate) reads: bool,
    /// Whether a call becomes a dead letter instead of only failing, if it fails after its tool has begun.
    pub(crate) lays_failures_aside: bool,
    pub(crate) sealing: Option<SealingKey>,
    /// The key for digests of secrets if there is no sealing key; it is lost when the process ends.
    pub(crate) passing: Option<SealingKey>,
    pub(crate) hand_over: HandOverKey,
    pub(crate) project: Option<String>,
    id: JournalId,
    /// The name by which the leases of this executor identify it.
    pub(crate) owner: String,
    pub(crate) clock: Clock,
    pub(super) trace_id: Option<TraceId>,
    pub(crate) busy: Busy,
}

/// The calls on which this process works, so that it does not ask an approver twice at the same time. Also contains the
/// calls that workers of this process leave alone for a time.
#[derive(Default)]
pub(crate) struct Busy(Mutex<Calls>);

#[derive(Default)]
struct Calls {
    asking: HashSet<CallId>,
    /// The calls about which this process has notified its approvers. Each process notifies its own approvers.
    notified: HashSet<CallId>,
    /// The calls for which this process has reported that the approver failed.
    reported: HashSet<CallId>,
    paused: HashMap<CallId, Instant>,
    /// The calls that cannot be read or processed, and when that was last reported.
    damaged: HashMap<CallId, Instant>,
}

/// The time after which a call that cannot be read or processed is reported again. Every sweep finds the call, and
/// would otherwise report it.
const REPORT_AGAIN: Duration = Duration::from_secs(60);

/// A mark on a call. As long as this value exists, no other task of this process asks an approver about the call, and
/// no worker of this process takes the call.
pub(crate) struct Asking<'a> {
    busy: &'a Busy,
    call: CallId,
}

impl Busy {
    /// Marks that an approver is asked about the call; `None` if the mark is set already.
    pub(crate) fn ask(&self, call: CallId) -> Option<Asking<'_>> {
        let is_first = self.lock().asking.insert(call);
        // The value is made only if the mark is new. Otherwise the mark belongs to another task, and dropping the value
        // would remove it and wait for the lock that is held here.
        is_first.then(|| Asking { busy: self, call })
    }

    /// Prevents workers of this process from taking a call for this time.
    pub(crate) fn pause(&self, call: CallId, time: Duration) {
        // The clock can be added no time that is beyond its range.
        let time = time.min(LONGEST_PAUSE);
        self.lock().paused.insert(call, Instant::now() + time);
    }

    /// Returns the calls that workers must not take now: calls that are paused, and calls about which an approver is
    /// being asked.
    pub(crate) fn left_alone(&self) -> HashSet<CallId> {
        let mut calls = self.lock();
        let now = Instant::now();
        calls.paused.retain(|_, until| *until > now);
        calls.paused.keys().chain(&calls.asking).copied().collect()
    }

    pub(crate) fn note(&self, call: CallId) {
        self.lock().notified.insert(call);
    }

    /// Forgets all notices and reports except those about calls that are still pending.
    pub(crate) fn forget_all_but(&self, pending: &HashSet<CallId>) {
        let mut calls = self.lock();
        calls.notified.retain(|call| pending.contains(call));
        calls.reported.retain(|call| pending.contains(call));
    }

    /// Records that an approver failed to decide on the call. Returns whether this is the first failure.
    pub(crate) fn is_news(&self, call: CallId) -> bool {
        self.lock().reported.insert(call)
    }

    /// Returns whether to report now that the call cannot be read or processed. If it returns `true`, notes the time of
    /// the report.
    pub(crate) fn is_to_be_reported(&self, call: CallId) -> bool {
        let mut calls = self.lock();
        let now = Instant::now();
        calls.damaged.retain(|_, last| now.duration_since(*last) < REPORT_AGAIN);
        match calls.damaged.entry(call) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(now);
                true
            }
        }
    }

    pub(crate) fn is_noted(&self, call: CallId) -> bool {
        self.lock().notified.contains(&call)
    }

    pub(crate) fn is_left_alone(&self, call: CallId) -> bool {
        let calls = self.lock();
        let now = Instant::now();
        calls.asking.contains(&call) || calls.paused.get(&call).is_some_and(|until| *until > now)
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.busy.lock().asking.remove(&self.call);
    }
}

pub(crate) struct Asker {
    pub(crate) key: ApproverKey,
    /// Whether the application has named the approver, by its key.
    pub(crate) is_named: bool,
    pub(crate) approver: Arc<dyn Approver>,
}

/// The longest time for which a process leaves a call alone.
const LONGEST_PAUSE: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The name of the approver's key that is made for one process.
pub(crate) const LOCAL_APPROVER: &str = "local approver";

/// The approver that decides in this process, as the builder receives it.
pub(crate) struct AskerBuilder {
    /// The key that signs the approver's decisions; `None` to make a key for this process only.
    pub(crate) key: Option<ApproverKey>,
    pub(crate) approver: Arc<dyn Approver>,
}

impl AskerBuilder {
    fn build(self) -> Result<Asker, KeyError> {
        let is_named = self.key.is_some();
        let key = self.key.map_or_else(|| ApproverKey::generate(LOCAL_APPROVER), Ok)?;
        Ok(Asker { key, is_named, approver: self.approver })
    }
}

/// The default time that a person may take to decide.
pub(super) const EXPIRES_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// The default time for which a lease is valid unless its owner renews it.
pub(super) const LEASE: Duration = Duration::from_secs(30);

/// The shortest lease that an application may set. A shorter one could not be renewed in time.
const SHORTEST_LEASE: Duration = Duration::from_millis(100);

/// How many ended calls the executor's own in-memory journal stores. A call with its history takes a few kilobytes.
const ENDED: NonZeroUsize = NonZeroUsize::new(10_000).expect("it is not 0");

impl Journal {
    /// Makes a journal in memory for this process, for an application that sets no journal.
    pub(crate) fn of_this_process() -> Self {
        let store = MemoryStore::bounded(ENDED);
        Self { is_own: true, ..Self::new(store) }
    }

    /// Builds the journal, and adds its problems to `problems`. Returns `None` if a problem leaves no usable journal.
    pub(crate) fn build(
        self,
        asker: Option<AskerBuilder>,
        problems: &mut Vec<BuildProblem>,
    ) -> Option<JournalConfig> {
        let store = self.store;
        let has_process_key = asker.as_ref().is_some_and(|asker| asker.key.is_none());
        if has_process_key && store.is_durable() && !self.trusts_process_key {
            problems.push(BuildProblem::ProcessKey);
        }
        let asker = match asker.map(AskerBuilder::build).transpose() {
            Ok(asker) => asker,
            Err(error) => {
                let (name, why) = (LOCAL_APPROVER.to_owned(), error.to_string());
                problems.push(BuildProblem::Approver { name, why });
                return None;
            }
        };
        let mut trusted = TrustedKeys::new();
        let own = asker.iter().map(|it| (it.key.name().to_owned(), it.key.public()));
        for (name, key) in self.approvers.into_iter().chain(own) {
            match trusted.with(&name, key) {
                Ok(more) => trusted = more,
                Err(error) => {
                    problems.push(BuildProblem::Approver { name, why: error.to_string() });
                    return None;
                }
            }
        }
        if self.lease.is_some_and(|lease| lease < SHORTEST_LEASE) {
            problems.push(BuildProblem::ShortLease { shortest: SHORTEST_LEASE });
        }
        if asker.is_none() && self.on_no_approver.is_none() {
            problems.push(BuildProblem::NoApprover);
        }
        let is_of_process = self.hand_over_key.is_none();
        let hand_over_key =
            self.hand_over_key.map_or_else(|| ApproverKey::generate(HANDS_OVER), Ok);
        let hand_over = match hand_over_key {
            Ok(key) => HandOverKey { key, is_of_process },
            Err(error) => {
                problems.push(BuildProblem::NoRandomness { why: error.to_string() });
                return None;
            }
        };
        Some(JournalConfig {
            hand_over,
            store,
            is_own: self.is_own,
            trusted,
            asker,
            on_no_approver: self.on_no_approver.unwrap_or(OnNoApprover::Deny),
            expires_after: self.expires_after.unwrap_or(EXPIRES_AFTER),
            lease: self.lease.unwrap_or(LEASE),
            reads: self.reads,
            lays_failures_aside: self.lays_failures_aside,
            passing: match &self.sealing {
                Some(_) => None,
                None => match SealingKey::generate() {
                    Ok(key) => Some(key),
                    Err(error) => {
                        problems.push(BuildProblem::NoRandomness { why: error.to_string() });
                        None
                    }
                },
            },
            sealing: self.sealing,
            project: self.project,
            id: JournalId::default(),
            owner: Uuid::now_v7().to_string(),
            clock: self.clock.unwrap_or_else(|| Arc::new(Timestamp::now)),
            trace_id: self.trace_id,
            busy: Busy::default(),
        })
    }
}

/// Returns whether a file lies in a folder, or its path leads through that folder. A tool that may write there could
/// replace a link or a folder on the path and redirect it. A path that cannot be resolved is compared as it is written.
pub(super) fn is_inside(file: &Path, folder: &Path) -> bool {
    leads_inside(file, &whole(folder), LINKS) || whole(file).starts_with(whole(folder))
}

/// The maximum number of links that are followed on one path. Most systems have the same limit.
const LINKS: u32 = 40;

/// Returns whether a part of the path is in the folder, or is a link that leads into it.
fn leads_inside(file: &Path, folder: &Path, links: u32) -> bool {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    file.ancestors().any(|step| {
        let (Some(parent), Some(name)) = (step.parent(), step.file_name()) else { return false };
        // The folder of the file is resolved, because the file itself may not exist.
        let parent = whole(parent);
        if parent.starts_with(folder) {
            return true;
        }
        let Ok(target) = std::fs::read_link(parent.join(name)) else { return false };
        links > 0 && leads_inside(&parent.join(target), folder, links - 1)
    })
}

fn whole(path: &Path) -> PathBuf {
    std::fs::canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}

impl JournalConfig {
    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    pub(crate) async fn id(&self) -> Result<&str, StoreError> {
        self.id.of(&*self.store).await
    }

    /// Returns the id of the current trace, from the closure of the application.
    pub(crate) fn trace(&self) -> Option<String> {
        let ask = self.trace_id.as_ref()?;
        match catch_unwind(AssertUnwindSafe(ask)) {
            Ok(trace) => trace,
            Err(panic) => {
                // Dropping the panic's payload might panic again, so the payload is leaked.
                std::mem::forget(panic);
                tracing::error!("the closure that returns the id of the trace panicked");
                None
            }
        }
    }

    pub(crate) fn lease_until(&self) -> Timestamp {
        later(self.now(), self.lease)
    }
}

/// Adds a duration to a time. If the sum overflows, returns the latest possible time.
pub(crate) fn later(from: Timestamp, by: Duration) -> Timestamp {
    let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
    from.checked_add(by).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwright_journal::journal::{
        CallRecord, CallSlot, CallWrite, Filter, Page, State, Transaction,
    };

    #[tokio::test]
    async fn the_journal_of_an_approver_without_one_is_bounded() {
        let store = Journal::of_this_process().store;
        assert!(!store.is_durable());
        for index in 0..10_001 {
            let slot = CallSlot { run: "run".to_owned(), turn: Some(1), index };
            let record = CallRecord::draft(CallId::new(), slot, "note", Timestamp::UNIX_EPOCH)
                .with(|it| it.state = State::Succeeded);
            let calls = vec![CallWrite { expects: None, record, entries: Vec::new() }];
            let unit = Transaction { calls, ..Transaction::default() };
            store.commit(unit, Timestamp::UNIX_EPOCH).await.expect("committed");
        }
        let all = store.list(&Filter::default(), Page::first(20_000)).await.expect("listed").calls;
        assert_eq!((all.len(), all[0].place.index), (10_000, 1));
    }

    #[test]
    fn one_asks_about_a_call_at_a_time_until_they_are_done() {
        let (busy, call) = (Busy::default(), CallId::new());
        let first = busy.ask(call).expect("nobody asks yet");
        assert!(busy.ask(call).is_none());
        assert!(busy.ask(call).is_none(), "the first still asks");
        assert!(busy.left_alone().contains(&call));
        drop(first);
        assert!(busy.ask(call).is_some());
    }
}
