//! Signals that end a call. The first signal cancels the call, so that its resources are released; the second one ends
//! the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use tokio_util::sync::CancellationToken;

/// The reaction of a command to signals: a token that cancels calls, and the number of the signal that was received.
#[derive(Debug)]
pub(super) struct Stop {
    token: CancellationToken,
    /// The number of the signal that was received; 0 if there was none.
    caught: Arc<AtomicU8>,
    listens: AtomicBool,
}

impl Stop {
    /// Makes a value that handles no signals, because the application that embeds the command line handles them itself.
    pub(super) fn never() -> Self {
        Self {
            token: CancellationToken::new(),
            caught: Arc::default(),
            listens: AtomicBool::new(true),
        }
    }

    /// Makes a value that handles signals from the first call of [`token`](Self::token) on. Until then, a signal ends
    /// the program as usual, so that a program which waits for its standard input can be interrupted.
    pub(super) fn by_signals() -> Self {
        Self { listens: AtomicBool::new(false), ..Self::never() }
    }

    /// Returns a token, which is cancelled when a signal comes. Must be called within a tokio runtime.
    pub(super) fn token(&self) -> CancellationToken {
        if !self.listens.swap(true, Ordering::Relaxed) {
            listen(self.token.clone(), Arc::clone(&self.caught));
        }
        self.token.clone()
    }

    /// Returns the number of the signal, if one came.
    pub(super) fn caught(&self) -> Option<u8> {
        Some(self.caught.load(Ordering::Relaxed)).filter(|number| *number != 0)
    }
}

fn listen(token: CancellationToken, caught: Arc<AtomicU8>) {
    // If the handlers cannot be installed, a signal ends the program as usual.
    let Ok(mut signals) = signals::Signals::new() else { return };
    tokio::spawn(async move {
        caught.store(signals.next().await, Ordering::Relaxed);
        token.cancel();
        let again = signals.next().await;
        std::process::exit(super::Exit::Signal(again).code().into());
    });
}

#[cfg(unix)]
mod signals {
    use std::future::poll_fn;
    use std::io;
    use std::task::Poll;

    use tokio::signal::unix::{Signal, SignalKind, signal};

    pub(super) struct Signals([(SignalKind, Signal); 2]);

    impl Signals {
        pub(super) fn new() -> io::Result<Self> {
            let of = |kind| signal(kind).map(|signal| (kind, signal));
            Ok(Self([of(SignalKind::interrupt())?, of(SignalKind::terminate())?]))
        }

        /// Waits for the next signal and returns its number.
        pub(super) async fn next(&mut self) -> u8 {
            poll_fn(|context| {
                let came = self.0.iter_mut().find_map(|(kind, signal)| {
                    signal.poll_recv(context).is_ready().then_some(*kind)
                });
                match came {
                    Some(kind) => Poll::Ready(u8::try_from(kind.as_raw_value()).unwrap_or(0)),
                    None => Poll::Pending,
                }
            })
            .await
        }
    }
}

#[cfg(not(unix))]
mod signals {
    use std::io;

    pub(super) struct Signals;

    impl Signals {
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self)
        }

        /// Waits for an interrupt and returns the number that Unix gives it.
        pub(super) async fn next(&mut self) -> u8 {
            match tokio::signal::ctrl_c().await {
                Ok(()) => 2,
                Err(_) => std::future::pending().await,
            }
        }
    }
}
