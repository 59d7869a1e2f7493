//! Makes the executor a `tower::Service`, and shuts it down gracefully.

use std::convert::Infallible;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use tower_service::Service;

use super::Executor;
use toolwright_core::call::Call;
use toolwright_core::output::Answer;

/// Lets applications wrap middleware of `tower` around an executor. A call never fails, because failures are answers.
/// The executor is always ready. A call that has to wait for a place waits in its own future, so layers that use
/// readiness do not see the load.
impl Service<Call<'static>> for Executor {
    type Response = Answer;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Answer, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: Call<'static>) -> Self::Future {
        let executor = self.clone();
        Box::pin(async move { Ok(Executor::call(&executor, &call).await) })
    }
}

/// How the shutdown of an executor ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct DrainReport {
    /// The number of calls that held a place of the executor when the time was up, and that were cancelled. A call
    /// whose tool waits for calls that it makes holds no place, so it is cancelled but not counted. Another executor
    /// continues a cancelled call of the journal if the call may be repeated. A call of the journal that may happen
    /// only once becomes indeterminate.
    pub cancelled: u64,
}

impl Executor {
    /// Reports whether the executor refuses new calls, because it is being [drained](Self::drain).
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.state.core.gate.is_closed()
    }

    /// Completes when the executor begins to refuse new calls.
    #[doc(hidden)]
    pub fn draining(&self) -> impl Future<Output = ()> + Send + use<> {
        self.state.core.closing.clone().cancelled_owned()
    }

    /// Completes when the executor refuses new calls and no call is running.
    #[doc(hidden)]
    pub async fn wait_until_drained(&self) {
        let core = &self.state.core;
        core.closing.cancelled().await;
        core.gate.empty().await;
        core.telling.empty().await;
    }

    /// Shuts the executor down. New calls are refused (answered `shutting_down`). Running calls may finish within
    /// `grace`; the others are then cancelled, and this method waits for their answers. It also waits for a call that
    /// has begun but whose caller does not poll it. It does not wait for the threads of blocking tools.
    pub async fn drain(&self, grace: Duration) -> DrainReport {
        let core = &self.state.core;
        core.gate.close();
        core.telling.close();
        // Calls that wait because of a tool's limit are refused, too.
        core.gates.close();
        // Calls that wait for their next attempt stop waiting.
        core.closing.cancel();
        let answered = async {
            core.gate.empty().await;
            core.telling.empty().await;
        };
        if tokio::time::timeout(grace, answered).await.is_ok() {
            return DrainReport { cancelled: 0 };
        }
        let cancelled = core.gate.inside();
        core.released.cancel();
        core.gate.empty().await;
        core.telling.empty().await;
        DrainReport { cancelled }
    }
}
