//! Marks the steps of a write, so that a test can end the process at each step.

/// Marks a step. Does nothing, except in the unit tests of this crate.
#[cfg(not(test))]
#[inline]
pub(crate) fn step() {}

/// Ends the process, like SIGKILL, after as many steps as an environment variable says.
#[cfg(test)]
pub(crate) fn step() {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicI64, Ordering};

    static LEFT: LazyLock<AtomicI64> = LazyLock::new(|| {
        let steps = std::env::var(STEPS).ok().and_then(|steps| steps.parse().ok());
        AtomicI64::new(steps.unwrap_or(i64::MAX))
    });
    if LEFT.fetch_sub(1, Ordering::Relaxed) == 1 {
        #[cfg(unix)]
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        std::process::abort();
    }
}

/// The environment variable that limits how many steps a process of the tests may make.
#[cfg(test)]
pub(crate) const STEPS: &str = "TOOLWRIGHT_TOOLBOX_STEPS";
