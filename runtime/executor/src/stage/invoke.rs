//! Runs a tool that has to wait. The timeout and the cancellation are set up only for such a tool. Panics are caught.

use crate::call::cancelled;
use std::any::Any;
use std::future::poll_fn;
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;
use toolwright_core::error_kind;

use futures::future::{BoxFuture, select_all};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::call::{Family, Lineage, Plan, RunState};
use toolwright_core::call::Call;
use toolwright_core::error::{Done, ErrorClass, ToolError};
use toolwright_core::output::Answer;

type Panic = Box<dyn Any + Send>;

/// The kind of the error of a tool that panicked.
pub(crate) const PANIC: &str = "panic";

/// Runs a tool that has to wait, until the tool ends, the time is up or the call is cancelled.
pub(crate) async fn invoke(
    mut future: UnfinishedCall<'_>,
    run: &RunState,
    plan: &Plan,
    call: &Call<'_>,
    deadline: Option<Instant>,
    family: Option<&Family>,
) -> Result<Answer, ToolError> {
    let mut given_up = pin!(given_up(run, call));
    let mut time_up = pin!(async {
        // The remaining total timeout may be shorter than the timeout of an attempt.
        let left = deadline.map(|it| it.saturating_duration_since(Instant::now()));
        let is_whole = left.is_some_and(|left| plan.timeout.is_none_or(|timeout| left < timeout));
        match if is_whole { left } else { plan.timeout } {
            // The clock is polled outside of tokio's budget, so that a tool that uses up the budget does not stop the
            // clock.
            Some(time) => tokio::task::unconstrained(time_passed(time, family)).await,
            None => std::future::pending().await,
        }
        match plan.total_timeout.filter(|_| is_whole) {
            Some(total) => whole_timed_out(call.name(), total),
            None => timed_out(call.name(), plan.timeout.unwrap_or_default()),
        }
    });
    poll_fn(|context| {
        if let Poll::Ready(ended) = poll_safely(&mut future, context) {
            return Poll::Ready(ended.map_err(|panic| panicked(call.name(), panic)));
        }
        if given_up.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(cancelled(call.name())));
        }
        match catch_unwind(AssertUnwindSafe(|| time_up.as_mut().poll(context))) {
            Ok(polled) => polled.map(Err),
            Err(_) => Poll::Ready(Err(no_clock())),
        }
    })
    .await
}

/// Completes when this much time has passed. The time in which children of the call run does not count.
async fn time_passed(time: Duration, family: Option<&Family>) {
    let Some(family) = family else { return tokio::time::sleep(time).await };
    let (began, before) = (Instant::now(), family.time_away());
    loop {
        let away = family.time_away().saturating_sub(before);
        let left = time.saturating_add(away).saturating_sub(began.elapsed());
        if left.is_zero() {
            return;
        }
        tokio::time::sleep(left).await;
        family.alone().await;
    }
}

/// Awaits a future up to a time limit. Returns an error if the time is up, or if the runtime has no timer.
pub(crate) async fn in_time<T>(
    tool: &str,
    timeout: Option<Duration>,
    future: impl Future<Output = T>,
) -> Result<T, ToolError> {
    let Some(timeout) = timeout else { return Ok(future.await) };
    let mut future = pin!(future);
    let mut sleep = None;
    poll_fn(|context| {
        if let Poll::Ready(value) = future.as_mut().poll(context) {
            return Poll::Ready(Ok(value));
        }
        let slept = catch_unwind(AssertUnwindSafe(|| {
            let sleep = sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
            sleep.as_mut().poll(context)
        }));
        match slept {
            Ok(slept) => slept.map(|()| Err(timed_out(tool, timeout))),
            Err(_) => Poll::Ready(Err(no_clock())),
        }
    })
    .await
}

/// Sleeps for this time. Returns an error at once if the runtime has no timer.
pub(crate) async fn slept(delay: Duration) -> Result<(), ToolError> {
    let mut sleep = None;
    poll_fn(|context| {
        let slept = catch_unwind(AssertUnwindSafe(|| {
            let sleep = sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(delay)));
            sleep.as_mut().poll(context)
        }));
        match slept {
            Ok(slept) => slept.map(Ok),
            Err(_) => Poll::Ready(Err(no_clock())),
        }
    })
    .await
}

