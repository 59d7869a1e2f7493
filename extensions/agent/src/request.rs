//! A task for an agent, before it begins.

pub(crate) mod options;

use std::fmt;
use std::future::IntoFuture;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use toolwright::CancellationToken;

use self::options::{HeldId, RunOptions, run_options};
use crate::{Agent, AgentRun, Prompt, RunError, RunResult, RunStream};

/// A task that begins when it is awaited, or when its [`stream`](Self::stream) is read. Dropped in the middle, it ends: the
/// request to the model is dropped and calls that run are cancelled.
///
/// ```
/// use toolwright_agent::{Agent, ScriptedModel};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let agent = Agent::builder(ScriptedModel::new().says("Hello, Ada.")).build()?;
/// let result = agent.run("Good morning!").id("greeting-1").user("ada").await?;
/// println!("{result}");
/// # assert_eq!(result.id(), "greeting-1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a run begins when it is awaited or its stream is read"]
pub struct RunRequest {
    agent: Agent,
    prompt: Prompt,
    options: RunOptions,
}

impl RunRequest {
    pub(crate) fn new(agent: &Agent, prompt: Prompt) -> Self {
        Self { agent: agent.clone(), prompt, options: RunOptions::default() }
    }

    run_options!();

    /// Runs the task while its events are read: texts as they come, each tool call, each result. The stream ends with the run;
    /// [`RunStream::result`] has its result then. The model is asked to stream.
    ///
    /// ```
    /// use futures::StreamExt as _;
    /// use toolwright_agent::{Agent, RunEvent, ScriptedModel};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let agent = Agent::builder(ScriptedModel::new().says("Hello.")).build()?;
    /// let mut events = agent.run("Good morning!").stream();
    /// while let Some(event) = events.next().await {
    ///     if let RunEvent::Text(text) = event? {
    ///         print!("{text}");
    ///     }
    /// }
    /// # assert_eq!(events.result().expect("it has ended").to_string(), "Hello.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "the run goes on while its stream is read"]
    pub fn stream(self) -> RunStream<'static> {
        let (run, held) = match self.options.start(&self.agent) {
            Ok(started) => started,
            Err(error) => return RunStream::failed(error.into()),
        };
        let events = run.events();
        RunStream::new(events, finish(run, held, self.prompt).boxed())
    }
}

impl IntoFuture for RunRequest {
    type Output = Result<RunResult, RunError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        async move {
            let (run, held) = self.options.start(&self.agent)?;
            finish(run, held, self.prompt).await
        }
        .boxed()
    }
}

async fn finish(mut run: AgentRun, _held: HeldId, prompt: Prompt) -> Result<RunResult, RunError> {
    let (text, attachments) = prompt.into_parts();
    let end = run.say_with(text, attachments).await?;
    RunResult::new(&run, end, 0)
}

impl fmt::Debug for RunRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RunRequest").field("agent", &self.agent).finish_non_exhaustive()
    }
}
