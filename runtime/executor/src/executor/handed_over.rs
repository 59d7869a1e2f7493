//! Calls that are carried out elsewhere: what who carries them out is given, and how they supply a result.

use std::fmt;

use jiff::Timestamp;

use super::{CallFailure, Executor};
use crate::lifecycle::Lifecycle;
use toolwright_core::context::CallId;
use toolwright_core::error::ToolError;
use toolwright_journal::approval::{HandOverToken, InvalidToken};
use toolwright_journal::journal::{State, StoreError};

/// A call that was handed over, with all that is needed to carry it out and to supply its result by
/// [`Executor::supply`].
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HandedOver {
    /// The call, as the journal knows it.
    pub call: CallId,
    /// Its run.
    pub run: String,
    /// The tool's name.
    pub tool: String,
    /// The final arguments as JSON text. Secrets among them are not masked: the call could not be carried out otherwise.
    pub arguments: String,
    /// The idempotency key: a service that takes keys does the same call once.
    pub idempotency_key: String,
    /// The right to supply the result, once.
    pub token: HandOverToken,
    /// Until when a result may be supplied; then the call is answered `expired`.
    pub until: Timestamp,
}

/// Without arguments, which may hold secrets, and without the token's signature.
impl fmt::Debug for HandedOver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HandedOver")
            .field("call", &self.call)
            .field("run", &self.run)
            .field("tool", &self.tool)
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}

/// Why a supplied result does not count. Where it could not be recorded, or is not what the tool promises, the call waits
/// on, and a result may be supplied again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SupplyError {
    /// The executor has no journal, so that none of its calls was handed over.
    #[error("the executor has no journal, so that none of its calls was handed over")]
    NoJournal,
    /// The journal does not know the call.
    #[error("the journal knows no call {0}")]
    NoSuchCall(CallId),
    /// The token does not count for the call.
    #[error("the token does not count for call {call}: {why}")]
    Token {
        /// The call.
        call: CallId,
        /// Why it does not.
        why: InvalidToken,
    },
    /// The call has its one answer: a result was supplied before, its deadline has passed, or it was cancelled.
    #[error("call {call} of `{tool}` takes no result any more: {}", ended(*state, at))]
    Ended {
        /// The call.
        call: CallId,
        /// Its tool.
        tool: String,
        /// What has become of it.
        state: State,
        /// When.
        at: Timestamp,
    },
    /// The result is larger than a result may be. The call waits on.
    #[error(
        "the result of call {call} has {found} bytes, and may have {most}: supply less, or where the whole is to be found"
    )]
    TooLarge {
        /// The call.
        call: CallId,
        /// Its size in bytes.
        found: usize,
        /// The most bytes that it may have.
        most: usize,
    },
    /// The result is no JSON, or not of the tool's output schema. The call waits on.
    #[error("the result of call {call} is not what `{tool}` promises: {}", problems.join("; "))]
    Output {
        /// The call.
        call: CallId,
        /// Its tool.
        tool: String,
        /// What is wrong with it, each with its place.
        problems: Vec<String>,
    },
    /// The tool is not registered here, so that the result cannot be checked. The call waits on.
    #[error("the result of call {call} of `{tool}` cannot be checked here: {why}")]
    NotHere {
        /// The call.
        call: CallId,
        /// Its tool.
        tool: String,
        /// What is missing.
        why: String,
    },
    /// The journal failed. Whether it has the result, the next try says.
    #[error("the result of call {call} could not be recorded: {error}")]
    NotRecorded {
        /// The call.
        call: CallId,
        /// What the store said.
        error: StoreError,
    },
}

/// What has become of a call that takes no result any more.
fn ended(state: State, at: &Timestamp) -> String {
    match state {
        State::Succeeded | State::Failed => format!("its result was supplied before, at {at}"),
        State::Expired => format!("its deadline passed, and it ended at {at}"),
        State::Cancelled => format!("it was cancelled at {at}"),
        state => format!("it is {state} since {at}"),
    }
}

impl Executor {
    /// Supplies the result of a call that was handed over, to who made it: JSON text that is held to the tool's output
    /// schema, or the error with which the tool failed. The token came with the call, in
    /// [`Suspended::handed_over`](crate::executor::Suspended::handed_over), in an event or from
    /// [`handed_over`](Self::handed_over).
    ///
    /// A result counts once. Of two that are supplied at once, one counts, and the other gets
    /// [`Ended`](SupplyError::Ended).
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
    /// When the result does not count: which of the reasons, and whether the call waits on.
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

    /// Lists the calls of the journal that were handed over and wait for a result, the oldest first, each with its token:
    /// after a restart as well, where the journal has a stored key
    /// ([`Journal::hand_over_key`](crate::executor::Journal::hand_over_key)). A call whose encrypted arguments this executor
    /// cannot read is left out, and traced.
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