/// The future of a call, which may be dropped before it ends. A panic of its drop is caught, because the call already
/// has its answer then.
pub(crate) struct UnfinishedCall<'a, T = Answer>(Option<BoxFuture<'a, T>>);

impl<'a, T> UnfinishedCall<'a, T> {
    pub(crate) fn new(future: BoxFuture<'a, T>) -> Self {
        Self(Some(future))
    }
}

impl<T> Drop for UnfinishedCall<'_, T> {
    fn drop(&mut self) {
        drop_safely(self.0.take());
    }
}

/// Drops a value of the application, and catches a panic while it is dropped.
pub(crate) fn drop_safely<T>(value: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        forget(panic);
    }
}

/// Polls the future of a call, and catches a panic.
pub(crate) fn poll_safely<T>(
    future: &mut UnfinishedCall<'_, T>,
    context: &mut Context<'_>,
) -> Poll<Result<T, Panic>> {
    let Some(future) = &mut future.0 else { return Poll::Pending };
    match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    }
}

/// Returns whether the run, the call or its parent was already cancelled.
#[inline]
pub(crate) fn is_given_up(run: &RunState, call: &Call<'_>) -> bool {
    let cancelled =
        |token: Option<&CancellationToken>| token.is_some_and(CancellationToken::is_cancelled);
    cancelled(run.own_cancellation())
        || cancelled(call.cancellation())
        || cancelled(run.lineage().map(Lineage::ended))
}

/// Completes when the call, its run, its parent or the executor is cancelled.
pub(crate) async fn given_up(run: &RunState, call: &Call<'_>) {
    given_up_by(run, Some(call)).await;
}

/// Completes when the call (if there is one), its run, its parent or the executor is cancelled. A child does not wait
/// for its run and the executor, because they cancel its parent, which cancels the child.
pub(crate) async fn given_up_by(run: &RunState, call: Option<&Call<'_>>) {
    let tokens = run.cancellations().chain(call.and_then(Call::cancellation));
    select_all(tokens.map(|token| Box::pin(token.cancelled()))).await;
}

#[cold]
fn no_clock() -> ToolError {
    ToolError::internal("a call that waits needs a tokio runtime with time enabled")
}

#[cold]
fn timed_out(tool: &str, timeout: Duration) -> ToolError {
    stopped(format!("`{tool}` was stopped because it took longer than {timeout:?}"))
}

#[cold]
fn whole_timed_out(tool: &str, total: Duration) -> ToolError {
    stopped(format!("`{tool}` was stopped because the whole call took longer than {total:?}"))
}

fn stopped(message: String) -> ToolError {
    ToolError::new(error_kind::TIMEOUT, message)
        .class(ErrorClass::Transient)
        .by_executor(Done::TimedOut)
        .hint("ask for less at once, or go on without it")
}

/// Makes the error of an attempt that could not begin before the total timeout ended.
#[cold]
pub(crate) fn too_late(tool: &str, plan: &Plan) -> ToolError {
    let total = plan.total_timeout.unwrap_or_default();
    ToolError::new(
        error_kind::TIMEOUT,
        format!("`{tool}` was not begun in time: the whole call may take {total:?}"),
    )
    .class(ErrorClass::NotStarted { retry_after: None })
    .hint("call again later, or go on without it")
}

#[cold]
pub(crate) fn panicked(tool: &str, panic: Panic) -> ToolError {
    ToolError::new(PANIC, format!("`{tool}` failed because of a defect in it"))
        .class(ErrorClass::Unknown)
        .hint("go on without it")
        .caused_by(panic_words(panic))
}

/// Returns the message of a panic, for operators.
pub(crate) fn panic_words(panic: Panic) -> String {
    match panic.downcast::<String>() {
        Ok(words) => *words,
        Err(panic) => match panic.downcast::<&'static str>() {
            Ok(words) => (*words).to_owned(),
            Err(panic) => {
                // The payload has an unknown type, whose drop might panic again, so it is leaked.
                forget(panic);
                "a panic without words".to_owned()
            }
        },
    }
}
