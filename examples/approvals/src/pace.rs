//! Slows refunds down, so that a person can kill the application before or after the payment.

use std::time::Duration;

use crate::say::say;

/// How long to pause; `None` runs at full speed.
pub struct Pace(Option<Duration>);

impl Pace {
    pub fn of(pause: Option<Duration>) -> Self {
        Self(pause)
    }

    /// Prints the stage that the refund has reached, and waits.
    pub async fn pause(&self, stage: &str) {
        if let Some(pause) = self.0 {
            say(format_args!("  {stage}, pausing"));
            tokio::time::sleep(pause).await;
        }
    }
}
