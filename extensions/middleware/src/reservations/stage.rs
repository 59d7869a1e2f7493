//! The reservations as a middleware: reserves before a call begins, renews while the call runs, and releases when it
//! has ended or was dropped.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _, ready};

use super::table::HoldId;
use super::{Reservations, Reserved, Shared};
use toolwright::{
    AfterCall, Answer, BeforeCall, Footprint, Middleware, MiddlewareCall, ToolEventKind,
};

/// The interval of renewals: a third of the lifetime, so that one renewal may be late.
const RENEWAL: Duration = Duration::from_secs(20);

impl Middleware for Reservations {
    fn before<'a>(&'a self, call: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
        ready(self.reserve_for(call)).boxed()
    }
}

impl Reservations {
    fn reserve_for(&self, call: &MiddlewareCall<'_>) -> BeforeCall {
        let footprint = call.footprint();
        if *footprint == Footprint::nothing() {
            return BeforeCall::Continue;
        }
        let run: Arc<str> = call.run().into();
        let reserved = {
            let (mut table, now) = self.0.table();
            table.reserve_for_call(&run, footprint, now)
        };
        match reserved {
            Ok(id) => {
                let shared = Arc::clone(&self.0);
                BeforeCall::Then(Box::new(Reserving {
                    shared,
                    run,
                    footprint: footprint.clone(),
                    id,
                }))
            }
            Err(conflict) => {
                let reserved = Reserved::from(conflict);
                call.notify(ToolEventKind::Reserved {
                    resource: reserved.resource.as_ref(),
                    holder: &reserved.holder,
                    left: reserved.left,
                });
                BeforeCall::Refuse(reserved.error(&call.definition().name))
            }
        }
    }
}

/// The reservation of a call, which is released when this value is dropped.
struct Reserving {
    shared: Arc<Shared>,
    run: Arc<str>,
    footprint: Footprint,
    id: HoldId,
}

impl AfterCall for Reserving {
    fn during(&mut self) -> BoxFuture<'_, ()> {
        async move {
            // Without a timer, the loop ends and the reservation is not renewed.
            while renewal_is_due().await.is_some() {
                self.renew();
            }
        }
        .boxed()
    }

    fn after<'a>(
        self: Box<Self>,
        _: &'a MiddlewareCall<'a>,
        _: &'a Answer,
    ) -> BoxFuture<'a, Option<Answer>> {
        drop(self);
        ready(None).boxed()
    }
}

impl Reserving {
    fn renew(&mut self) {
        let (mut table, now) = self.shared.table();
        if table.renew(self.id, now) {
            return;
        }
        // The reservation has expired, because the call was not polled for the whole lifetime.
        match table.reserve_for_call(&self.run, &self.footprint, now) {
            Ok(id) => self.id = id,
            Err(conflict) => {
                drop(table);
                let reserved = Reserved::from(conflict);
                tracing::warn!(run = &*self.run, %reserved, "a running call has lost its reservation");
            }
        }
    }
}

impl Drop for Reserving {
    fn drop(&mut self) {
        self.shared.table().0.release(self.id);
    }
}

/// Waits for the time of a renewal. Returns `None` immediately if the async runtime has no timer, where tokio panics.
async fn renewal_is_due() -> Option<()> {
    AssertUnwindSafe(async { tokio::time::sleep(RENEWAL).await }).catch_unwind().await.ok()
}
