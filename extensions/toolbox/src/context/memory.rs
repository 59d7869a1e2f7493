//! Limits the memory of work that has no memory limit of its own, by cancelling the work when it uses too much.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use memory_stats::memory_stats;

/// How often the memory is measured. A process can fill some ten megabytes in this time.
const INTERVAL: Duration = Duration::from_millis(2);

/// Runs `work`, and calls `cancel` if the memory of the process grows by more than `most` bytes meanwhile. Returns the
/// result of `work`, and whether `work` was cancelled. All memory of the process counts, not only that of `work`. If
/// the operating system does not report the memory of a process, `work` is never cancelled.
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
        // The measuring thread does not panic.
        (done, watch.join().unwrap_or(false))
    })
}

fn measure() -> Option<usize> {
    memory_stats().map(|stats| stats.physical_mem)
}
