//! Limits how many calls may run at the same time: each of these calls is inside the gate. A call takes no lock if it
//! enters an open gate with room, and leaves the gate while no call waits.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::Notify;

/// The bit of `inside` that is set when the gate is closed.
const CLOSED: u64 = 1 << 63;

pub(crate) struct Gate {
    limit: u64,
    /// The number of calls inside, and the bit [`CLOSED`].
    inside: AtomicU64,
    waiting: AtomicUsize,
    /// The number of calls that have stepped out. These calls still run, hold no place, and will come back.
    out: AtomicUsize,
    left: Notify,
    empty: Notify,
}

/// The kind of a call that enters the gate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// A call that enters for the first time.
    First,
    /// A call that was inside before, or that belongs to a call inside. It may enter a closed gate.
    Again,
}

/// The error of a call that cannot enter, because the gate was permanently closed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct GateClosed;

/// A place inside, which is given back when this value is dropped.
pub(crate) struct Pass<'a>(&'a Gate);

impl Gate {
    pub(crate) fn new(limit: u32) -> Self {
        Self {
            limit: limit.into(),
            inside: AtomicU64::new(0),
            waiting: AtomicUsize::new(0),
            out: AtomicUsize::new(0),
            left: Notify::new(),
            empty: Notify::new(),
        }
    }

    /// Enters without waiting; `None` if the gate is full or other calls already wait.
    #[inline]
    pub(crate) fn enter_at_once(&self) -> Option<Result<Pass<'_>, GateClosed>> {
        self.at_once(Entry::First)
    }

    /// Enters without waiting, for a call that was inside before. It may enter a closed gate.
    #[inline]
    pub(crate) fn enter_again_at_once(&self) -> Option<Result<Pass<'_>, GateClosed>> {
        self.at_once(Entry::Again)
    }

    /// Waits for a place, behind the calls that already wait. Otherwise a call that leaves and enters again could
    /// overtake the waiting calls for ever.
    pub(crate) async fn enter(&self) -> Result<Pass<'_>, GateClosed> {
        self.wait_for_place(Entry::First).await
    }

    /// Waits for a place, for a call that was inside before. It may enter a closed gate.
    pub(crate) async fn enter_again(&self) -> Result<Pass<'_>, GateClosed> {
        self.wait_for_place(Entry::Again).await
    }

    /// Enters even if the gate is full. Waiting calls enter when the number of calls inside is below the limit again.
    pub(crate) fn enter_over(&self) {
        self.inside.fetch_add(1, Ordering::SeqCst);
    }

    /// Records that a call inside gives up its place for a time.
    pub(crate) fn steps_out(&self) {
        self.out.fetch_add(1, Ordering::SeqCst);
    }

    /// Records that a call which had given up its place has a place again, or has ended.
    pub(crate) fn comes_back(&self) {
        self.out.fetch_sub(1, Ordering::SeqCst);
        if self.is_closed() {
            self.empty.notify_waiters();
        }
    }

    #[inline]
    fn at_once(&self, entry: Entry) -> Option<Result<Pass<'_>, GateClosed>> {
        if self.waiting.load(Ordering::SeqCst) > 0 { None } else { self.try_enter(entry) }
    }

    async fn wait_for_place(&self, entry: Entry) -> Result<Pass<'_>, GateClosed> {
        let waiting = Waiting::new(self);
        let mut is_next = waiting.is_first;
        loop {
            let left = self.left.notified();
            tokio::pin!(left);
            // The notification is registered before the count is read, so that no departure is missed.
            left.as_mut().enable();
            if (is_next || self.is_closed())
                && let Some(entered) = self.try_enter(entry)
            {
                return entered;
            }
            left.await;
            is_next = true;
        }
    }

    /// Closes the gate permanently. Calls that would enter for the first time are refused, and calls inside continue.
    pub(crate) fn close(&self) {
        self.inside.fetch_or(CLOSED, Ordering::SeqCst);
        self.left.notify_waiters();
    }

    pub(crate) fn inside(&self) -> u64 {
        self.inside.load(Ordering::SeqCst) & !CLOSED
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.inside.load(Ordering::SeqCst) & CLOSED != 0
    }

    /// Waits until no call is inside, and no call that stepped out is still to come back.
    pub(crate) async fn empty(&self) {
        loop {
            let emptied = self.empty.notified();
            tokio::pin!(emptied);
            emptied.as_mut().enable();
            if self.inside() == 0 && self.out.load(Ordering::SeqCst) == 0 {
                return;
            }
            emptied.await;
        }
    }

    /// Enters if the gate has room; `None` if it is full. A call that does not enter is not counted, so it takes no
    /// place from a waiting call.
    #[inline]
    fn try_enter(&self, entry: Entry) -> Option<Result<Pass<'_>, GateClosed>> {
        let counted = if entry == Entry::First { u64::MAX } else { !CLOSED };
        let one_more = |inside: u64| (inside & counted < self.limit).then_some(inside + 1);
        match self.inside.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more) {
            Ok(_) => Some(Ok(Pass(self))),
            Err(inside) if inside & CLOSED & counted != 0 => Some(Err(GateClosed)),
            Err(_) => None,
        }
    }

    #[inline]
    pub(crate) fn leave(&self) {
        let before = self.inside.fetch_sub(1, Ordering::SeqCst);
        if before & CLOSED != 0 && before & !CLOSED == 1 {
            self.empty.notify_waiters();
        }
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.left.notify_one();
        }
    }
}

impl Drop for Pass<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// A waiting call, which is counted until it enters or stops waiting.
struct Waiting<'a> {
    gate: &'a Gate,
    is_first: bool,
}

impl<'a> Waiting<'a> {
    fn new(gate: &'a Gate) -> Self {
        Self { gate, is_first: gate.waiting.fetch_add(1, Ordering::SeqCst) == 0 }
    }
}

/// Wakes the next waiting call if there is room, because a waiting call checks for room only when it is woken.
impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let before = self.gate.waiting.fetch_sub(1, Ordering::SeqCst);
        if before > 1 && self.gate.inside() < self.gate.limit {
            self.gate.left.notify_one();
        }
    }
}
