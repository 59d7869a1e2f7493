//! A conversation with an agent.

use std::fmt;
use std::future::IntoFuture;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use toolwright::CancellationToken;

use crate::request::options::{HeldId, RunOptions, run_options};
use crate::{Agent, AgentRun, Message, Prompt, RunError, RunResult, RunStream, StartError};

/// A conversation: each message continues what was said before.
///
/// ```
/// use toolwright_agent::{Agent, ScriptedModel};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let agent = Agent::builder(ScriptedModel::new().says("Hello.").says("Good-bye.")).build()?;
/// let mut chat = agent.chat().user("ada");
/// chat.send("Good morning!").await?;
/// println!("{}", chat.send("Good night!").await?);
/// assert_eq!(chat.history().len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Chat {
    agent: Agent,
    options: RunOptions,
    run: Option<(AgentRun, HeldId)>,
}

impl Chat {
    pub(crate) fn new(agent: &Agent) -> Self {
        Self { agent: agent.clone(), options: RunOptions::default(), run: None }
    }

    /// Sends a message. Await the turn for its result, or [`stream`](ChatTurn::stream) what happens. One turn is under way at a
    /// time, which the borrow of the chat sees to.
    pub fn send(&mut self, prompt: impl Into<Prompt>) -> ChatTurn<'_> {
        ChatTurn { chat: self, prompt: Some(prompt.into()) }
    }

    /// Goes on with a turn that stopped or was dropped in the middle: asks the model again, or runs the calls that have no answer
    /// yet. A call that is journalled does not run twice; one that is not does.
    pub fn resume(&mut self) -> ChatTurn<'_> {
        ChatTurn { chat: self, prompt: None }
    }

    /// Returns everything that was said, called and answered.
    #[must_use]
    pub fn history(&self) -> &[Message] {
        self.run.as_ref().map_or(&[], |(run, _)| run.history())
    }

    run_options!();

    fn run(&mut self) -> Result<&mut AgentRun, StartError> {
        if self.run.is_some() && !self.options.is_empty() {
            return Err(StartError::HasBegun);
        }
        let run = match self.run.take() {
            Some(run) => run,
            None => std::mem::take(&mut self.options).start(&self.agent)?,
        };
        Ok(&mut self.run.insert(run).0)
    }
}

impl fmt::Debug for Chat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Chat")
            .field("run", &self.run.as_ref().map(|(run, _)| run))
            .finish_non_exhaustive()
    }
}

/// One turn of a conversation, before it begins: from a message of the user to the answer.
#[must_use = "a turn begins when it is awaited or its stream is read"]
pub struct ChatTurn<'a> {
    chat: &'a mut Chat,
    /// Nothing where a turn is taken up.
    prompt: Option<Prompt>,
}

impl<'a> ChatTurn<'a> {
    /// Runs the turn while its events are read; see [`RunRequest::stream`](crate::RunRequest::stream).
    #[must_use = "the turn goes on while its stream is read"]
    pub fn stream(self) -> RunStream<'a> {
        match self.chat.run() {
            Ok(run) => RunStream::new(run.events(), take(run, self.prompt).boxed()),
            Err(error) => RunStream::failed(error.into()),
        }
    }
}

impl<'a> IntoFuture for ChatTurn<'a> {
    type Output = Result<RunResult, RunError>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        async move { take(self.chat.run()?, self.prompt).await }.boxed()
    }
}

async fn take(run: &mut AgentRun, prompt: Option<Prompt>) -> Result<RunResult, RunError> {
    let before = run.history().len();
    let end = match prompt {
        Some(prompt) => {
            let (text, attachments) = prompt.into_parts();
            run.say_with(text, attachments).await?
        }
        None => run.go_on().await?,
    };
    RunResult::new(run, end, before)
}

impl fmt::Debug for ChatTurn<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ChatTurn").field("chat", &self.chat).finish_non_exhaustive()
    }
}
