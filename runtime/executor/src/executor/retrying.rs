//! Retries of failed calls: the options of the builder, and the attempts of a call that no journal records.

use std::pin::pin;
use std::time::Duration;

use futures::future::{BoxFuture, Either, select};
use tokio::time::Instant;

use super::ExecutorBuilder;
use super::Plan;
use super::calling::Stages;
use super::nested::Family;
use super::staged::AttemptOutcome;
use crate::lifecycle::words::cancelled;
use crate::retry::{CircuitBreaker, RetryCase, RetryPolicy};
use crate::stage;
use toolwright_core::context::Identity;
use toolwright_core::error::{ErrorClass, ToolError};
use toolwright_core::output::Answer;

/// The maximum time that a caller waits for the next attempt, if the error sets that time and not the retry policy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

impl ExecutorBuilder {
    /// Sets how often a failed call is tried, and the delays between the attempts. The default is
    /// [`RetryPolicy::TOOL`]. Settings that a tool declares itself, such as `retry(attempts = 5)`, take precedence.
    ///
    /// A call is tried again only if the class of its error and the effect of its tool allow it. Each attempt has the
    /// same call id and the same idempotency key. Between attempts the call frees its place, and resources that it
    /// borrows as `&mut T` are opened again for each attempt. The answer of the last attempt is the answer of the call.
    ///
    /// If the error names a time (`retry_after` of `ErrorClass::NotStarted`), the call waits for that time, up to a
    /// minute or the policy's `max_delay`, whichever is longer. If the named time is longer still, the call is not
    /// tried again, and the error, which names the time, is the answer. A call in a journal can wait there for any
    /// time, but its caller waits at most a minute.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// use std::time::Duration;
    ///
    /// use toolwright::retry::RetryPolicy;
    /// use toolwright::{Call, ErrorClass, Executor, Registry, ToolError, tool};
    ///
    /// /// Asks a service that is busy at first.
    /// #[tool]
    /// async fn ask(asked: &AtomicU32) -> Result<&'static str, ToolError> {
    ///     if asked.fetch_add(1, Ordering::SeqCst) < 2 {
    ///         let retry_after = Some(Duration::from_millis(1));
    ///         return Err(ToolError::new("rate_limited", "too many requests").class(ErrorClass::NotStarted { retry_after }));
    ///     }
    ///     Ok("done")
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let executor = Executor::builder(Registry::of([ASK])?)
    ///     .unrestricted()
    ///     .service(AtomicU32::new(0))
    ///     .retry(RetryPolicy::TOOL.delay(Duration::from_millis(1)))
    ///     .build()?;
    /// assert_eq!(executor.call(&Call::new("ask", "{}")).await.text(), "done");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// Limits how long a whole call may take if its tool sets no limit: its attempts, the delays between them, and the
    /// time that it waits for a place. There is no limit by default. [`timeout`](Self::timeout) limits each attempt.
    ///
    /// When the time is over, a running attempt is stopped, and the call is answered `timeout`. If the next attempt
    /// would begin after the end of the time, the call is not tried again, and the answer of the last attempt is its
    /// answer. The time begins when the call may run, so a person may take long to approve it. With a journal, the time
    /// continues while no process works on the call, for instance after a crash. An attempt that would begin too late
    /// does not begin.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use toolwright::{Call, Executor, Registry, tool};
    ///
    /// /// Waits for ever, in attempts of an hour.
    /// #[tool(effect = read, timeout = "1h", retry(attempts = 3))]
    /// async fn wait() {
    ///     std::future::pending().await
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let executor = Executor::builder(Registry::of([WAIT])?)
    ///     .total_timeout(Some(Duration::from_millis(50)))
    ///     .build()?;
    /// let answer = executor.call(&Call::new("wait", "{}")).await;
    /// assert_eq!(
    ///     answer.error().expect("stopped").to_string(),
    ///     "`wait` was stopped because the whole call took longer than 50ms"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn total_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.total_timeout = timeout;
        self
    }

    /// Limits how many retries all calls of one run may use together. There is no limit by default. When the budget is
    /// used up, failed calls are not tried again.
    ///
    /// The budget is counted in the memory of the run. A process that starts again counts from zero. Calls that another
    /// run or a worker takes from the journal are not counted. Calls without a run of their own share the executor's
    /// run, whose budget lasts as long as the executor.
    #[must_use]
    pub fn retries_per_run(mut self, retries: u32) -> Self {
        self.retries_per_run = Some(retries);
        self
    }

    /// Sets a circuit breaker for each tool: after repeated failures, calls of the tool are refused for a time.
    /// Without this setting, there are no circuit breakers.
    #[must_use]
    pub fn circuit_breaker(mut self, breaker: CircuitBreaker) -> Self {
        self.circuit_breaker = Some(breaker);
        self
    }
}

impl<'a> Stages<'a> {
    /// Runs a whole call that needs a context or other values of its own.
    pub(crate) async fn with_own(self, mut identity: Option<Identity<'_>>) -> Answer {
        let family = Family::of(self.run, self.plan, || None);
        let stages = self.with_family(family.as_ref());
        match stages.attempt_in_stages(&mut identity, 1).await {
            AttemptOutcome::Answered(answer) if !answer.is_error() => answer,
            first => Box::pin(stages.repeat(first, identity)).await,
        }
    }

