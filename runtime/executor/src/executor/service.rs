//! The executor as a `tower::Service`, and its orderly end.

use std::convert::Infallible;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use tower_service::Service;

use super::Executor;
use toolwright_core::call::Call;
use toolwright_core::output::Answer;

/// Users layer their own middleware around it. It never fails: failures are answers. It is always
/// ready, and a call that finds no room waits in its own future, so layers that look at readiness
/// see none of the load.
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

/// How an executor came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct DrainReport {
    /// Calls that were still running when the time was up, and were cancelled. Of a call in a journal that may be
    /// repeated, another executor takes it up; one that may happen once is indeterminate.
    pub cancelled: u64,
}

impl Executor {
    /// Reports whether it takes no new calls, because it is [drained](Self::drain).
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.state.core.gate.is_closed()
    }

    /// Completes when it takes no new calls any more.
    #[doc(hidden)]
    pub fn draining(&self) -> impl Future<Output = ()> + Send + use<> {
        self.state.core.closing.clone().cancelled_owned()
    }

    /// Completes when it takes no new calls any more, and none runs.
    #[doc(hidden)]
    pub async fn wait_until_drained(&self) {
        let core = &self.state.core;
        core.closing.cancelled().await;
        core.gate.empty().await;
        core.telling.empty().await;
    }

    /// Takes no new calls (they are answered `shutting_down`), lets the running ones finish for as
    /// long as `grace`, cancels the rest and waits for their answers. A call that has begun and that
    /// is not polled keeps it waiting; the threads of blocking tools do not.
    pub async fn drain(&self, grace: Duration) -> DrainReport {
        let core = &self.state.core;
        core.gate.close();
        core.telling.close();
        // Who waits for a tool of few calls is turned away as well.
        core.gates.close();
        // Who waits to be tried again waits no more.
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
