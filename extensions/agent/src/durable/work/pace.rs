//! Paces slow work, so that it takes at most a tenth of the time.

use std::time::Duration;

use tokio::time::Instant;

/// The length of the pause after the work, as a multiple of the time that the work took.
pub(super) const REST: u32 = 9;

/// When the work last ended, and how long it took; `None` before it was first done.
#[derive(Default)]
pub(super) struct Pace(Option<(Instant, Duration)>);

impl Pace {
    /// Returns whether the pause after the last work is over.
    pub(super) fn is_due(&self) -> bool {
        self.0.is_none_or(|(ended, took)| ended.elapsed() >= took * REST)
    }

    /// Notes that the work was done just now, and how long it took.
    pub(super) fn note_done(&mut self, took: Duration) {
        self.0 = Some((Instant::now(), took));
    }
}
