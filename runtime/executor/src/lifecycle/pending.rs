//! Finds the pending calls of which the approver has not been notified, without reading all pending calls each time.
//!
//! - Most reads list only the calls that are newer than those of the previous read. Ids follow the order in which calls
//!   are made.
//! - After a change in the journal, and once a minute, a read lists all pending calls, because an older call may be
//!   pending again. The store's notice of a change is only a hint. If it is missing, a call is found up to a minute
//!   later.
//! - These reads return ids and versions. The record of a call is read only if the approver has to be notified.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use tokio::time::Instant;

use toolwright_core::context::CallId;
use toolwright_journal::journal::CallSummary;

/// The interval at which all pending calls are listed even if no change was noticed.
const LOOK_AT_ALL: Duration = Duration::from_mins(1);

/// What a worker remembers about the pending calls between its sweeps.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// When all pending calls were last listed.
    all_seen: Option<Instant>,
    /// The newest call that was listed.
    newest: Option<CallId>,
    /// The calls of which the approver may have to be notified, with their versions.
    open: BTreeMap<CallId, u64>,
    /// The calls that this process cannot carry out, with their versions. They are checked again after a minute,
    /// because a tool may have been registered meanwhile.
    elsewhere: HashMap<CallId, u64>,
    elsewhere_since: Option<Instant>,
    /// When the calls that wait for their children were last listed.
    waiting_seen: Option<Instant>,
}

impl Pending {
    /// Returns whether the next sweep has to list all pending calls.
    pub(super) fn needs_all(&self, has_changed: bool, now: Instant) -> bool {
        has_changed || self.all_seen.is_none_or(|seen| now.duration_since(seen) >= LOOK_AT_ALL)
    }

    /// Returns whether to list the calls that wait for their children now. If so, notes the time.
    pub(super) fn needs_waiting(&mut self, has_changed: bool, now: Instant) -> bool {
        let is_old = |seen| now.duration_since(seen) >= LOOK_AT_ALL;
        let needs = has_changed || self.waiting_seen.is_none_or(is_old);
        if needs {
            self.waiting_seen = Some(now);
        }
        needs
    }

    /// Returns the call after which a read of newer calls begins.
    pub(super) fn newest(&self) -> Option<CallId> {
        self.newest
    }

    /// Processes a list of all pending calls.
    pub(super) fn saw_all(&mut self, found: &[CallSummary], now: Instant) {
        let since = *self.elsewhere_since.get_or_insert(now);
        if now.duration_since(since) >= LOOK_AT_ALL {
            self.elsewhere.clear();
            self.elsewhere_since = Some(now);
        }
        self.all_seen = Some(now);
        self.open.clear();
        let all: HashSet<CallId> = found.iter().map(|it| it.id).collect();
        self.elsewhere.retain(|id, _| all.contains(id));
        self.saw(found);
    }

    /// Processes a list of newer pending calls.
    pub(super) fn saw(&mut self, found: &[CallSummary]) {
        self.newest = self.newest.max(found.iter().map(|it| it.id).max());
        let elsewhere = &self.elsewhere;
        let open = found.iter().filter(|it| elsewhere.get(&it.id) != Some(&it.version));
        self.open.extend(open.map(|it| (it.id, it.version)));
    }

    /// Lists the calls of which the approver may still have to be notified.
    pub(super) fn open(&mut self, is_notified: impl Fn(CallId) -> bool) -> Vec<CallId> {
        self.open.retain(|id, _| !is_notified(*id));
        self.open.keys().copied().collect()
    }

    /// Records that the call is no longer pending.
    pub(super) fn is_over(&mut self, id: CallId) {
        self.open.remove(&id);
    }

    /// Records that this process cannot carry out the call.
    pub(super) fn is_elsewhere(&mut self, id: CallId) {
        self.elsewhere.extend(self.open.remove_entry(&id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwright_journal::journal::State;

    fn pending(version: u64) -> CallSummary {
        CallSummary { id: CallId::new(), version, state: State::Pending, due: None }
    }

    #[test]
    fn all_are_looked_at_first_then_after_a_change_and_after_a_minute() {
        let (mut calls, now) = (Pending::default(), Instant::now());
        assert!(calls.needs_all(false, now));
        calls.saw_all(&[], now);
        assert!(!calls.needs_all(false, now));
        assert!(calls.needs_all(true, now));
        assert!(calls.needs_all(false, now + LOOK_AT_ALL));
    }

    #[test]
    fn a_call_is_open_until_the_approver_was_notified_or_it_is_over() {
        let (mut calls, now) = (Pending::default(), Instant::now());
        let [first, second, third] = [pending(2), pending(2), pending(2)];
        calls.saw_all(&[first, second], now);
        calls.saw(std::slice::from_ref(&third));
        assert_eq!(calls.newest(), Some(third.id));
        assert_eq!(calls.open(|_| false), [first.id, second.id, third.id]);
        calls.is_over(first.id);
        assert_eq!(calls.open(|id| id == second.id), [third.id]);
        assert_eq!(calls.open(|_| false), [third.id], "what was notified is forgotten");
    }

    #[test]
    fn what_cannot_go_on_here_is_read_again_when_it_changes_or_after_a_minute() {
        let (mut calls, now) = (Pending::default(), Instant::now());
        let call = pending(2);
        calls.saw_all(std::slice::from_ref(&call), now);
        calls.is_elsewhere(call.id);
        calls.saw_all(std::slice::from_ref(&call), now);
        assert!(calls.open(|_| false).is_empty());
        let changed = CallSummary { version: 3, ..call };
        calls.saw_all(&[changed], now);
        assert_eq!(calls.open(|_| false), [call.id]);
        calls.saw_all(&[call], now);
        calls.is_elsewhere(call.id);
        for (after, found) in [(40, vec![]), (80, vec![call.id])] {
            calls.saw_all(&[call], now + Duration::from_secs(after));
            assert_eq!(calls.open(|_| false), found, "after {after} s");
        }
    }
}
