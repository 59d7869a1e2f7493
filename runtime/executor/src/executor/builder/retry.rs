//! The options of the builder about failed calls.

use std::time::Duration;

use super::ExecutorBuilder;
use crate::retry::{CircuitBreaker, RetryPolicy};

impl ExecutorBuilder {
    /// Sets how often a failed call is tried, and how long it waits between the attempts. The default is
    /// [`RetryPolicy::TOOL`]. The settings that a tool declares itself, such as `retry(attempts = 5)`, take precedence.
    ///
    /// A call is tried again only if the class of its error and its tool's effect allow that. Each attempt has the same
    /// call id and the same idempotency key. While the call waits for the next attempt, it gives back its place.
    /// Resources that it borrows as `&mut T` are opened anew. The answer of the last attempt is the answer of the call.
    ///
    /// An error may name the time after which the call may be tried again (`retry_after` of `ErrorClass::NotStarted`).
    /// The call waits for that time if it is at most a minute, or at most the policy's `max_delay` if that is longer.
    /// If the named time is longer still, the call is not tried again, and its answer is the error, which names the
    /// time. A call in a journal waits there for any time. [`Executor::submit`](crate::executor::Executor::submit)
    /// returns such a call as suspended if the time is longer than a minute.
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

    /// Limits how long a whole call may take if its tool sets no limit of its own. The limit includes all attempts, the
    /// delays between them, and the time in which the call waits for a place. It does not include the time in which
    /// calls that the tool makes are running. Without this setting, there is no limit. [`timeout`](Self::timeout)
    /// limits each attempt.
    ///
    /// An attempt that is running when the time is over is stopped, and the call is answered `timeout`. If the next
    /// attempt would begin after that time, the call is not tried again, and the answer of the last attempt is the
    /// answer of the call. The time begins when the call may run, so it does not include the time that a person takes
    /// to approve the call. For a call in a journal, the time continues while no process works on the call, for
    /// instance after a crash. If the call is suspended because calls that its tool makes wait for people or for
    /// results from outside, the time begins again when the call continues. An attempt that would begin too late does
    /// not begin.
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

    /// Limits how many retries the calls of one run may make together. Without this setting, there is no limit. When
    /// the budget is used up, a failed call is not tried again.
    ///
    /// The budget is counted in the memory of the run. A process that starts again counts from zero. A call that the
    /// worker of the executor or of another run carries out is not counted. Calls that are made on the executor itself
    /// share one budget, which lasts as long as the executor.
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
