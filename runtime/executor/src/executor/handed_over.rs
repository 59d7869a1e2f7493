//! Supplies the results of calls that were handed over, and lists the calls that wait for a result.

use super::Executor;
use crate::call::CallFailure;
use crate::handed_over::{HandedOver, SupplyError};
use crate::lifecycle::Lifecycle;
use toolwright_core::context::CallId;
use toolwright_core::error::ToolError;

impl Executor {
    /// Supplies the result of a call that was handed over: either JSON text, which is checked against the tool's output
    /// schema, or the error with which the tool failed. The token came with the call, in
    /// [`SuspendedCall::handed_over`](crate::executor::SuspendedCall::handed_over), in an event or from
    /// [`handed_over`](Self::handed_over).
    ///
    /// Only one result of a call is accepted. Of two results that are supplied at the same time, one is accepted, and
    /// the other gets [`Ended`](SupplyError::Ended).
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::{Call, DynamicTool, Executor, Registry};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let schema = json!({"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]});
    /// let pick = DynamicTool::external("pick_colour", "Lets the visitor pick a colour.", schema)
    ///     .output_schema(json!({"enum": ["red", "blue"]}));
    /// let executor = Executor::builder(Registry::of([pick])?).unrestricted().build()?;
    /// let run = executor.run("visit-7").start()?;
    ///
    /// let outcome = run.submit(&Call::new("pick_colour", r#"{"prompt":"the door?"}"#)).await;
    /// let handed_over = outcome.suspended().and_then(|it| it.handed_over.as_deref()).ok_or("it is carried out elsewhere")?;
    /// let token = handed_over.token.to_string();
    ///
    /// let wrong = executor.supply(handed_over.call, &token, Ok(r#""green""#)).await;
    /// assert!(wrong.is_err(), "the schema has no green");
    /// executor.supply(handed_over.call, &token, Ok(r#""blue""#)).await?;
    ///
    /// let worker = executor.worker().ok_or("it has a journal of its own")?;
    /// let answer = worker.wait(handed_over.call).await.answer().ok_or("it is answered")?;
    /// assert_eq!(answer.text(), r#""blue""#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the result is refused. The error says why. A call that has not ended still waits for a result.
    pub async fn supply(
        &self,
        call: CallId,
        token: &str,
        result: Result<&str, ToolError>,
    ) -> Result<(), SupplyError> {
        match Lifecycle::of(&self.state) {
            Some(lifecycle) => lifecycle.supply(call, token, result).await,
            None => Err(SupplyError::NoJournal),
        }
    }

    /// Lists the calls of the journal that were handed over and wait for a result, the oldest first, each with a token.
    /// A token from before a restart stays valid only if the journal has a stored key
    /// ([`Journal::hand_over_key`](crate::executor::Journal::hand_over_key)). A call whose arguments this executor
    /// cannot read is left out, and a tracing event says why.
    ///
    /// # Errors
    /// When the journal fails.
    pub async fn handed_over(&self) -> Result<Vec<HandedOver>, CallFailure> {
        match Lifecycle::of(&self.state) {
            Some(lifecycle) => lifecycle.all_handed_over().await,
            None => Ok(Vec::new()),
        }
    }
}
