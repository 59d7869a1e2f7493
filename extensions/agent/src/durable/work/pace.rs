//! Paces work that takes long, so that it takes at most a tenth of the time.

use std::time::Duration;

use tokio::time::Instant;

/// A pause lasts so many times as long as what is done.
pub(super) const REST: u32 = 9;

/// When something was done last, and how long that took.
#[derive(Default)]
pub(super) struct Pace(Option<(Instant, Duration)>);

impl Pace {
    /// Whether it may be done again.
    pub(super) fn is_due(&self) -> bool {
        self.0.is_none_or(|(ended, took)| ended.elapsed() >= took * REST)
    }

    /// It was done just now, and took so long.
    pub(super) fn note_done(&mut self, took: Duration) {
        self.0 = Some((Instant::now(), took));
    }
}
