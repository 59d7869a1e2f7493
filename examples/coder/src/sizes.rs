//! Prints how large a run's requests are, turn by turn, if its model has a small window.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolwright_agent::recording::Exchange;
use toolwright_agent::{NoticeKind, RunNotice};

use crate::transcript::Transcript;

/// How many bytes count as a token, as in the agent's estimate.
const BYTES: usize = 3;

/// The size of the last request.
#[derive(Clone, Default)]
pub struct Sizes(Arc<AtomicUsize>);

impl Sizes {
    /// Records the size of a request that was answered.
    pub fn exchanged(&self, exchange: &Exchange) {
        self.0.store(exchange.request.body.get().len(), Ordering::Relaxed);
    }

    /// Prints the size of the last request, and what was left out of its history.
    pub fn notice(&self, notice: &RunNotice<'_>, transcript: Transcript) {
        match notice.kind {
            NoticeKind::Compacted { before, after, is_too_long } => {
                let too_long =
                    if is_too_long { ", which is more than there is room for" } else { "" };
                let words = format!(
                    "the history of turn {} goes as {after} tokens of {before}{too_long}",
                    notice.turn
                );
                transcript.note("window", &words);
            }
            NoticeKind::Answered { .. } => {
                let bytes = self.0.load(Ordering::Relaxed);
                let words =
                    format!("turn {}: {bytes} bytes, about {} tokens", notice.turn, bytes / BYTES);
                transcript.note("request", &words);
            }
            _ => {}
        }
    }
}
