//! One run of an agent: its history, where it stands, and what drives it.

mod driven;
mod start;
mod stopped;

use std::collections::BTreeSet;
use std::fmt;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;

use tokio::time::{Instant, sleep_until};
use toolwright::dialect::Listing;
use toolwright::provider::ToolCall;
use toolwright::{Call, CallFailure, CancellationToken, Content, Run, TurnAnswers};
use tracing::Instrument as _;

pub use self::start::{AgentRunBuilder, StartError};
pub use self::stopped::Stopped;
use crate::events::{EventWriter, Listening};
use crate::{
    Action, Agent, Ended, Event, LeftOut, Message, ModelRequest, Notice, NoticeKind, RequestLimits,
    RunEventKind, RunEvents, State, Turn, spans, step,
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
/// let mut run = Agent::builder(executor, model).build()?.run("greetings").start()?;
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
    /// Cancels every call of the run.
    cancelled: Option<CancellationToken>,
    /// What readers of its events get.
    events: EventWriter,
    /// What the model was last shown.
    shown: Option<Shown>,
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
    /// let agent = Agent::builder(executor, ScriptedModel::new().says("A grey pixel.")).build()?;
    /// let pixel = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
    /// let picture = Content::Image { media_type: "image/gif".into(), data: pixel.into() };
    /// agent.run("pictures").start()?.say_with("What is this?", [picture]).await?;
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

    /// Asks the model, and takes its answer.
    async fn ask(&mut self, deadline: Option<Instant>) -> Result<Vec<Action>, Stopped> {
        let event = self.asked(deadline).await?;
        Ok(self.after(event))
    }

    /// Asks the model: what came of it.
    pub(crate) async fn asked(&mut self, deadline: Option<Instant>) -> Result<Event, Stopped> {
        self.show()?;
        let turn = self.state.turn() + 1;
        self.events.ask(turn);
        self.notify_at(turn, NoticeKind::Asking);
        let Some(shown) = &self.shown else { return Ok(Event::Cancelled) };
        let agent = &self.agent.0;
        let limits = RequestLimits {
            max_tokens: agent.max_tokens,
            time: deadline.map(|it| it.saturating_duration_since(Instant::now())),
        };
        let catalog = shown.run.catalog();
        let listening = Listening::new(&self.events, turn, &catalog);
        let request = ModelRequest {
            system: &agent.system,
            history: &self.history,
            listing: &shown.listing,
            limits,
            settings: &agent.settings,
            catalog: Some(&catalog),
            listener: self.events.is_read().then_some(&listening),
        };
        #[cfg(feature = "opentelemetry")]
        let begun = Instant::now();
        let span = spans::chat(&*agent.model, self.run.id());
        let asked = async { agent.model.answer(request).await }.instrument(span.clone());
        let event = tokio::select! {
            biased;
            () = cancellation(self.cancelled.as_ref()) => Event::Cancelled,
            () = until(deadline) => Event::TimeIsUp,
            // Lazily, so that a run that is cancelled asks nothing.
            answered = asked => match answered {
                Ok(answer) => Event::Answered(answer),
                Err(error) => Event::Failed(error),
            }
        };
        match &event {
            Event::Answered(answer) => {
                spans::answered(&span, answer);
                #[cfg(feature = "opentelemetry")]
                if let Some(metrics) = &agent.metrics {
                    metrics.answered(&*agent.model, answer, begun.elapsed());
                }
                agent.accounts.add(self.user.as_deref(), answer.spent());
                listening.answered(answer);
                let reported = &mut self.reported;
                let is_new = |it: &&LeftOut| reported.insert(it.message);
                let left_out: Vec<LeftOut> =
                    answer.left_out.iter().filter(is_new).cloned().collect();
                if !left_out.is_empty() {
                    self.notify_at(turn, NoticeKind::LeftOut { left_out: &left_out });
                }
                self.notify_at(turn, NoticeKind::Answered { answer });
            }
            Event::Failed(error) => {
                spans::failed(&span, error);
                #[cfg(feature = "opentelemetry")]
                if let Some(metrics) = &agent.metrics {
                    metrics.failed(&*agent.model, error, begun.elapsed());
                }
                agent.accounts.add(self.user.as_deref(), error.spent());
                self.notify_at(turn, NoticeKind::Failed { error });
            }
            _ => {}
        }
        Ok(event)
    }

    /// Runs the calls of a turn on the tools that the model was shown, and takes their answers.
    async fn call(
        &mut self,
        turn: &Turn,
        deadline: Option<Instant>,
    ) -> Result<Vec<Action>, Stopped> {
        let called = &turn.calls[..turn.run];
        self.notify(NoticeKind::Calling { calls: called });
        // Only the time has to cancel single calls: the run's own cancellation reaches all of them.
        let stop = deadline.map(|_| CancellationToken::new());
        let calls = self.calls_of(called, stop.as_ref());
        let run = self.shown.as_ref().map_or(&self.run, |shown| &shown.run);
        let (answered, is_late) = answers(run, turn.number, &calls, stop, deadline).await;
        let answered = answered?;
        let is_cancelled = self.cancelled.as_ref().is_some_and(CancellationToken::is_cancelled);
        if is_cancelled {
            self.after(Event::Cancelled);
        } else if is_late {
            self.after(Event::TimeIsUp);
        }
        let terminal = answered.terminal_call();
        Ok(self.after(Event::Called { answers: answered.into_answers(), terminal }))
    }

    /// The calls as the executor takes them, with what the model said as their reason.
    fn calls_of<'c>(
        &self,
        called: &'c [ToolCall],
        stop: Option<&CancellationToken>,
    ) -> Vec<Call<'c>> {
        let reason = match self.history.last() {
            Some(Message::Model { text, .. }) => text.trim(),
            _ => "",
        };
        let call = |call: &'c ToolCall| {
            let call = match stop {
                Some(stop) => Call::from(call).cancelled_by(stop.clone()),
                None => Call::from(call),
            };
            if reason.is_empty() { call } else { call.because(reason) }
        };
        called.iter().map(call).collect()
    }

    /// Lists the tools for the model as they are now, and pins the run to them.
    fn show(&mut self) -> Result<(), Stopped> {
        let catalog = self.run.catalog();
        let generation = catalog.generation();
        if self.shown.as_ref().is_some_and(|shown| shown.generation == generation) {
            return Ok(());
        }
        let listing = catalog.listing(self.agent.0.model.dialect())?;
        self.shown = Some(Shown { generation, listing, run: self.run.pinned(&catalog) });
        Ok(())
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
        RunEventKind::of(kind).into_iter().for_each(|event| self.events.push(turn, event));
    }
}

/// The answers of a turn, and whether its time was up.
async fn answers(
    run: &Run,
    number: u64,
    calls: &[Call<'_>],
    stop: Option<CancellationToken>,
    deadline: Option<Instant>,
) -> (Result<TurnAnswers, CallFailure>, bool) {
    let mut turn = pin!(run.turn(number, calls));
    let Some(stop) = stop else { return (turn.await, false) };
    tokio::select! {
        biased;
        answers = &mut turn => return (answers, false),
        () = until(deadline) => {}
    }
    stop.cancel();
    (turn.await, true)
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}

async fn cancellation(token: Option<&CancellationToken>) {
    match token {
        Some(token) => token.cancelled().await,
        None => pending().await,
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
