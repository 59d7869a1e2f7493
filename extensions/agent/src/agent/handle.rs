//! A handle to a run that works in a task of its own.

use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use tokio::time::sleep;
use toolwright::CancellationToken;

use crate::agent::{RunError, RunResult, Steering};
use crate::durable::{self, Urgency};
use crate::events::RunEvents;
use crate::history::Prompt;

type Ending = Shared<BoxFuture<'static, Result<RunResult, Arc<RunError>>>>;

/// The pause before a message is sent again to a run whose task has not begun to drive it.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A handle to a run that works in a task of its own, made by [`RunRequest::start`](crate::RunRequest::start). Await
/// the handle for the result of the run. Cloning is cheap; all clones belong to the same run. If all handles are
/// dropped, the run continues.
///
/// ```
/// use toolwright_agent::{Agent, ScriptedModel};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let model = ScriptedModel::new().says("Hello.");
/// let agent = Agent::builder(model).build()?;
/// let run = agent.run("Good morning!").start()?;
/// let result = run.clone().await?;
/// assert_eq!(result.to_string(), "Hello.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RunHandle {
    steering: Steering,
    token: CancellationToken,
    ending: Ending,
}

impl RunHandle {
    /// Drives a run in a task of its own.
    pub(crate) fn new(
        steering: Steering,
        token: CancellationToken,
        driving: impl Future<Output = Result<RunResult, RunError>> + Send + 'static,
    ) -> Self {
        let task = tokio::spawn(driving);
        let run = steering.id().to_owned();
        let ending = async move {
            let ended = task.await.unwrap_or_else(|_| {
                let error = durable::RunError::Panicked { run };
                Err(error.into())
            });
            ended.map_err(Arc::new)
        };
        Self { steering, token, ending: ending.boxed().shared() }
    }

    /// Returns the id of the run.
    #[must_use]
    pub fn id(&self) -> &str {
        self.steering.id()
    }

    /// Sends a message while the run works: the model gets the message with the next request, after all earlier
    /// messages. A run whose model is done continues if it has an unread message. If the run is recorded, the message
    /// is recorded before this method returns.
    ///
    /// # Errors
    /// When the run has ended, the message is empty, or the journal fails.
    pub async fn send(&self, prompt: impl Into<Prompt>) -> Result<(), RunError> {
        self.say(prompt.into(), Urgency::Next).await
    }

    /// Sends a message, as [`send`](Self::send) does, and interrupts a request to the model that is in progress: the
    /// run aborts the request, counts its usage, and asks the model again with the message, unless that usage reaches a
    /// limit of the run. Calls are not interrupted: the model reads the message together with their answers.
    ///
    /// # Errors
    /// The errors of [`send`](Self::send).
    pub async fn send_now(&self, prompt: impl Into<Prompt>) -> Result<(), RunError> {
        self.say(prompt.into(), Urgency::Now).await
    }

    async fn say(&self, prompt: Prompt, urgency: Urgency) -> Result<(), RunError> {
        loop {
            match self.steering.say(prompt.clone(), urgency).await {
                // The task has not begun to drive the run yet.
                Err(RunError::Recorded(
                    durable::RunError::NotNow { .. } | durable::RunError::NoSuchRun { .. },
                )) if self.ending.clone().now_or_never().is_none() => sleep(LOOK_AGAIN).await,
                sent => return sent,
            }
        }
    }

    /// Cancels the run: drops the request to the model, and answers open calls as cancelled.
    pub fn cancel(&self) {
        self.token.cancel();
    }

    /// Returns the events of the run from now on; see [`RunEvents`].
    #[must_use]
    pub fn stream(&self) -> RunEvents {
        self.steering.agent().events(self.id())
    }
}

impl IntoFuture for RunHandle {
    type Output = Result<RunResult, Arc<RunError>>;
    type IntoFuture = Shared<BoxFuture<'static, Self::Output>>;

    fn into_future(self) -> Self::IntoFuture {
        self.ending
    }
}

impl fmt::Debug for RunHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RunHandle").field("id", &self.id()).finish_non_exhaustive()
    }
}
