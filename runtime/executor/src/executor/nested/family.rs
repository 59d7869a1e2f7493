//! What all attempts of a call that makes calls share: its clock, which children it waits for, and what they have answered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::remembered::Remembered;
use crate::executor::{Claim, Plan, RunState};
use crate::lifecycle::By;
use toolwright_core::context::CallId;
use toolwright_core::tool::Effect;
use toolwright_journal::journal::CallRecord;

/// What all attempts of a parent share. A parent that a journal records makes one attempt for each claim.
pub(crate) struct Family {
    pub(super) tool: Arc<str>,
    /// How deep its children lie.
    pub(super) depth: u32,
    pub(crate) recorded: Option<Recorded>,
    pub(super) remembered: Remembered,
    under_way: Mutex<UnderWay>,
    changed: Notify,
    /// A child was dropped before it had its answer.
    has_dropped: AtomicBool,
}

/// What a journal says of a parent.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    /// Its id.
    pub(crate) call: CallId,
    /// Its run, user and session: a worker may carry it out for another run than its own.
    pub(crate) run: Arc<str>,
    pub(crate) user: Option<Arc<str>>,
    pub(crate) session: Option<Arc<str>>,
    /// The names of the tools that its run could call, where it was shown a part of them.
    pub(crate) may_call: Option<Arc<[String]>>,
    /// Whether it is begun for the first time, so that it has no children.
    pub(crate) is_first: bool,
    /// Whether it may be begun again, and so be put back until a child has been decided.
    pub(crate) may_be_put_back: bool,
    /// Who runs it.
    pub(crate) by: By,
    /// The right to run it.
    pub(super) claim: Arc<Claim>,
    /// Another may run it from now on.
    is_left: Arc<AtomicBool>,
}

/// The children that are under way.
#[derive(Default)]
struct UnderWay {
    number: usize,
    /// Those of them that wait for a person.
    waiting: Vec<CallId>,
    /// Since when there is one.
    since: Option<Instant>,
    /// For how long there were some, before.
    before: Duration,
}

impl Family {
    /// Nothing for a tool that makes no calls.
    #[inline]
    pub(crate) fn of(
        run: &RunState,
        plan: &Plan,
        recorded: impl FnOnce() -> Option<Recorded>,
    ) -> Option<Arc<Self>> {
        plan.makes_calls.then(|| Self::new(run, plan, recorded()))
    }

    #[cold]
    fn new(run: &RunState, plan: &Plan, recorded: Option<Recorded>) -> Arc<Self> {
        Arc::new(Self {
            tool: Arc::clone(&plan.entry.name),
            depth: run.lineage().map_or(1, |lineage| lineage.depth + 1),
            // What a journal has recorded, nobody has to remember.
            remembered: Remembered::new(recorded.is_none() && plan.retry.attempts > 1),
            recorded,
            under_way: Mutex::default(),
            changed: Notify::new(),
            has_dropped: AtomicBool::new(false),
        })
    }

    /// For how long its children were under way: its time-outs do not count that time.
    pub(crate) fn time_away(&self) -> Duration {
        let under_way = self.under_way();
        under_way.before + under_way.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Completes when no child is under way.
    pub(crate) async fn alone(&self) {
        self.until(|under_way| (under_way.number == 0).then_some(())).await;
    }

    /// Completes when every child that is under way waits for a person, so that nothing goes on: with their ids.
    pub(crate) async fn stuck(&self) -> Vec<CallId> {
        let is_stuck = |it: &UnderWay| it.number > 0 && it.waiting.len() == it.number;
        self.until(|it| is_stuck(it).then(|| it.waiting.clone())).await
    }

    async fn until<T>(&self, look: impl Fn(&UnderWay) -> Option<T>) -> T {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // Registered before the look, so that no change is missed.
            changed.as_mut().enable();
            if let Some(found) = look(&self.under_way()) {
                return found;
            }
            changed.await;
        }
    }

    /// A child begins.
    pub(super) fn begins(&self) {
        let mut under_way = self.under_way();
        under_way.number += 1;
        under_way.since.get_or_insert_with(Instant::now);
    }

    /// A child is dropped without its answer.
    pub(super) fn drops(&self) {
        self.has_dropped.store(true, Ordering::Relaxed);
        self.ends();
    }

    /// Whether there may be children in the journal that have no answer, although their parent has ended.
    pub(crate) fn has_left_children(&self) -> bool {
        let was_begun_before = self.recorded.as_ref().is_some_and(|it| !it.is_first);
        was_begun_before || self.has_dropped.load(Ordering::Relaxed)
    }

    /// A child has ended.
    pub(super) fn ends(&self) {
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

    /// A child waits for a person. It goes on when its parent runs again.
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

/// A child that waits. Dropped, its parent does not wait for it any more.
struct Waits<'a> {
    family: &'a Family,
    child: CallId,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.family.under_way().waiting.retain(|it| *it != self.child);
    }
}

impl Recorded {
    /// Notes that another may run the parent from now on: its children are left to that one.
    pub(crate) fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
    }

    /// Who runs the children, where they are dropped now.
    pub(crate) fn runs(&self) -> By {
        if self.is_left.load(Ordering::Relaxed) { By::Worker } else { self.by }
    }

    /// What a journal says of a parent that is claimed.
    pub(crate) fn of(record: &CallRecord, by: By, claim: &Arc<Claim>) -> Self {
        let text = |text: &Option<String>| text.as_deref().map(Arc::from);
        Self {
            call: record.id,
            run: record.place.run.as_str().into(),
            user: text(&record.requester.user),
            session: text(&record.requester.session),
            may_call: record.may_call.as_deref().map(Arc::from),
            is_first: record.epoch <= 1,
            may_be_put_back: record.effect != Effect::Once,
            by,
            claim: Arc::clone(claim),
            is_left: Arc::default(),
        }
    }
}
