//! Ends work that takes too much memory, which its own limits do not bound.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use memory_stats::memory_stats;

/// How often the memory is looked at. Meanwhile a machine fills some ten megabytes.
const INTERVAL: Duration = Duration::from_millis(2);

/// Runs `work`; calls `cancel` where the process has meanwhile come to take `most` more bytes than before. Returns what came of
/// the work, and whether it was cancelled. The memory is that of the whole process: what else grows counts too. Where the
/// system does not say how much a process takes, nothing is cancelled.
pub(super) fn within<T>(
    most: usize,
    cancel: impl Fn() + Sync,
    work: impl FnOnce() -> T,
) -> (T, bool) {
    let Some(before) = measure() else { return (work(), false) };
    let ((end, ended), cancel) = (channel::<()>(), &cancel);
    thread::scope(|scope| {
        let watch = scope.spawn(move || {
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if measure().is_some_and(|now| now.saturating_sub(before) > most) {
                    cancel();
                    return true;
                }
            }
            false
        });
        let done = work();
        drop(end);
        // The watch does nothing that panics.
        (done, watch.join().unwrap_or(false))
    })
}

fn measure() -> Option<usize> {
    memory_stats().map(|stats| stats.physical_mem)
}
