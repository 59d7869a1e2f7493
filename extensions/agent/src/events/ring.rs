//! The last events of a run: bounded in number and in bytes.

use std::collections::VecDeque;
use std::task::Waker;

use super::{RunEvent, RunEventKind};

/// The most events.
pub(super) const EVENTS: usize = 1024;

/// The most bytes of texts, but for one event that alone has more.
pub(super) const BYTES: usize = 4 << 20;

#[derive(Default)]
pub(super) struct Ring {
    events: VecDeque<RunEvent>,
    /// The number of the last event, counted from 1.
    last: u64,
    /// The turn of the last event.
    turn: u64,
    bytes: usize,
    wakers: Vec<Waker>,
    /// How many drivers the run has.
    pub drivers: usize,
    /// How many there were that are gone.
    pub ends: u64,
    /// Whether somebody has asked for the events.
    pub is_read: bool,
}

impl Ring {
    /// The number of the next event.
    pub fn next(&self) -> u64 {
        self.last + 1
    }

    pub fn is_driven(&self) -> bool {
        self.drivers > 0
    }

    /// Adds an event, and drops the oldest where there are too many.
    pub fn push(&mut self, turn: u64, kind: RunEventKind) {
        self.turn = turn;
        self.last += 1;
        self.bytes += kind.bytes();
        self.events.push_back(RunEvent { number: self.last, turn, kind });
        while self.events.len() > EVENTS || (self.bytes > BYTES && self.events.len() > 1) {
            let dropped = self.events.pop_front().map_or(0, |it| it.kind.bytes());
            self.bytes -= dropped;
        }
        self.wake();
    }

    /// Adds an event of the turn that is worked on.
    pub fn push_now(&mut self, kind: RunEventKind) {
        self.push(self.turn, kind);
    }

    /// The event of a number, or what tells that it is gone. The number of that is the last one that was missed.
    pub fn read(&self, number: u64) -> Option<RunEvent> {
        let first = self.events.front()?;
        let number = number.max(1);
        if number < first.number {
            let kind = RunEventKind::Missed { first: number, last: first.number - 1 };
            return Some(RunEvent { number: first.number - 1, turn: first.turn, kind });
        }
        let index = usize::try_from(number - first.number).ok()?;
        self.events.get(index).cloned()
    }

    pub fn wake_later(&mut self, waker: &Waker) {
        if !self.wakers.iter().any(|it| it.will_wake(waker)) {
            self.wakers.push(waker.clone());
        }
    }

    /// A driver is gone.
    pub fn end(&mut self) {
        self.drivers = self.drivers.saturating_sub(1);
        self.ends += 1;
        self.wake();
    }

    fn wake(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: usize) -> RunEventKind {
        RunEventKind::Text { text: "x".repeat(bytes) }
    }

    #[test]
    fn a_ring_drops_its_oldest_events_and_says_which() {
        let mut ring = Ring::default();
        assert_eq!(ring.read(1), None);
        (0..EVENTS + 10).for_each(|_| ring.push(1, text(1)));
        let missed = ring.read(3).unwrap();
        assert_eq!((missed.number, missed.kind), (10, RunEventKind::Missed { first: 3, last: 10 }));
        assert_eq!(ring.read(11).unwrap().number, 11);
        assert_eq!(ring.read(ring.next()), None);
    }

    #[test]
    fn a_ring_is_bounded_in_bytes_too() {
        let mut ring = Ring::default();
        (0..5).for_each(|_| ring.push(1, text(BYTES / 2)));
        assert_eq!(ring.events.len(), 2);
        ring.push(1, text(2 * BYTES));
        assert_eq!((ring.events.len(), ring.bytes), (1, 2 * BYTES));
    }
}
