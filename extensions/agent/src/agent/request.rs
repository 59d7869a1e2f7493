//! A task for an agent, before it begins.

use std::fmt;
use std::future::IntoFuture;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use toolwright::CancellationToken;

use crate::agent::{Agent, RunError, RunHandle, RunResult, RunStream, Steering, TypedRequest};
use crate::durable::ById;
use crate::history::Prompt;
use crate::run::options::{RunOptions, run_options};
use crate::run::{AgentRun, Output, OutputError, StartError};

/// A task that begins when it is awaited, or when its [`stream`](Self::stream) is read. If the future is dropped before
/// the end, the run stops: the request to the model is dropped and running calls are cancelled. A recorded run can be
/// continued by its [`id`](Self::id).
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
///
/// With a journal, a second request with the id of a run that has ended with an answer returns that answer. It asks no
/// model and makes no call:
///
/// ```
/// use toolwright::journal::MemoryStore;
/// use toolwright_agent::{Agent, ScriptedModel};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// // A file in an application: `SqliteStore::open("shop.db").await?`.
/// let agent = Agent::builder(ScriptedModel::new().says("Hello, Ada."));
/// let agent = agent.unrestricted().journal(MemoryStore::new()).build()?;
/// let first = agent.run("Good morning!").id("greeting-1").await?;
/// let again = agent.run("Good morning!").id("greeting-1").await?;
/// assert_eq!(first.to_string(), again.to_string());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a run begins when it is awaited or its stream is read"]
pub struct RunRequest {
    agent: Agent,
    prompt: Prompt,
    options: RunOptions,
    output: Option<Result<Output, OutputError>>,
}

impl RunRequest {
    pub(crate) fn new(agent: &Agent, prompt: Prompt) -> Self {
        Self { agent: agent.clone(), prompt, options: RunOptions::default(), output: None }
    }

    run_options!();

    /// Makes the run end in a value of `T`, which is a type with `#[toolwright::data]`. The agent asks the model for
    /// the value in the way that the model's provider supports. If an answer is not such a value, the agent sends it
    /// back with all its problems, as often as [`max_corrections`](crate::AgentBuilder::max_corrections) allows. An
    /// invalid answer is never returned. To continue a recorded run, or to read its value again, request it by its id
    /// with the same type.
    ///
    /// ```
    /// use toolwright_agent::{Agent, ScriptedModel};
    ///
    /// /// What tea costs.
    /// #[toolwright::data]
    /// struct Quote {
    ///     /// In cents.
    ///     total: u32,
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// // The first answer is not a `Quote`, so the agent sends it back.
    /// let model = ScriptedModel::new()
    ///     .calls([("final_answer", r#"{"total":"about 5 euros"}"#)])
    ///     .calls([("final_answer", r#"{"total":450}"#)]);
    /// let agent = Agent::builder(model).build()?;
    /// let quote: Quote = agent.run("What does tea cost?").typed().await?.into_output();
    /// assert_eq!(quote.total, 450);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn typed<T>(mut self) -> TypedRequest<T>
    where
        T: DeserializeOwned + JsonSchema + Send + 'static,
    {
        self.output = Some(Output::of::<T>());
        TypedRequest::new(self)
    }

    pub(super) fn ending_in(mut self, output: Result<Output, OutputError>) -> Self {
        self.output = Some(output);
        self
    }

    /// Runs the task while its events are read: pieces of text as the model writes them, each tool call, each result.
    /// The stream ends with the run; then [`RunStream::result`] has the result. The model is asked to stream.
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
        match self.begin() {
            Ok(StartedRun::InMemory(run, prompt)) => {
                RunStream::new(run.events(), finish(*run, prompt).boxed())
            }
            Ok(StartedRun::Recorded(run, prompt, agent)) => {
                let events = agent.events(run.id());
                RunStream::new(events, finish_recorded(run, prompt).boxed())
            }
            Err(error) => RunStream::failed(error.into()),
        }
    }

    /// Starts the run in a task of its own and returns a handle, which sends further messages while the run works.
    ///
    /// ```
    /// use toolwright::tool;
    /// use toolwright_agent::{Agent, ScriptedModel};
    ///
    /// /// Rests for a moment.
    /// #[tool(effect = read)]
    /// async fn rest() {
    ///     tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let model = ScriptedModel::new().calls([("rest", "{}")]).says("Tea, then.");
    /// let agent = Agent::builder(model).tools([REST]).build()?;
    /// let run = agent.run("Make coffee.").start()?;
    /// run.send("Tea would be better.").await?;
    /// assert_eq!(run.await?.to_string(), "Tea, then.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the run cannot start.
    ///
    /// # Panics
    /// Outside of a runtime of `tokio`.
    pub fn start(mut self) -> Result<RunHandle, StartError> {
        let token = self.options.token.get_or_insert_default().clone();
        let agent = self.agent.clone();
        Ok(match self.begin()? {
            StartedRun::InMemory(run, prompt) => {
                let inbox = Some(run.inbox().clone());
                let steering = Steering::new(&agent, run.id().to_owned(), inbox);
                RunHandle::new(steering, token, finish(*run, prompt))
            }
            StartedRun::Recorded(run, prompt, _) => {
                let steering = Steering::new(&agent, run.id().to_owned(), None);
                RunHandle::new(steering, token, finish_recorded(run, prompt))
            }
        })
    }

    fn begin(self) -> Result<StartedRun, StartError> {
        let Self { agent, prompt, mut options, output } = self;
        if let Some(output) = output.transpose()? {
            let others = agent.0.hand_offs.iter().flat_map(|it| it.agents());
            for agent in others.chain([&agent]) {
                output.fits(agent.model(), &agent.0.executor.catalog())?;
            }
            options.output = Some(output);
        }
        Ok(match agent.0.journal() {
            Some(journal) => {
                StartedRun::Recorded(Box::new(ById::of(&agent, journal, options)), prompt, agent)
            }
            None => StartedRun::InMemory(Box::new(options.start(&agent)?), prompt),
        })
    }
}

impl IntoFuture for RunRequest {
    type Output = Result<RunResult, RunError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        async move {
            match self.begin()? {
                StartedRun::InMemory(run, prompt) => finish(*run, prompt).await,
                StartedRun::Recorded(run, prompt, _) => finish_recorded(run, prompt).await,
            }
        }
        .boxed()
    }
}

/// A run that is started in memory, or in the journal of its agent.
enum StartedRun {
    InMemory(Box<AgentRun>, Prompt),
    Recorded(Box<ById>, Prompt, Agent),
}

async fn finish(mut run: AgentRun, prompt: Prompt) -> Result<RunResult, RunError> {
    let (text, attachments) = prompt.into_parts();
    let end = run.send_with(text, attachments).await?;
    RunResult::new(&run, end, 0)
}

async fn finish_recorded(run: Box<ById>, prompt: Prompt) -> Result<RunResult, RunError> {
    RunResult::recorded(run.run(&prompt).await?)
}

impl fmt::Debug for RunRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RunRequest").field("agent", &self.agent).finish_non_exhaustive()
    }
}
