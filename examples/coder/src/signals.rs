//! SIGINT, SIGTERM and SIGHUP: the first signal cancels the run, a second one ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use toolwright::CancellationToken;

use self::listening::Listening;

/// The token that a signal cancels, and the number of that signal.
#[derive(Clone, Default)]
pub struct Signals {
    token: CancellationToken,
    caught: Arc<AtomicU8>,
}

impl Signals {
    /// Listens from now on. Needs a tokio runtime.
    pub fn listen() -> Self {
        let signals = Self::default();
        // Where listening fails, signals end the program as they do by default.
        let Ok(mut listening) = Listening::start() else { return signals };
        let own = signals.clone();
        tokio::spawn(async move {
            own.caught.store(listening.next().await, Ordering::Relaxed);
            own.token.cancel();
            listening.next().await;
            std::process::exit(own.exit_code().into());
        });
        signals
    }

    /// Returns a token that the first signal cancels.
    pub fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    /// Returns 128 and the number of the signal.
    pub fn exit_code(&self) -> u8 {
        self.caught.load(Ordering::Relaxed).saturating_add(128)
    }
}

#[cfg(unix)]
mod listening {
    use std::io;

    use tokio::signal::unix::{Signal, SignalKind, signal};

    pub struct Listening([Signal; 3]);

    impl Listening {
        pub fn start() -> io::Result<Self> {
            let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
            let [interrupt, terminate, hangup] = kinds.map(signal);
            Ok(Self([interrupt?, terminate?, hangup?]))
        }

        /// Waits for the next signal, and returns its number.
        pub async fn next(&mut self) -> u8 {
            let [interrupt, terminate, hangup] = &mut self.0;
            tokio::select! {
                _ = interrupt.recv() => 2,
                _ = terminate.recv() => 15,
                _ = hangup.recv() => 1,
            }
        }
    }
}

#[cfg(not(unix))]
mod listening {
    use std::io;

    pub struct Listening;

    impl Listening {
        pub fn start() -> io::Result<Self> {
            Ok(Self)
        }

        /// Waits for an interrupt, and returns its Unix number.
        pub async fn next(&mut self) -> u8 {
            match tokio::signal::ctrl_c().await {
                Ok(()) => 2,
                Err(_) => std::future::pending().await,
            }
        }
    }
}
