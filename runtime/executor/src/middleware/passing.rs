//! Passes a call through the middleware in order. Each stage is guarded against panics, has a time limit, and is
//! dropped if the call is cancelled.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Either, join_all, select};
use tokio::time::Instant;

use crate::call::{AfterCall, BeforeCall, MiddlewareCall, Plan, RunState, cancelled};
use crate::stage;
use crate::stage::{UnfinishedCall, panic_words, poll_safely};
use toolwright_core::call::Call;
use toolwright_core::error::{Done, ErrorClass, ToolError};
use toolwright_core::output::Answer;

/// The minimum delay before the stages examine a delayed call again.
const SHORTEST_DELAY: Duration = Duration::from_millis(10);

/// The [`AfterCall`] values of the stages that let a call continue, in the order of the stages. When `EnteredStages` is
/// dropped, these values are dropped, the last first. If the attempt did not begin, [`AfterCall::not_begun`] is called
/// instead. A panic of one stage does not affect the others.
#[derive(Default)]
pub(crate) struct EnteredStages {
    afters: Mutex<Vec<Box<dyn AfterCall>>>,
    has_begun: bool,
}

/// The reason why a stage ends a call before its tool begins.
#[derive(Debug)]
pub(crate) enum EarlyEnd {
    Answered(Answer),
    Refused(ToolError),
}

impl From<EarlyEnd> for Answer {
    fn from(turned: EarlyEnd) -> Self {
        match turned {
            EarlyEnd::Answered(answer) => answer,
            EarlyEnd::Refused(error) => error.into(),
        }
    }
}

/// Why a stage did not finish.
enum StageStop {
    Panicked(String),
    TookTooLong(Duration),
    GivenUp,
    NoClock,
}

/// A call that passes through the stages.
#[derive(Clone, Copy)]
struct Passing<'p> {
    run: &'p RunState,
    call: &'p Call<'p>,
}

/// Runs the stages before the tool begins. If a later stage answers the call, the earlier stages examine that answer,
/// in reverse order.
pub(crate) async fn enter(
    run: &RunState,
    plan: &Plan,
    call: &Call<'_>,
    about: &MiddlewareCall<'_>,
    deadline: Option<Instant>,
) -> Result<EnteredStages, EarlyEnd> {
    let mut entered = EnteredStages::default();
    let passing = Passing { run, call };
    for around in &run.core.middleware {
        let left = deadline.map(|it| it.saturating_duration_since(Instant::now()));
        let limit = plan.timeout.into_iter().chain(left).min();
        // The code before the stage's first `await` may panic, too, so it runs inside the guarded future.
        let before = Box::pin(async { around.before(about).await });
        let answer = match passing.limit(before, limit).await {
            Ok(BeforeCall::Continue) => continue,
            Ok(BeforeCall::Then(after)) => {
                entered.afters().push(after);
                continue;
            }
            Ok(BeforeCall::Answer(answer)) => answer,
            Ok(BeforeCall::Refuse(error)) if delay_of(&error).is_some() => {
                return Err(EarlyEnd::Refused(error));
            }
            // A refusal is the final answer, so the call is not tried again.
            Ok(BeforeCall::Refuse(error)) => error.by_executor(Done::Refused).into(),
            Err(stopped) => return Err(EarlyEnd::Refused(not_run(call.name(), stopped))),
        };
        return Err(EarlyEnd::Answered(entered.leave_all(run, plan, call, about, answer).await));
    }
    Ok(entered)
}

/// Returns how long a stage delays a call by this error; `None` if the error is a refusal.
pub(crate) fn delay_of(error: &ToolError) -> Option<Duration> {
    match (error.classified(), error.done()) {
        (ErrorClass::NotStarted { retry_after: Some(time) }, None) => {
            Some(time.max(SHORTEST_DELAY))
        }
        _ => None,
    }
}

impl Passing<'_> {
    /// Runs a stage until it ends, its time limit expires or the call is cancelled.
    async fn limit<T>(
        self,
        future: BoxFuture<'_, T>,
        limit: Option<Duration>,
    ) -> Result<T, StageStop> {
        let mut future = UnfinishedCall::new(future);
        let mut given_up = pin!(stage::given_up(self.run, self.call));
        let mut time_up = pin!(
            AssertUnwindSafe(async {
                match limit {
                    Some(limit) => {
                        tokio::task::unconstrained(tokio::time::sleep(limit)).await;
                        limit
                    }
                    None => std::future::pending().await,
                }
            })
            .catch_unwind()
        );
        poll_fn(|context| {
            if let Poll::Ready(ended) = poll_safely(&mut future, context) {
                return Poll::Ready(ended.map_err(|panic| StageStop::Panicked(panic_words(panic))));
            }
            if given_up.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(StageStop::GivenUp));
            }
            let slept = time_up.as_mut().poll(context);
            slept.map(|slept| Err(slept.map_or(StageStop::NoClock, StageStop::TookTooLong)))
        })
        .await
    }
}

