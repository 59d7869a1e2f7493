//! Waits for a deadline or a cancellation. Without a deadline or a token, never completes.

use std::future::pending;

use tokio::time::{Instant, sleep_until};
use toolwright::CancellationToken;

pub(super) async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}

pub(crate) async fn cancellation(token: Option<&CancellationToken>) {
    match token {
        Some(token) => token.cancelled().await,
        None => pending().await,
    }
}
