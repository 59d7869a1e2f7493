//! SIGINT and SIGTERM: the first cancels what runs, a second one ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use toolwright::CancellationToken;

/// What a signal does, once somebody listens.
#[derive(Clone, Default)]
pub struct Signals {
    token: CancellationToken,
    caught: Arc<AtomicU8>,
}

impl Signals {
    /// Listens from now on. Within a tokio runtime.
    pub fn listen() -> Self {
        let signals = Self::default();
        let own = signals.clone();
        tokio::spawn(async move {
            own.caught.store(next().await, Ordering::Relaxed);
            own.token.cancel();
            next().await;
            std::process::exit(own.exit_code().into());
        });
        signals
    }

    /// Cancelled by the first signal.
    pub fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    /// 128 and the number of the signal.
    pub fn exit_code(&self) -> u8 {
        self.caught.load(Ordering::Relaxed).saturating_add(128)
    }
}

/// The number of the next signal.
#[cfg(unix)]
async fn next() -> u8 {
    use tokio::signal::unix::{SignalKind, signal};

    const NUMBERS: [u8; 2] = [2, 15];
    let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
    let [Ok(mut interrupt), Ok(mut terminate)] = kinds.map(signal) else {
        // Where they cannot be listened to, they end the program as they always do.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => NUMBERS[0],
        _ = terminate.recv() => NUMBERS[1],
    }
}

#[cfg(not(unix))]
async fn next() -> u8 {
    match tokio::signal::ctrl_c().await {
        Ok(()) => 2,
        Err(_) => std::future::pending().await,
    }
}
