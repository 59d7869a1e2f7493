//! Limits how many calls may run at the same time: each of these calls is inside the gate. A call takes no lock if it
//! enters an open gate with room, and leaves the gate while no call waits.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::Notify;

/// The bit of `counts` that is set when the gate is closed.
const CLOSED: u64 = 1 << 63;

/// The bits of `counts` with the number of calls inside.
const INSIDE: u64 = u32::MAX as u64;

/// One call in the number of calls that have stepped out, which is in the bits of `counts` between the others.
const ONE_OUT: u64 = INSIDE + 1;

pub(crate) struct Gate {
    limit: u64,
    /// The number of calls inside, the number of calls that have stepped out, and the bit [`CLOSED`]. A call that has
    /// stepped out still runs, holds no place, and will come back. One word holds both numbers, so that a call which
    /// goes from one number to the other is always seen in one of them.
    counts: AtomicU64,
    waiting: AtomicUsize,
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
            counts: AtomicU64::new(0),
            waiting: AtomicUsize::new(0),
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
        self.counts.fetch_add(1, Ordering::SeqCst);
    }

    /// Records that a call inside gives up its place for a time.
    pub(crate) fn steps_out(&self) {
        self.counts.fetch_add(ONE_OUT, Ordering::SeqCst);
    }

    /// Records that a call which had given up its place has a place again, or has ended.
    pub(crate) fn comes_back(&self) {
        self.counts.fetch_sub(ONE_OUT, Ordering::SeqCst);
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
        self.counts.fetch_or(CLOSED, Ordering::SeqCst);
        self.left.notify_waiters();
    }

    pub(crate) fn inside(&self) -> u64 {
        self.counts.load(Ordering::SeqCst) & INSIDE
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.counts.load(Ordering::SeqCst) & CLOSED != 0
    }

    /// Waits until no call is inside, and no call that stepped out is still to come back.
    pub(crate) async fn empty(&self) {
        loop {
            let emptied = self.empty.notified();
            tokio::pin!(emptied);
            emptied.as_mut().enable();
            if self.counts.load(Ordering::SeqCst) & !CLOSED == 0 {
                return;
            }
            emptied.await;
        }
    }

    /// Enters if the gate has room; `None` if it is full. A call that does not enter is not counted, so it takes no
    /// place from a waiting call.
    #[inline]
    fn try_enter(&self, entry: Entry) -> Option<Result<Pass<'_>, GateClosed>> {
        // The bit of a closed gate makes the number larger than every limit.
        let counted = if entry == Entry::First { INSIDE | CLOSED } else { INSIDE };
        let one_more = |counts: u64| (counts & counted < self.limit).then_some(counts + 1);
        match self.counts.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more) {
            Ok(_) => Some(Ok(Pass(self))),
            Err(counts) if counts & CLOSED & counted != 0 => Some(Err(GateClosed)),
            Err(_) => None,
        }
    }

    #[inline]
    pub(crate) fn leave(&self) {
        let before = self.counts.fetch_sub(1, Ordering::SeqCst);
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
