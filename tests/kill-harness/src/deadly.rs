//! Kills its own process at a chosen point.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Signal, getpid, kill_process};

use crate::point::Point;

/// The point at which a process kills itself. Clones share the count of visits.
#[derive(Clone, Default)]
pub struct Deadly(Option<Arc<(Point, AtomicU32)>>);

impl Deadly {
    /// Kills the process when it comes to a point for the nth time, counted from 1.
    #[must_use]
    pub fn at(point: Point, nth: u32) -> Self {
        Self(Some(Arc::new((point, AtomicU32::new(nth.max(1))))))
    }

    /// Reports that the process has come to a point, where it may be killed.
    pub fn reached(&self, point: Point) {
        let Some(plan) = &self.0 else { return };
        if plan.0 == point && plan.1.fetch_sub(1, Ordering::SeqCst) == 1 {
            die();
        }
    }
}

/// Kills the process as `kill -9` does.
pub(crate) fn die() {
    // A process may always kill itself, so no error needs handling.
    let _ = kill_process(getpid(), Signal::KILL);
    loop {
        std::thread::park();
    }
}
