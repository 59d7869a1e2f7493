//! The last events of a run: bounded in number and in bytes.

use std::collections::VecDeque;
use std::task::Waker;

use super::{NumberedEvent, RunEvent};

/// The maximum number of events that a ring holds.
pub(super) const EVENTS: usize = 1024;

/// The maximum number of bytes of text that the ring holds; a single event may exceed it.
pub(super) const BYTES: usize = 4 << 20;

#[derive(Default)]
pub(super) struct Ring {
    events: VecDeque<NumberedEvent>,
    /// The number of the last event, counted from 1.
    last: u64,
    /// The turn of the last event.
    turn: u64,
    /// The gaps in the numbers, in order. A gap begins after the last event of a driver and ends before the first event
    /// of the next driver.
    gaps: Vec<(u64, u64)>,
    bytes: usize,
    wakers: Vec<Waker>,
    /// How many drivers of this process drive the run now.
    pub drivers: usize,
    /// How many drivers have ended so far.
    pub ends: u64,
    /// Whether a reader was ever made.
    pub is_read: bool,
}

impl Ring {
    /// Returns the number that the next event gets.
    pub fn next(&self) -> u64 {
        self.last + 1
    }

    /// Returns whether this ring has events of the turn.
    pub fn is_at(&self, turn: u64) -> bool {
        self.turn == turn && !self.events.is_empty()
    }

    pub fn is_driven(&self) -> bool {
        self.drivers > 0
    }

    /// Begins the events of a driver: the events of the `n`th driver have numbers above `(n - 1) << 32`, so that
    /// numbers grow from process to process.
    pub fn begin(&mut self, epoch: u64) {
        let base = epoch.saturating_sub(1) << 32;
        if base > self.last {
            self.gaps.push((self.last, base));
            self.last = base;
        }
    }

    /// Adds an event, and drops the oldest events while a limit is exceeded.
    pub fn push(&mut self, turn: u64, kind: RunEvent) {
        self.turn = turn;
        self.last += 1;
        self.bytes += kind.bytes();
        self.events.push_back(NumberedEvent { number: self.last, turn, kind });
        while self.events.len() > EVENTS || (self.bytes > BYTES && self.events.len() > 1) {
            let dropped = self.events.pop_front().map_or(0, |it| it.kind.bytes());
            self.bytes -= dropped;
        }
        self.wake();
    }

    /// Adds an event of the current turn.
    pub fn push_now(&mut self, kind: RunEvent) {
        self.push(self.turn, kind);
    }

    /// Returns the event with a number. If the event is gone, returns an event `Missed`, with the number of the last
    /// missed event.
    pub fn read(&self, number: u64) -> Option<NumberedEvent> {
        let first = self.events.front()?;
        // A gap has no events, so a reader that has read all events before the gap has missed none.
        let past = |number, (before, after): &(u64, u64)| match number == before + 1 {
            true => after + 1,
            false => number,
        };
        let number = self.gaps.iter().fold(number.max(1), past);
        if number < first.number {
            let kind = RunEvent::Missed { first: number, last: first.number - 1 };
            return Some(NumberedEvent { number: first.number - 1, turn: first.turn, kind });
        }
        let index = self.events.partition_point(|event| event.number < number);
        self.events.get(index).cloned()
    }

    pub fn wake_later(&mut self, waker: &Waker) {
        if !self.wakers.iter().any(|it| it.will_wake(waker)) {
            self.wakers.push(waker.clone());
        }
    }

    /// Notes that a driver of the run has ended.
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

    fn text(bytes: usize) -> RunEvent {
        RunEvent::Text("x".repeat(bytes))
    }

    #[test]
    fn a_ring_drops_its_oldest_events_and_says_which() {
        let mut ring = Ring::default();
        assert_eq!(ring.read(1), None);
        (0..EVENTS + 10).for_each(|_| ring.push(1, text(1)));
        let missed = ring.read(3).unwrap();
        assert_eq!((missed.number, missed.kind), (10, RunEvent::Missed { first: 3, last: 10 }));
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

    #[test]
    fn numbers_grow_from_driver_to_driver_and_a_reader_from_before_hears_what_it_missed() {
        let mut ring = Ring::default();
        ring.begin(3);
        let base = 2 << 32;
        assert_eq!(ring.read(1), None, "nothing has happened yet");
        ring.push(4, text(1));
        // A reader that has read this ring from the beginning has missed nothing. A reader that comes from another
        // process has.
        assert_eq!(ring.read(1).unwrap().number, base + 1);
        let missed = ring.read((1 << 32) + 8).unwrap();
        let kind = RunEvent::Missed { first: (1 << 32) + 8, last: base };
        assert_eq!((missed.number, missed.kind), (base, kind));
        ring.begin(4);
        ring.push(5, text(1));
        assert_eq!(ring.read(base + 2).unwrap().number, (3 << 32) + 1);
        assert_eq!(ring.read(ring.next()), None);
    }
}