    /// Runs the rest of a call that has to wait, but that needs no context or values of its own.
    pub(super) async fn wait_and_repeat(
        self,
        admitted: Option<stage::Admission<'a>>,
        future: BoxFuture<'a, Answer>,
    ) -> Answer {
        let answer = self.wait(admitted, future).await;
        if answer.is_error() {
            return Box::pin(self.repeat(AttemptOutcome::Answered(answer), None)).await;
        }
        answer
    }

    /// Answers a call that failed at its first poll, or returns the future of its retries.
    #[cold]
    pub(super) fn failed_at_once(self, answer: Answer) -> Result<Answer, BoxFuture<'a, Answer>> {
        match answer.error() {
            Some(error) if self.may_repeat(1, error) => {
                Err(Box::pin(self.repeat(AttemptOutcome::Answered(answer), None)))
            }
            _ => Ok(answer),
        }
    }

    /// Runs the attempts after the first.
    async fn repeat(self, first: AttemptOutcome, mut identity: Option<Identity<'_>>) -> Answer {
        let mut begun = 1;
        let (mut answer, mut put_off) = match first {
            AttemptOutcome::Answered(answer) => (answer, None),
            AttemptOutcome::PutOff(error) => {
                begun = 0;
                (Answer::from(error.with_more(None)), Some(error))
            }
        };
        for attempt in 1.. {
            let Some(error) = put_off.as_ref().or(answer.error()) else { return answer };
            // A delay that a middleware asks for does not count as a retry.
            let delay = match put_off {
                Some(_) => self.delay(attempt, error, random_bits()),
                None => self.again_after(attempt, error),
            };
            let Some(delay) = delay else { return answer };
            if let Some(watch) = self.watch {
                watch.retrying(attempt, error, delay);
            }
            match self.pause(delay).await {
                PauseEnd::Over => {}
                PauseEnd::Closing => return answer,
                PauseEnd::GivenUp => return cancelled(self.call.name()).into(),
            }
            match self.again().attempt_in_stages(&mut identity, begun + 1).await {
                // An earlier error of the tool is more useful to the model than the delay, so it remains the answer.
                AttemptOutcome::PutOff(error) => {
                    if begun == 0 {
                        answer = error.with_more(None).into();
                    }
                    put_off = Some(error);
                }
                AttemptOutcome::Answered(next) => {
                    if next.error().is_some_and(|it| it.is_not_begun() && !is_cancelled(it)) {
                        return if begun == 0 { next } else { answer };
                    }
                    (answer, put_off) = (next, None);
                    begun += 1;
                }
            }
        }
        answer
    }

    /// Returns whether the retry policy allows another attempt after this error.
    fn may_repeat(self, attempt: u32, error: &ToolError) -> bool {
        self.delay(attempt, error, 0).is_some()
    }

    /// Returns the delay before the next attempt and uses up one of the run's retries; `None` if there is no further
    /// attempt.
    fn again_after(self, attempt: u32, error: &ToolError) -> Option<Duration> {
        let delay = self.delay(attempt, error, random_bits())?;
        self.run.takes_a_retry().then_some(delay)
    }

    fn delay(self, attempt: u32, error: &ToolError, random: u64) -> Option<Duration> {
        let (class, effect) = (error.classified(), self.plan.entry.definition.effect);
        let policy = &self.plan.retry;
        // Without a journal, a call does not wait until a circuit breaker closes.
        if error.is_not_begun() || !is_soon(class, policy.max_delay) || self.plan.is_left_alone() {
            return None;
        }
        let time_left = self.deadline().map(|it| it.saturating_duration_since(Instant::now()));
        policy.again(RetryCase { attempt, class, effect, time_left }, None, random)
    }

    async fn pause(self, delay: Duration) -> PauseEnd {
        let closing = pin!(self.run.core.closing.cancelled());
        let given_up = pin!(stage::given_up(self.run, self.call));
        match select(closing, select(given_up, pin!(stage::slept(delay)))).await {
            Either::Left(_) => PauseEnd::Closing,
            Either::Right((Either::Left(_), _)) => PauseEnd::GivenUp,
            Either::Right((Either::Right((Ok(()), _)), _)) if self.run.has_ended() => {
                PauseEnd::GivenUp
            }
            Either::Right((Either::Right((Ok(()), _)), _)) => PauseEnd::Over,
            // Without a clock the call cannot wait, so there is no further attempt.
            Either::Right((Either::Right((Err(_), _)), _)) => PauseEnd::Closing,
        }
    }
}

/// Returns when the total timeout of a call that begins now ends; `None` if the tool has no such timeout.
#[inline]
pub(super) fn deadline(plan: &Plan) -> Option<Instant> {
    plan.total_timeout.and_then(|time| Instant::now().checked_add(time))
}

/// Returns whether a call without a journal may wait as long as the error asks: up to a minute, or the policy's longest
/// delay.
fn is_soon(class: ErrorClass, max_delay: Duration) -> bool {
    match class {
        ErrorClass::NotStarted { retry_after: Some(after) } => after <= max_delay.max(PATIENCE),
        _ => true,
    }
}

/// Why a pause between two attempts ended.
enum PauseEnd {
    Over,
    /// The executor is shutting down, so there is no further attempt.
    Closing,
    GivenUp,
}

fn is_cancelled(error: &ToolError) -> bool {
    error.classified() == ErrorClass::Cancelled
}

/// Returns an unpredictable number. If the system provides none, returns the maximum, so that calls wait their full
/// delays.
pub(crate) fn random() -> u128 {
    let mut bytes = [u8::MAX; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u128::from_ne_bytes(bytes),
        Err(_) => u128::MAX,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "any bits of a random number will do")]
fn random_bits() -> u64 {
    random() as u64
}
