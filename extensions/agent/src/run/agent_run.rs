//! One run of an agent: its history, its state, and what drives it.

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

/// One conversation: the history, and the state of the run. It moves only while [`send`](Self::send) or
/// [`resume`](Self::resume) is polled.
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
    /// The agent that it was handed off to; none while the first one goes on.
    pub(super) acting: Option<ActingAgent>,
    /// The executor's run, of whatever tools there are now.
    pub(super) run: Run,
    /// What the requests for the next answer have taken.
    pub(super) meter: UsageRecorder,
    /// Cancels every call of the run.
    pub(super) cancelled: Option<CancellationToken>,
    /// What watches it.
    pub(super) observer: Observer,
    /// What the model was last shown.
    pub(super) shown: Option<ShownTools>,
    /// The turn of the last answer, some of whose reads may have begun while it came.
    pub(super) begun: Option<BegunTurn>,
    /// The type of which it ends in a value.
    pub(super) output: Option<Output>,
    /// How the model is asked, where that is not as the agent asks.
    pub(super) settings: Option<ModelSettings>,
    /// Whether the model is shown no tools.
    pub(super) has_no_tools: bool,
    /// What the agent's plugins do in it; nothing where it has none.
    pub(super) plugins: Option<Preparing>,
    /// What its guards do.
    pub(super) guarding: Guarding,
    pub(super) state: State,
    pub(super) history: Vec<Message>,
    /// What of the history the model was not sent when it was last asked.
    pub(super) left_out: LeftOut,
    /// What models wrote of turns that are left out.
    pub(super) summaries: Summaries,
    /// Its answers, and what the model is sent of them.
    pub(super) results: Results,
    /// What the user says while it works.
    pub(super) inbox: Inbox,
    /// Keeps other runs of the agent from its id.
    pub(super) held: Option<HeldId>,
}

/// The tools of one generation: the text that the model is shown, and a run that calls exactly them.
pub(super) struct ShownTools {
    pub(super) generation: u64,
    /// Whether plugins have prepared them for one turn.
    pub(super) is_prepared: bool,
    /// Whether a tool is among them by which the model gives the value that the run ends in.
    pub(super) by_call: bool,
    /// The tools that are left out, because their calls were refused.
    pub(super) refused: Vec<String>,
    /// The deferred tools that the model has found.
    pub(super) found: Vec<String>,
    /// Whether those are among them that read large answers.
    pub(super) reads_results: bool,
    /// What the model is shown; the run has all of it but that tool.
    pub(super) listed: Catalog,
    pub(super) listing: Listing,
    pub(super) run: Run,
}

impl AgentRun {
    /// Says something to the model, runs what it calls, and gives how that ended. To say more afterwards continues the
    /// conversation.
    ///
    /// Dropping the future leaves the run where it is: [`resume`](Self::resume) continues it.
    ///
    /// # Errors
    /// When the run cannot go on without its host, which then acts and calls [`resume`](Self::resume).
    pub async fn send(&mut self, text: impl Into<String>) -> Result<RunEnd, Stopped> {
        self.send_with(text, []).await
    }

    /// Says something with pictures or documents, as [`send`](Self::send) does; the text may be empty. The model gets them as
    /// far as its provider takes them, and a sentence for each that it does not get.
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
    /// As [`send`](Self::send).
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

    /// What the user says, and what the run has to end in for it.
    pub(crate) fn said(&self, text: String, attachments: Arc<[Content<'static>]>) -> StepInput {
        let expected = self.output.as_ref().map(|it| it.expected().clone());
        StepInput::said_with(text, attachments).expecting(expected)
    }

    /// Goes on with a run that stopped or was restored: asks the model, or makes the open turn again. A call that
    /// is journalled does not run twice; one that is not does. The time of the run counts anew. Of a run that has ended it
    /// gives the end.
    ///
    /// # Errors
    /// As [`send`](Self::send); [`Stopped::NothingSaid`] where the user has not spoken yet.
    pub async fn resume(&mut self) -> Result<RunEnd, Stopped> {
        self.drive().await
    }

    /// Returns the id of the run.
    #[must_use]
    pub fn id(&self) -> &str {
        self.run.id()
    }

    /// Returns everything that was said, called and answered.
    #[must_use]
    pub fn history(&self) -> &[Message] {
        &self.history
    }

    /// Returns the state of the run.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Reads the events of this run, from the next one on; see [`RunEvents`]. Ask for them before the run is driven, so that
    /// its model streams.
    #[must_use]
    pub fn events(&self) -> RunEvents {
        self.observer.events().reader()
    }

    /// Takes what the user says while the run works.
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
        // Boxed, as its future is large.
        match Box::pin(Driver { run: self, recorder: &mut recorder }.drive()).await? {
            Rest::Ended(ended) => Ok(ended),
            Rest::Waiting(never) => match never {},
        }
    }

    /// Takes a step: replaces the state, and extends the history.
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
                Action::Ask | Action::Call(_) | Action::Check { .. } => {}
            }
        }
    }

    pub(crate) fn notify(&self, kind: NoticeKind<'_>) {
        self.observer.notify(self.state.turn(), kind, &self.shown_run().catalog());
    }

    /// Returns the states of the agent's plugins in this run; nothing where it has none.
    #[must_use]
    pub fn plugins(&self) -> Option<&Plugins> {
        self.plugins.as_ref().map(|it| &*it.plugins)
    }

    /// The run of the tools that the model was shown.
    pub(super) fn shown_run(&self) -> &Run {
        let again = self.plugins.as_ref().and_then(|it| it.again.as_ref());
        self.shown.as_ref().map(|shown| &shown.run).or(again).unwrap_or_else(|| self.acting_run())
    }

    /// The run that makes the calls: of the tools that the model was shown. Where another process has asked it, these are the tools
    /// that there are now, and those that read large answers.
    pub(super) fn calling_run(&self) -> Run {
        let run = self.shown_run();
        match (&self.shown, self.results.tools()) {
            (None, Some(tools)) => run.pinned(&run.catalog().followed_by(&tools)),
            _ => run.clone(),
        }
    }

    /// What ends it from outside.
    pub(crate) fn cancelled(&self) -> Option<&CancellationToken> {
        self.cancelled.as_ref()
    }

    /// Numbers the events from here on as those of the driver that has taken the run so often.
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
