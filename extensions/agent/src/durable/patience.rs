//! Decides for how long a driver retries a commit whose store fails. Usually a few retries are enough, since only the
//! reply may be lost. But an answer of the model was paid for. So the driver retries its commit until the journal can
//! record the answer, the executor is drained or the run is cancelled.

use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::SignedDuration;
use tokio::time::sleep;
use toolwright::Executor;
use toolwright::journal::{StoreError, StoreErrorKind};

use super::RunError;
use super::pause::GrowingPause;

/// How many times a commit is tried if its reply may have been lost.
const LOOKS: u32 = 5;

/// The pause before each retry of [`Patience::Short`].
const PAUSE: Duration = Duration::from_millis(200);

/// The pauses between the retries of a commit that records requests that were paid for.
const HELD: GrowingPause =
    GrowingPause { first: SignedDuration::from_millis(200), longest: SignedDuration::from_secs(5) };

pub(super) enum Patience<'a> {
    /// Retries a few times, after pauses of less than a second in all. The commit may have succeeded, and only its reply
    /// was lost.
    Short,
    /// Retries until the journal can write, or this future is done.
    HeldUntil(BoxFuture<'a, ()>),
}

impl Patience<'_> {
    /// Waits before the next retry; `times` is the number of failures so far.
    ///
    /// # Errors
    /// The error of the store, if the commit is not retried any more.
    pub(super) async fn after(
        &mut self,
        run: &str,
        error: StoreError,
        times: u32,
    ) -> Result<(), RunError> {
        match self {
            Self::Short if error.is_unavailable() && times < LOOKS => sleep(PAUSE).await,
            Self::HeldUntil(given_up) if may_pass(&error) => {
                if times == LOOKS {
                    tracing::warn!(run, %error, "an answer of the model is held until the journal can take it");
                }
                let pause = Duration::try_from(HELD.after(times)).unwrap_or(PAUSE);
                tokio::select! {
                    biased;
                    () = given_up => return Err(error.into()),
                    () = sleep(pause) => {}
                }
            }
            _ => return Err(error.into()),
        }
        Ok(())
    }
}

/// Retries an operation on the journal of a run while the journal fails in a way that may pass. To stop waiting, drop
/// the future.
///
/// # Errors
/// When waiting does not help, or the executor takes no more calls: then another process continues the run.
pub(crate) async fn retry_in_outage<T, E: fmt::Display, W: Future<Output = Result<T, E>>>(
    (run, executor): (&str, &Executor),
    store_error: impl Fn(&E) -> Option<&StoreError>,
    mut work: impl FnMut() -> W,
) -> Result<T, E> {
    let mut times = 0;
    loop {
        let error = match work().await {
            Err(error) if store_error(&error).is_some_and(may_pass) => error,
            done => return done,
        };
        times += 1;
        if times == LOOKS {
            tracing::warn!(run, %error, "a sub-agent is held until the journal can be used");
        }
        let pause = Duration::try_from(HELD.after(times)).unwrap_or(PAUSE);
        tokio::select! {
            biased;
            () = executor.draining() => return Err(error),
            () = sleep(pause) => {}
        }
    }
}

/// Returns whether the failure of the store may be temporary: the store is unavailable or full.
pub(super) fn may_pass(error: &StoreError) -> bool {
    matches!(error.kind(), StoreErrorKind::Unavailable | StoreErrorKind::Full)
}
