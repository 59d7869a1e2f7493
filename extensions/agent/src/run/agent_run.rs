//! One run of an agent: its history, its state, and the parts with which a driver advances it.

use std::fmt;
use std::sync::Arc;

use tokio::time::Instant;
use toolwright::dialect::Listing;
use toolwright::{CancellationToken, Catalog, Content, Run};

use super::driver::{Driver, Rest};
use super::early::BegunTurn;
use super::guarding::Guarding;
use super::handing::ActingAgent;
use super::inbox::Inbox;
use super::options::HeldId;
use super::output::Output;
use super::preparing::Preparing;
use super::recorder::Nothing;
use super::summarizing::Summaries;
use super::{Action, State, StepInput, Stopped};
use crate::agent::Agent;
use crate::events::{NoticeKind, Observer, RunEnd, RunEvents};
use crate::history::{LeftOut, Message, Prompt};
use crate::limits::UsageRecorder;
use crate::model::ModelSettings;
use crate::plugin::Plugins;
use crate::results::Results;

/// A run that the application drives itself: its history and its state. Begin one by [`Agent::new_run`]. The run
/// advances only while the future of [`send`](Self::send) or [`resume`](Self::resume) is polled.
///
/// ```
/// use toolwright::{Executor, Registry};
/// use toolwright_agent::{Agent, ScriptedModel};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let model = ScriptedModel::new().says("Hello.").says("Good-bye.");
/// let executor = Executor::builder(Registry::empty()).build()?;
/// let mut run = Agent::on(executor, model).build()?.new_run("greetings").start()?;
/// run.send("Good morning!").await?;
/// run.send("Good night!").await?;
/// assert_eq!((run.history().len(), run.state().turn()), (4, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AgentRun {
    pub(super) agent: Agent,
    /// The agent to which the run was handed off; `None` while the agent with which the run began drives it.
    pub(super) acting: Option<ActingAgent>,
    /// The executor's run, with the tools that are available now.
    pub(super) run: Run,
    /// Adds up the tokens and the cost of the requests for an answer that has not arrived yet, or for a summary.
    pub(super) meter: UsageRecorder,
    /// The token that cancels the run and all of its calls.
    pub(super) cancelled: Option<CancellationToken>,
    /// The observer that reports events and notices of the run.
    pub(super) observer: Observer,
    /// The tools that the model was shown with its last request.
    pub(super) shown: Option<ShownTools>,
    /// The turn of the last answer, if some of its read-only calls may have begun while the answer arrived.
    pub(super) begun: Option<BegunTurn>,
    /// The type of the value that the run has to end in; `None` if it ends in a text.
    pub(super) output: Option<Output>,
    /// The settings of this run's requests; `None` if the agent's settings apply.
    pub(super) settings: Option<ModelSettings>,
    /// Whether the model is shown no tools.
    pub(super) has_no_tools: bool,
    /// The agent's plugins in this run; `None` if the agent has none.
    pub(super) plugins: Option<Preparing>,
    /// What the run's guards have reported, and the answer that they hold back.
    pub(super) guarding: Guarding,
    pub(super) state: State,
    pub(super) history: Vec<Message>,
    /// The parts of the history that were left out of the last request.
    pub(super) left_out: LeftOut,
    /// The summaries of the turns that requests leave out.
    pub(super) summaries: Summaries,
    /// The answers of tools, and how much of each answer the model gets.
    pub(super) results: Results,
    /// The messages that the user sends while the run works.
    pub(super) inbox: Inbox,
    /// The reservation of the run's id, which prevents other runs of the agent from using it.
    pub(super) held: Option<HeldId>,
}

/// The tools of one generation: the list that the model is shown, and a run that calls the tools of this list.
pub(super) struct ShownTools {
    pub(super) generation: u64,
    /// Whether plugins have prepared these tools for one turn.
    pub(super) is_prepared: bool,
    /// Whether the list includes the tool by which the model gives the value in which the run ends.
    pub(super) by_call: bool,
    /// The tools that are left out because their calls were refused repeatedly.
    pub(super) refused: Vec<String>,
    /// The deferred tools that the model has found.
    pub(super) found: Vec<String>,
    /// Whether the list includes the tools that read large answers.
    pub(super) reads_results: bool,
    /// The list of tools that the model is shown. The run has the same tools, with two exceptions: it lacks the tool
    /// that gives the value, and it has `hand_off` even if the agent may not hand the run off.
    pub(super) listed: Catalog,
    pub(super) listing: Listing,
    pub(super) run: Run,
}

impl AgentRun {
    /// Sends a message to the model, runs the calls of its answers, and returns how the run ended. A further message
    /// continues the conversation.
    ///
    /// Dropping the future leaves the run in its present state: [`resume`](Self::resume) continues it.
    ///
    /// # Errors
    /// When the run stops without an end; see [`Stopped`]. Once the application has dealt with the cause,
    /// [`resume`](Self::resume) continues the run.
    pub async fn send(&mut self, text: impl Into<String>) -> Result<RunEnd, Stopped> {
        self.send_with(text, []).await
    }

