//! The program's allocator: the system's, with counters that can be switched on.
//!
//! While the counters are off, an allocation costs one relaxed load and a well-predicted branch more, so `call`
//! measures the same. The counters are global, so no other thread may run while they are on.

#![expect(unsafe_code, reason = "an allocator is unsafe by its trait; this one only forwards")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

#[global_allocator]
static COUNTING: Counting = Counting {
    on: AtomicBool::new(false),
    allocations: AtomicU64::new(0),
    bytes: AtomicU64::new(0),
    live: AtomicI64::new(0),
    peak: AtomicI64::new(0),
};

struct Counting {
    on: AtomicBool,
    allocations: AtomicU64,
    bytes: AtomicU64,
    /// The bytes that were allocated and not freed while counting; below zero where more was freed.
    live: AtomicI64,
    peak: AtomicI64,
}

/// What some work allocated. Memory that grows in place counts at its new size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocated {
    pub allocations: u64,
    pub bytes: u64,
}

/// Does the work, and counts its allocations.
pub fn counted<T>(work: impl FnOnce() -> T) -> (T, Allocated) {
    let before = COUNTING.so_far();
    COUNTING.on.store(true, Relaxed);
    let result = work();
    COUNTING.on.store(false, Relaxed);
    let after = COUNTING.so_far();
    let allocated = Allocated {
        allocations: after.allocations - before.allocations,
        bytes: after.bytes - before.bytes,
    };
    (result, allocated)
}

/// Does the work, and returns the most bytes that it held at one time, beyond what was there before.
pub fn peak<T>(work: impl FnOnce() -> T) -> (T, u64) {
    COUNTING.live.store(0, Relaxed);
    COUNTING.peak.store(0, Relaxed);
    let (result, _) = counted(work);
    (result, COUNTING.peak.load(Relaxed).unsigned_abs())
}

impl Counting {
    fn count(&self, bytes: usize) {
        if self.on.load(Relaxed) {
            self.allocations.fetch_add(1, Relaxed);
            self.bytes.fetch_add(bytes as u64, Relaxed);
            self.change(bytes as i64);
        }
    }

    fn discount(&self, bytes: usize) {
        if self.on.load(Relaxed) {
            self.change(-(bytes as i64));
        }
    }

    fn change(&self, bytes: i64) {
        let live = self.live.fetch_add(bytes, Relaxed) + bytes;
        self.peak.fetch_max(live, Relaxed);
    }

    fn so_far(&self) -> Allocated {
        Allocated { allocations: self.allocations.load(Relaxed), bytes: self.bytes.load(Relaxed) }
    }
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.count(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.count(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // A move may hold both places for a moment, which is not counted.
        self.discount(layout.size());
        self.count(bytes);
        unsafe { System.realloc(place, layout, bytes) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        self.discount(layout.size());
        unsafe { System.dealloc(place, layout) }
    }
}

impl fmt::Display for Allocated {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} of {} B", self.allocations, self.bytes)
    }
}
