//! Cancels work that takes too much memory, which its own limits do not bound.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use memory_stats::memory_stats;

/// How often the memory is measured. In this time a machine can fill some ten megabytes.
const INTERVAL: Duration = Duration::from_millis(2);

/// Runs `work`, and calls `cancel` if the memory of the process grows by more than `most` bytes meanwhile. Returns the result
/// of `work`, and whether it was cancelled. All memory of the process counts, not only that of `work`. If the system does not
/// report the memory of a process, nothing is cancelled.
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
        // The watching thread does not panic, so the default is never used.
        (done, watch.join().unwrap_or(false))
    })
}

fn measure() -> Option<usize> {
    memory_stats().map(|stats| stats.physical_mem)
}