    /// Sends a message with pictures or documents, as [`send`](Self::send) does; the text may be empty. If the provider
    /// of the model does not accept an attachment, the model gets a sentence in place of the attachment.
    ///
    /// ```
    /// use toolwright::{Content, Executor, Registry};
    /// use toolwright_agent::{Agent, ScriptedModel};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let executor = Executor::builder(Registry::empty()).build()?;
    /// let agent = Agent::on(executor, ScriptedModel::new().says("A grey pixel.")).build()?;
    /// let pixel = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
    /// let picture = Content::Image { media_type: "image/gif".into(), data: pixel.into() };
    /// agent.new_run("pictures").start()?.send_with("What is this?", [picture]).await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`send`](Self::send).
    pub async fn send_with(
        &mut self,
        text: impl Into<String>,
        attachments: impl Into<Arc<[Content<'static>]>>,
    ) -> Result<RunEnd, Stopped> {
        let (text, attachments) = (text.into(), attachments.into());
        if text.trim().is_empty() && attachments.is_empty() {
            return Err(Stopped::NothingSaid);
        }
        if !self.state.open_calls().is_empty() {
            return Err(Stopped::OpenTurn { turn: self.state.turn() });
        }
        self.count_given_up();
        let prompt = Prompt { text, attachments: attachments.to_vec() };
        let (state, actions) = self.hear(prompt).await;
        self.take(state, actions);
        self.drive().await
    }

    /// Returns the input for a message of the user, with the output type in which the run has to end.
    pub(crate) fn said(&self, text: String, attachments: Arc<[Content<'static>]>) -> StepInput {
        let expected = self.output.as_ref().map(|it| it.expected().clone());
        StepInput::said_with(text, attachments).expecting(expected)
    }

    /// Continues a run that stopped or was restored: asks the model, or runs the calls of the open turn again. A call
    /// that was interrupted may run again if its effect allows that, and so may a call that is not journalled. A
    /// journalled call that has its answer does not run again. The time limit of the run starts again. If the run has
    /// ended, returns its end.
    ///
    /// # Errors
    /// The errors of [`send`](Self::send), and [`Stopped::NothingSaid`] if the user has not sent a message yet.
    pub async fn resume(&mut self) -> Result<RunEnd, Stopped> {
        self.drive().await
    }

    /// Returns the id of the run.
    #[must_use]
    pub fn id(&self) -> &str {
        self.run.id()
    }

    /// Returns the history: all messages, calls and answers.
    #[must_use]
    pub fn history(&self) -> &[Message] {
        &self.history
    }

    /// Returns the state of the run.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns a reader of the events of this run, beginning with the next event; see [`RunEvents`]. Create the reader
    /// before the run is driven, so that the model streams.
    #[must_use]
    pub fn events(&self) -> RunEvents {
        self.observer.events().reader()
    }

    /// Returns the inbox for messages that the user sends while the run works.
    pub(crate) fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    async fn drive(&mut self) -> Result<RunEnd, Stopped> {
        let time = self.state.limits().time;
        let deadline = time.map(|time| Instant::now() + time);
        let agent = &self.agent;
        let sub_agents =
            agent.0.sub_agents.is_some().then(|| (agent.clone(), self.id().to_owned()));
        let (cancelled, inbox) = (self.cancelled.clone(), self.inbox.clone());
        let mut recorder = Nothing { time, deadline, cancelled, inbox, sub_agents };
        // Boxed, because the future is large.
        match Box::pin(Driver { run: self, recorder: &mut recorder }.drive()).await? {
            Rest::Ended(ended) => {
                self.inbox.clear();
                Ok(ended)
            }
            Rest::Waiting(never) => match never {},
        }
    }

    /// Takes a step: replaces the state, and appends the new messages to the history.
    pub(super) fn take(&mut self, state: State, actions: Vec<Action>) {
        self.state = state;
        for action in actions {
            match action {
                Action::Append(message) => {
                    self.notify(NoticeKind::Appended { message: &message });
                    self.results.add(&message);
                    self.history.push(message);
                }
                Action::End(ended) => self.notify(NoticeKind::Ended { ended: &ended }),
                Action::Ask | Action::Call(_) | Action::Check { .. } | Action::Await => {}
            }
        }
    }

    pub(crate) fn notify(&self, kind: NoticeKind<'_>) {
        self.observer.notify(self.state.turn(), kind, &self.shown_run().catalog());
    }

    /// Returns the states of the agent's plugins in this run; `None` if the agent has no plugins.
    #[must_use]
    pub fn plugins(&self) -> Option<&Plugins> {
        self.plugins.as_ref().map(|it| &*it.plugins)
    }

    /// Returns the run with the tools that the model was shown.
    pub(super) fn shown_run(&self) -> &Run {
        let again = self.plugins.as_ref().and_then(|it| it.again.as_ref());
        self.shown.as_ref().map(|shown| &shown.run).or(again).unwrap_or_else(|| self.acting_run())
    }

    /// Returns the run that makes the calls, with the tools that the model was shown. If another process asked the
    /// model, the run has the current tools and the tools that read large answers.
    pub(super) fn calling_run(&self) -> Run {
        let run = self.shown_run();
        match (&self.shown, self.results.tools()) {
            (None, Some(tools)) => run.pinned(&run.catalog().followed_by(&tools)),
            _ => run.clone(),
        }
    }

    /// Returns the token that cancels the run.
    pub(crate) fn cancelled(&self) -> Option<&CancellationToken> {
        self.cancelled.as_ref()
    }

    /// Begins the numbers of this driver's events. `epoch` is the number of drivers that have taken the run so far.
    pub(crate) fn begin_events(&self, epoch: u64) {
        self.observer.events().begin(epoch);
    }
}

impl fmt::Debug for AgentRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AgentRun")
            .field("id", &self.run.id())
            .field("state", &self.state)
            .field("messages", &self.history.len())
            .finish_non_exhaustive()
    }
}
