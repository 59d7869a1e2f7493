//! Ends the process where it is told to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Signal, getpid, kill_process};

use crate::point::Point;

/// Where a process ends itself. A clone is the same.
#[derive(Clone, Default)]
pub struct Deadly(Option<Arc<(Point, AtomicU32)>>);

impl Deadly {
    /// Ends the process when it comes to a point for the nth time, counted from 1.
    #[must_use]
    pub fn at(point: Point, nth: u32) -> Self {
        Self(Some(Arc::new((point, AtomicU32::new(nth.max(1))))))
    }

    /// The process has come to a point: here it may end.
    pub fn reached(&self, point: Point) {
        let Some(plan) = &self.0 else { return };
        if plan.0 == point && plan.1.fetch_sub(1, Ordering::SeqCst) == 1 {
            die();
        }
    }
}

/// `kill -9`: nothing of the process runs after it.
pub(crate) fn die() {
    // It cannot fail for the process itself, and there is nothing to be done if it did.
    let _ = kill_process(getpid(), Signal::KILL);
    loop {
        std::thread::park();
    }
}
