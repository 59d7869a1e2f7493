//! One run of an agent: its history, where it stands, and what drives it.

mod asking;
mod calling;
mod driven;
mod early;
mod start;
mod stopped;
mod until;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use tokio::time::Instant;
use toolwright::dialect::Listing;
use toolwright::{CancellationToken, Content, Run};
use tracing::Instrument as _;

use self::early::Begun;
pub(crate) use self::early::Early;
pub use self::start::{AgentRunBuilder, StartError};
pub use self::stopped::Stopped;
use crate::events::EventWriter;
use crate::{
    Action, Agent, Ended, Event, Message, Meter, Notice, NoticeKind, RunEvent, RunEvents, State,
    spans, step,
};

/// One conversation: the history, and where the run stands. It moves only while [`say`](Self::say) or
/// [`go_on`](Self::go_on) is polled.
///
/// ```
/// use toolwright::{Executor, Registry};
/// use toolwright_agent::{Agent, ScriptedModel};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let model = ScriptedModel::new().says("Hello.").says("Good-bye.");
/// let executor = Executor::builder(Registry::empty()).build()?;
/// let mut run = Agent::on(executor, model).build()?.new_run("greetings").start()?;
/// run.say("Good morning!").await?;
/// run.say("Good night!").await?;
/// assert_eq!((run.history().len(), run.state().turn()), (4, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AgentRun {
    agent: Agent,
    /// Whose account it is on.
    user: Option<String>,
    /// The executor's run, of whatever tools there are now.
    run: Run,
    /// What the requests for the next answer have taken.
    meter: Meter,
    /// Cancels every call of the run.
    cancelled: Option<CancellationToken>,
    /// What readers of its events get.
    events: EventWriter,
    /// What the model was last shown.
    shown: Option<Shown>,
    /// The turn of the last answer, some of whose reads may have begun while it came.
    begun: Option<Begun>,
    /// The messages of which was reported what requests go without.
    reported: BTreeSet<usize>,
    state: State,
    history: Vec<Message>,
}

/// The tools of one generation: the text that the model is shown, and a run that calls exactly them.
struct Shown {
    generation: u64,
    listing: Listing,
    run: Run,
}

impl AgentRun {
    /// Says something to the model, runs what it calls, and gives how that ended. To say more afterwards continues the
    /// conversation.
    ///
    /// Dropping the future leaves the run where it is: [`go_on`](Self::go_on) continues it.
    ///
    /// # Errors
    /// When the run cannot go on without its host, which then acts and calls [`go_on`](Self::go_on).
    pub async fn say(&mut self, text: impl Into<String>) -> Result<Ended, Stopped> {
        self.say_with(text, []).await
    }

    /// Says something with pictures or documents, as [`say`](Self::say) does; the text may be empty. The model gets them as
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
    /// agent.new_run("pictures").start()?.say_with("What is this?", [picture]).await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`say`](Self::say).
    pub async fn say_with(
        &mut self,
        text: impl Into<String>,
        attachments: impl Into<Arc<[Content<'static>]>>,
    ) -> Result<Ended, Stopped> {
        let (text, attachments) = (text.into(), attachments.into());
        if text.trim().is_empty() && attachments.is_empty() {
            return Err(Stopped::NothingSaid);
        }
        if !self.state.open_calls().is_empty() {
            return Err(Stopped::OpenTurn { turn: self.state.turn() });
        }
        self.count_given_up();
        let actions = self.after(Event::Said { text, attachments });
        self.drive(actions).await
    }

    /// Goes on with a run that stopped or was restored: asks the model, or makes the open turn again. A call that
    /// is journalled does not run twice; one that is not does. The time of the run counts anew. Of a run that has ended it
    /// gives the end.
    ///
    /// # Errors
    /// As [`say`](Self::say); [`Stopped::NothingSaid`] where the user has not spoken yet.
    pub async fn go_on(&mut self) -> Result<Ended, Stopped> {
        let actions = self.state.due().into_iter().collect();
        self.drive(actions).await
    }

    /// The id of the run.
    #[must_use]
    pub fn id(&self) -> &str {
        self.run.id()
    }

    /// Everything that was said, called and answered.
    #[must_use]
    pub fn history(&self) -> &[Message] {
        &self.history
    }

    /// Where the run stands.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The events of this run, from the next one on; see [`RunEvents`]. Ask for them before the run is driven, so that its
    /// model streams.
    #[must_use]
    pub fn events(&self) -> RunEvents {
        self.events.reader()
    }

    async fn drive(&mut self, actions: Vec<Action>) -> Result<Ended, Stopped> {
        let span = spans::invoke_agent(self.run.id());
        let ended = self.carry_out(actions).instrument(span.clone()).await;
        spans::ended(&span, &ended);
        if let Err(stopped) = &ended {
            self.stopped(stopped);
        }
        ended
    }

    async fn carry_out(&mut self, mut actions: Vec<Action>) -> Result<Ended, Stopped> {
        let deadline = self.state.limits().time.map(|time| Instant::now() + time);
        loop {
            // Nothing is awaited between a step and the messages that it appends.
            let mut due = None;
            for action in actions {
                match action {
                    Action::Append(message) => {
                        self.notify(NoticeKind::Appended { message: &message });
                        self.history.push(message);
                    }
                    Action::End(ended) => {
                        self.notify(NoticeKind::Ended { ended: &ended });
                    }
                    waits @ (Action::Ask | Action::Call(_)) => due = Some(waits),
                }
            }
            actions = match due {
                Some(Action::Ask) => self.ask(deadline).await?,
                Some(Action::Call(turn)) => self.call(&turn, deadline).await?,
                _ => return self.state.ended().cloned().ok_or(Stopped::NothingSaid),
            };
        }
    }

    fn after(&mut self, event: Event) -> Vec<Action> {
        let (state, actions) = step(&self.state, event);
        self.state = state;
        actions
    }

    fn notify(&self, kind: NoticeKind<'_>) {
        self.notify_at(self.state.turn(), kind);
    }

    fn notify_at(&self, turn: u64, kind: NoticeKind<'_>) {
        self.agent.notify(&Notice { run: self.run.id(), turn, kind });
        let catalog = self.shown_run().catalog();
        RunEvent::of(kind, &catalog).into_iter().for_each(|event| self.events.push(turn, event));
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
