//! A conversation with an agent.

use std::fmt;
use std::future::IntoFuture;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use toolwright::CancellationToken;

use crate::agent::{Agent, RunError, RunResult, RunStream, Steering};
use crate::durable::ById;
use crate::history::{Message, Prompt};
use crate::run::options::{RunOptions, run_options};
use crate::run::{AgentRun, StartError};

/// A conversation: each message continues it. With a journal the conversation is recorded, and this process or another
/// can continue it by its [`id`](Self::id).
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
    talk: Option<Talk>,
}

/// A conversation that has begun.
enum Talk {
    InMemory(Box<AgentRun>),
    /// A recorded conversation, with its history as of the end of the last turn in this process.
    Recorded(Box<ById>, Vec<Message>),
}

impl Chat {
    pub(crate) fn new(agent: &Agent) -> Self {
        Self { agent: agent.clone(), options: RunOptions::default(), talk: None }
    }

    /// Sends a message. Await the turn for its result, or [`stream`](ChatTurn::stream) its events. The turn borrows the
    /// chat, so only one turn is in progress at a time.
    pub fn send(&mut self, prompt: impl Into<Prompt>) -> ChatTurn<'_> {
        ChatTurn { chat: self, prompt: Some(prompt.into()) }
    }

    /// Continues a turn that stopped or was dropped halfway: asks the model again, or runs the calls that have no
    /// answer yet. A call that was interrupted may run again if its effect allows that, and so may a call that is not
    /// journalled. A journalled call that has its answer does not run again.
    pub fn resume(&mut self) -> ChatTurn<'_> {
        ChatTurn { chat: self, prompt: None }
    }

    /// Begins the conversation, and returns a handle that adds messages while a turn is in progress.
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
    /// let mut chat = agent.chat();
    /// let steering = chat.steering()?;
    /// let says_more = async {
    ///     tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    ///     steering.send("Tea would be better.").await
    /// };
    /// let (answer, said) = tokio::join!(chat.send("Make coffee.").into_future(), says_more);
    /// said?;
    /// assert_eq!(answer?.to_string(), "Tea, then.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the conversation cannot begin.
    pub fn steering(&mut self) -> Result<Steering, StartError> {
        let agent = self.agent.clone();
        Ok(match self.talk()? {
            Talk::InMemory(run) => {
                Steering::new(&agent, run.id().to_owned(), Some(run.inbox().clone()))
            }
            Talk::Recorded(run, _) => Steering::new(&agent, run.id().to_owned(), None),
        })
    }

    /// Returns the history: all messages, calls and answers. The history of a recorded conversation is read at the end
    /// of each turn, so it is empty until a turn in this process has ended.
    #[must_use]
    pub fn history(&self) -> &[Message] {
        match &self.talk {
            Some(Talk::InMemory(run)) => run.history(),
            Some(Talk::Recorded(_, history)) => history,
            None => &[],
        }
    }

    run_options!();

    fn talk(&mut self) -> Result<&mut Talk, StartError> {
        if self.talk.is_some() && !self.options.is_empty() {
            return Err(StartError::HasBegun);
        }
        let talk = match self.talk.take() {
            Some(talk) => talk,
            None => match self.agent.0.journal() {
                Some(journal) => {
                    let options = std::mem::take(&mut self.options);
                    let run = ById::of(&self.agent, journal, options);
                    Talk::Recorded(Box::new(run), Vec::new())
                }
                None => {
                    let run = self.options.start(&self.agent)?;
                    // A conversation that could not begin keeps its options, so that it can be tried again.
                    self.options = RunOptions::default();
                    Talk::InMemory(Box::new(run))
                }
            },
        };
        Ok(self.talk.insert(talk))
    }
}

impl fmt::Debug for Chat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Chat")
            .field("agent", &self.agent)
            .field("messages", &self.history().len())
            .finish_non_exhaustive()
    }
}

/// A turn of a conversation: from a message of the user to the answer. It begins when it is awaited or its stream is
/// read.
#[must_use = "a turn begins when it is awaited or its stream is read"]
pub struct ChatTurn<'a> {
    chat: &'a mut Chat,
    /// `None` if the turn resumes an earlier one.
    prompt: Option<Prompt>,
}

impl<'a> ChatTurn<'a> {
    /// Runs the turn while its events are read; see [`RunRequest::stream`](crate::RunRequest::stream).
    #[must_use = "the turn goes on while its stream is read"]
    pub fn stream(self) -> RunStream<'a> {
        let agent = self.chat.agent.clone();
        match self.chat.talk() {
            Ok(talk) => {
                let events = match &*talk {
                    Talk::InMemory(run) => run.events(),
                    Talk::Recorded(run, _) => agent.events(run.id()),
                };
                RunStream::new(events, talk.take(self.prompt).boxed())
            }
            Err(error) => RunStream::failed(error.into()),
        }
    }
}

impl<'a> IntoFuture for ChatTurn<'a> {
    type Output = Result<RunResult, RunError>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        async move { self.chat.talk()?.take(self.prompt).await }.boxed()
    }
}

impl Talk {
    /// Runs a turn with this prompt. Without a prompt, resumes the last turn.
    async fn take(&mut self, prompt: Option<Prompt>) -> Result<RunResult, RunError> {
        match self {
            Self::InMemory(run) => {
                let before = run.history().len();
                let end = match prompt {
                    Some(prompt) => {
                        let (text, attachments) = prompt.into_parts();
                        run.send_with(text, attachments).await?
                    }
                    None => run.resume().await?,
                };
                RunResult::new(run, end, before)
            }
            Self::Recorded(run, history) => {
                let came = match &prompt {
                    Some(prompt) => run.send(prompt).await?,
                    None => run.resume().await?,
                };
                history.clone_from(&came.history);
                RunResult::recorded(came)
            }
        }
    }
}

impl fmt::Debug for ChatTurn<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ChatTurn").field("chat", &self.chat).finish_non_exhaustive()
    }
}
