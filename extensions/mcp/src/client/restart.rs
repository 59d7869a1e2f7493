//! Decides when a server that has failed may be started again. The functions do no I/O, and get the time as an
//! argument.

use std::time::{Duration, Instant};

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(60);

/// The number of a server's failures in a row, and the time before which the server must not be started again.
#[derive(Debug, Default)]
pub(super) struct Restart {
    failures: u32,
    not_before: Option<Instant>,
}

impl Restart {
    /// Notes that the server could not be started, or has ended by itself.
    pub(super) fn note_failure(&mut self, now: Instant) {
        let delay = FIRST.saturating_mul(1 << self.failures.min(16)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        self.not_before = Some(now + delay);
    }

    /// Notes that the server was started, and removes the failure that was noted in advance. Earlier failures still
    /// count, because only an answer shows that the server works.
    pub(super) fn note_start(&mut self) {
        self.failures = self.failures.saturating_sub(1);
        self.not_before = None;
    }

    /// Notes that the server has answered a call.
    pub(super) fn note_answer(&mut self) {
        *self = Self::default();
    }

    /// Returns how long the next start has to wait, if it has to.
    pub(super) fn wait(&self, now: Instant) -> Option<Duration> {
        let left = self.not_before?.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_in_a_row_doubles_the_wait_up_to_a_minute() {
        let now = Instant::now();
        let mut restart = Restart::default();
        assert_eq!(restart.wait(now), None);
        let mut waits = Vec::new();
        for _ in 0..9 {
            restart.note_failure(now);
            waits.extend(restart.wait(now).map(|it| it.as_millis()));
        }
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
        assert_eq!(restart.wait(now + LONGEST), None);
        // A server that starts and dies at its first call waits as long as one that does not start.
        restart.note_start();
        assert_eq!(restart.wait(now), None);
        restart.note_failure(now);
        assert_eq!(restart.wait(now), Some(LONGEST));
        restart.note_answer();
        restart.note_failure(now);
        assert_eq!(restart.wait(now), Some(FIRST));
    }
}
