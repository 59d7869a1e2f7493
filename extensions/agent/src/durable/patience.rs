//! How long a driver tries a commit whose journal fails: some looks, as the reply may only be lost; an answer of the model, which was
//! paid for, is held until the journal can take it.

use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::SignedDuration;
use tokio::time::sleep;
use toolwright::Executor;
use toolwright::journal::{StoreError, StoreErrorKind};

use super::RunError;
use super::pause::GrowingPause;

/// How often a commit is looked for whose reply was lost.
const LOOKS: u32 = 5;

/// How long until the next look.
const PAUSE: Duration = Duration::from_millis(200);

/// How long until what is held is tried again.
const HELD: GrowingPause =
    GrowingPause { first: SignedDuration::from_millis(200), longest: SignedDuration::from_secs(5) };

pub(super) enum Patience<'a> {
    /// For as long as a reply may be late.
    Short,
    /// Until this is done, or the journal can write.
    HeldUntil(BoxFuture<'a, ()>),
}

impl Patience<'_> {
    /// Waits before the commit is tried again that has failed so many times.
    ///
    /// # Errors
    /// Where it is not tried again.
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

/// Does something with the journal of a run, again while the journal fails in a way that may pass: what is paid for is held meanwhile. Who
/// no longer waits for it drops it.
///
/// # Errors
/// Where time alone mends nothing, or the executor takes no more calls: another process goes on.
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

/// Whether a person or time may end the failure without a loss of what is stored.
pub(super) fn may_pass(error: &StoreError) -> bool {
    matches!(error.kind(), StoreErrorKind::Unavailable | StoreErrorKind::Full)
}
