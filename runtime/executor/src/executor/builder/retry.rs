//! The options of the builder about failed calls.

use std::time::Duration;

use super::ExecutorBuilder;
use crate::retry::{CircuitBreaker, RetryPolicy};

impl ExecutorBuilder {
    /// Sets how often a failed call is tried, and how long it waits in between: [`RetryPolicy::TOOL`] unless set. The
    /// settings that a tool declares itself, such as `retry(attempts = 5)`, take precedence.
    ///
    /// A call is tried again only if the class of its error and its tool's effect allow it; its tool sees the same call
    /// id and the same idempotency key. While it waits it gives back its place, and resources that it borrows as `&mut
    /// T` are opened anew. The answer of the last attempt is the answer of the call.
    ///
    /// If the other side names a time (`retry_after` of `ErrorClass::NotStarted`), the call waits for it, but no longer
    /// than a minute or the policy's `max_delay`, whichever is more. If the time is longer, the call is not tried
    /// again, and its error, which still names the time, is the answer. A journalled call waits in the journal for any
    /// time, and its caller for a minute.
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

    /// Limits how long a whole call may take if its tool sets no limit: its attempts, the time between them, and the
    /// time that it waits for a place. No limit unless set. [`timeout`](Self::timeout) limits each attempt.
    ///
    /// An attempt that is running when the time is over is stopped, and the call is answered `timeout`. A call whose
    /// next attempt would begin after that time is not tried again: the answer of the last attempt is its answer. The
    /// time begins when the call may run, so that a person may take long to approve it. With a journal the time
    /// continues while no process works on the call, after a crash for instance; an attempt that would begin too late
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

    /// Limits how many retries the calls of one run may make together; no limit unless set. When the budget is used up,
    /// a failed attempt is the last.
    ///
    /// The budget is counted in the memory of the run. A process that starts again counts from zero, and calls that
    /// another run or a worker takes from the journal are not counted. Calls without a run of their own share the
    /// executor's run, whose one budget lasts as long as the executor.
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