impl EnteredStages {
    fn afters(&mut self) -> &mut Vec<Box<dyn AfterCall>> {
        self.afters.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether no stage has work left for the end of the attempt.
    pub(crate) fn is_empty(&self) -> bool {
        self.afters.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Runs an attempt, and concurrently the work of the stages during the attempt. Returns the outcome of the attempt.
    pub(crate) async fn beside<T>(&mut self, attempt: impl Future<Output = T>) -> T {
        self.has_begun = true;
        let afters = self.afters();
        if afters.is_empty() {
            return attempt.await;
        }
        let beside = afters.iter_mut().map(|after| {
            // A panic in `during` ends only the work of that stage.
            AssertUnwindSafe(async { after.during().await }).catch_unwind()
        });
        match select(pin!(attempt), join_all(beside)).await {
            Either::Left((outcome, _)) => outcome,
            Either::Right((_, attempt)) => attempt.await,
        }
    }

    /// Lets the stages examine and replace the answer of an attempt, the last stage first. If the attempt did not
    /// begin, the stages do not see its answer.
    pub(crate) async fn leave(
        mut self,
        run: &RunState,
        plan: &Plan,
        call: &Call<'_>,
        about: &MiddlewareCall<'_>,
        answer: Answer,
    ) -> Answer {
        match answer.error() {
            Some(error) if error.is_not_begun() => {
                self.has_begun = false;
                answer
            }
            _ => self.leave_all(run, plan, call, about, answer).await,
        }
    }

    async fn leave_all(
        mut self,
        run: &RunState,
        plan: &Plan,
        call: &Call<'_>,
        about: &MiddlewareCall<'_>,
        mut answer: Answer,
    ) -> Answer {
        let passing = Passing { run, call };
        while let Some(after) = self.afters().pop() {
            let left = Box::pin(async { after.after(about, &answer).await });
            let other = match passing.limit(left, plan.timeout).await {
                Ok(None) => continue,
                Ok(Some(other)) => stage::check(&plan.entry, other).unwrap_or_else(Answer::from),
                // The answer already says that the call was cancelled.
                Err(StageStop::GivenUp) if is_cancelled(&answer) => continue,
                Err(stopped) => not_passed_on(call.name(), stopped, answer.error()).into(),
            };
            answer = other;
        }
        answer
    }
}

impl Drop for EnteredStages {
    fn drop(&mut self) {
        let has_begun = self.has_begun;
        while let Some(after) = self.afters().pop() {
            match has_begun {
                true => stage::drop_safely(after),
                false => not_begun(after),
            }
        }
    }
}

fn is_cancelled(answer: &Answer) -> bool {
    answer.error().is_some_and(|error| error.classified() == ErrorClass::Cancelled)
}

/// Notifies a stage that the attempt did not begin; ignores a panic, so that the other stages are notified too.
fn not_begun(after: Box<dyn AfterCall>) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| after.not_begun())) {
        std::mem::forget(panic);
    }
}

/// Makes the error of a call that does not run because a stage did not finish.
#[cold]
fn not_run(tool: &str, stopped: StageStop) -> ToolError {
    let (how, cause) = match stopped {
        StageStop::GivenUp => return cancelled(tool).by_executor(Done::NotBegun),
        StageStop::NoClock => return no_clock().by_executor(Done::Refused),
        StageStop::Panicked(words) => ("failed because of a defect in it".to_owned(), Some(words)),
        StageStop::TookTooLong(limit) => (format!("took longer than {limit:?}"), None),
    };
    let message = format!("`{tool}` was not run: a stage of the application {how}");
    stage_failed(message, cause)
        .class(ErrorClass::NotStarted { retry_after: None })
        .by_executor(Done::Refused)
        .hint("go on without it")
}

/// Makes the error that replaces the answer of a call because a stage did not finish. `was` is the error in the
/// replaced answer, if there was one. The new error has the same class, which says whether the call may be repeated.
#[cold]
fn not_passed_on(tool: &str, stopped: StageStop, was: Option<&ToolError>) -> ToolError {
    let (how, cause) = match stopped {
        StageStop::NoClock => return no_clock(),
        StageStop::GivenUp => ("was cancelled".to_owned(), None),
        StageStop::Panicked(words) => ("failed because of a defect in it".to_owned(), Some(words)),
        StageStop::TookTooLong(limit) => (format!("took longer than {limit:?}"), None),
    };
    let Some(was) = was else {
        let message =
            format!("`{tool}` ran, but its result is lost: a stage of the application {how}");
        return stage_failed(message, cause).hint("do not repeat it; tell the user");
    };
    let message = format!("`{tool}` failed, and so did a stage of the application, which {how}");
    let error = stage_failed(message, cause).class(was.classified());
    match was.done() {
        Some(done) => error.by_executor(done),
        None => error,
    }
}

fn stage_failed(message: String, cause: Option<String>) -> ToolError {
    let error = ToolError::new("stage_failed", message);
    match cause {
        Some(cause) => error.caused_by(cause),
        None => error,
    }
}

#[cold]
fn no_clock() -> ToolError {
    ToolError::internal("a stage that waits needs a tokio runtime with time enabled")
}
