//! How slowly refunds are paid, so that somebody can kill the application before or after the payment.

use std::time::Duration;

use crate::say::say;

/// At full speed unless told otherwise.
pub struct Pace(Option<Duration>);

impl Pace {
    pub fn of(pause: Option<Duration>) -> Self {
        Self(pause)
    }

    /// Says what stands now, and waits.
    pub async fn pause(&self, stands: &str) {
        if let Some(pause) = self.0 {
            say(format_args!("  {stands}, pausing"));
            tokio::time::sleep(pause).await;
        }
    }
}
