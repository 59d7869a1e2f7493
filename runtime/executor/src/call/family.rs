//! The state that all attempts of a parent share: the children that are running, for how long, and the answers of
//! children.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::lineage::{Lineage, RecordedParent};
use super::plan::Plan;
use super::remembered::RecordedChildren;
use toolwright_core::context::CallId;

/// The state that all attempts of a parent share. Each claim of a parent in a journal has a `Family` of its own, with a
/// single attempt.
pub(crate) struct Family {
    pub(crate) tool: Arc<str>,
    /// The nesting depth of the children.
    pub(crate) depth: u32,
    pub(crate) recorded: Option<RecordedParent>,
    pub(crate) remembered: RecordedChildren,
    under_way: Mutex<UnderWay>,
    changed: Notify,
    /// Whether a child was dropped before it had an answer.
    has_dropped: AtomicBool,
}

/// The children that are running.
#[derive(Default)]
struct UnderWay {
    number: usize,
    /// The children that wait for a person or for a result from outside.
    waiting: Vec<CallId>,
    /// The time since which at least one child has been running.
    since: Option<Instant>,
    /// How long children ran in total before `since`.
    before: Duration,
}

impl Family {
    /// Makes a family; `None` for a tool that makes no calls.
    #[inline]
    pub(crate) fn of(
        parent: Option<&Lineage>,
        plan: &Plan,
        recorded: impl FnOnce() -> Option<RecordedParent>,
    ) -> Option<Arc<Self>> {
        plan.makes_calls.then(|| Self::new(parent, plan, recorded()))
    }

    #[cold]
    fn new(parent: Option<&Lineage>, plan: &Plan, recorded: Option<RecordedParent>) -> Arc<Self> {
        Arc::new(Self {
            tool: Arc::clone(&plan.entry.name),
            depth: parent.map_or(1, |lineage| lineage.depth + 1),
            // A journal stores the answers of children, so they need not be remembered here.
            remembered: RecordedChildren::new(recorded.is_none() && plan.retry.attempts > 1),
            recorded,
            under_way: Mutex::default(),
            changed: Notify::new(),
            has_dropped: AtomicBool::new(false),
        })
    }

    /// Returns for how long at least one child has been running. The parent's timeouts do not include this time.
    pub(crate) fn time_away(&self) -> Duration {
        let under_way = self.under_way();
        under_way.before + under_way.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Completes when no child is running.
    pub(crate) async fn alone(&self) {
        self.until(|under_way| (under_way.number == 0).then_some(())).await;
    }

    /// Completes when every running child waits for a person or for a result from outside, and returns their ids.
    pub(crate) async fn stuck(&self) -> Vec<CallId> {
        let is_stuck = |it: &UnderWay| it.number > 0 && it.waiting.len() == it.number;
        self.until(|it| is_stuck(it).then(|| it.waiting.clone())).await
    }

    async fn until<T>(&self, look: impl Fn(&UnderWay) -> Option<T>) -> T {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // The notification is registered before the check, so that no change is missed.
            changed.as_mut().enable();
            if let Some(found) = look(&self.under_way()) {
                return found;
            }
            changed.await;
        }
    }

    /// Notes that a child begins.
    pub(crate) fn begins(&self) {
        let mut under_way = self.under_way();
        under_way.number += 1;
        under_way.since.get_or_insert_with(Instant::now);
    }

    /// Records that a child is dropped before it has an answer.
    pub(crate) fn drops(&self) {
        self.has_dropped.store(true, Ordering::Relaxed);
        self.ends();
    }

    /// Returns whether the journal may contain children without an answer although their parent has ended.
    pub(crate) fn has_left_children(&self) -> bool {
        let was_begun_before = self.recorded.as_ref().is_some_and(|it| !it.is_first);
        was_begun_before || self.has_dropped.load(Ordering::Relaxed)
    }

    /// Records that a child has ended.
    pub(crate) fn ends(&self) {
        let mut under_way = self.under_way();
        under_way.number = under_way.number.saturating_sub(1);
        if under_way.number == 0
            && let Some(since) = under_way.since.take()
        {
            under_way.before += since.elapsed();
        }
        drop(under_way);
        self.changed.notify_waiters();
    }

    /// Records that a child waits for a person or for a result from outside, and never completes. The child continues
    /// when its parent runs again, in another future.
    pub(crate) async fn put_back<T>(&self, child: CallId) -> T {
        let _waits = Waits { family: self, child };
        self.under_way().waiting.push(child);
        self.changed.notify_waiters();
        std::future::pending().await
    }

    fn under_way(&self) -> MutexGuard<'_, UnderWay> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A child that waits for a person or for a result from outside. Dropping this value removes the child from the list of
/// waiting children.
struct Waits<'a> {
    family: &'a Family,
    child: CallId,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.family.under_way().waiting.retain(|it| *it != self.child);
    }
}
