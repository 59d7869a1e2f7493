//! Starts or resumes a run of an agent by its id. If another driver has the run, waits for that driver's result.

use std::io::Write as _;

use tokio::time::timeout;
use toolwright::CancellationToken;
use toolwright::unstable::runs::JournalAccess;

use super::background::rests_in_background;
use super::head::Phase;
use super::inbox::{self, Urgency};
use super::progress::{Progress, Waiting};
use super::record::DrivenRun;
use super::runner::{Inner, LOOK_AGAIN};
use super::runs::head_of;
use super::taken_by::TakenBy;
use super::turn;
use super::{NewRun, RunError, Runs};
use crate::agent::Agent;
use crate::events::{GuardStage, RunEnd, RunEvent};
use crate::history::{Message, Prompt};
use crate::run::options::RunOptions;
use crate::run::{Expected, Output, State, cancellation};

/// A recorded run of an agent, for a [`Chat`](crate::Chat) or a [`RunRequest`](crate::RunRequest).
pub(crate) struct ById {
    inner: Inner,
    agent: Agent,
    id: String,
    user: Option<String>,
    session: Option<String>,
    token: Option<CancellationToken>,
    /// The type of the value that the run has to end in; `None` if it ends in a text.
    output: Option<Output>,
}

/// How far the run got, as reported to the caller.
pub(crate) struct Came {
    pub id: String,
    pub progress: Progress,
    pub state: State,
    pub history: Vec<Message>,
    /// How many messages the history had before the caller's prompt, or before the caller resumed the run.
    pub before: usize,
    /// How the agent differs from the agent that drove the run before.
    pub differences: Vec<String>,
}

/// What the caller requests from the run.
enum WantedOutcome<'a> {
    /// The result of the run, even if another process begins the run.
    Result(&'a Prompt),
    /// An answer to a new message of the user.
    Answer(&'a Prompt),
    /// No particular result: the run only has to continue.
    Rest,
}

impl ById {
    pub(crate) fn of(agent: &Agent, journal: JournalAccess, options: RunOptions) -> Self {
        let RunOptions { id, user, session, token, services, output, settings } = options;
        let id = id.unwrap_or_else(RunOptions::new_id);
        let output = output.or_else(|| agent.0.output.clone());
        let (brought, typed) = (token.clone(), output.clone());
        let inner = Inner::of_one(agent, journal, move |builder| {
            let builder = match &typed {
                Some(output) => builder.ending_in(output.clone()),
                None => builder,
            };
            let builder = match &settings {
                Some(settings) => builder.settings(settings.clone()),
                None => builder,
            };
            let builder = services.iter().fold(builder, |builder, service| service(builder));
            match &brought {
                Some(token) => builder.cancelled_by(token.clone()),
                None => builder,
            }
        });
        Self { inner, agent: agent.clone(), id, user, session, token, output }
    }

    /// Returns the id of the run.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Starts the run with this prompt or resumes it. Returns the result of a run that has already ended.
    pub(crate) async fn run(&self, prompt: &Prompt) -> Result<Came, RunError> {
        self.until_it_rests(WantedOutcome::Result(prompt)).await
    }

    /// Sends a message of the user to the run. Starts the run if it does not exist.
    pub(crate) async fn send(&self, prompt: &Prompt) -> Result<Came, RunError> {
        self.until_it_rests(WantedOutcome::Answer(prompt)).await
    }

    /// Leaves a message for the driver of the run, which may be in another process.
    pub(crate) async fn put(
        agent: &Agent,
        run: &str,
        prompt: Prompt,
        urgency: Urgency,
    ) -> Result<(), RunError> {
        let not_now = |why: &str| RunError::NotNow { run: run.to_owned(), why: why.to_owned() };
        let journal = agent.0.journal();
        let access = journal.ok_or_else(|| not_now("is recorded nowhere"))?;
        let (head, _) = head_of(&*access.store, run).await?;
        if head.phase == Phase::Ended {
            return Err(not_now("has ended; say it in a conversation of this id"));
        }
        let Some(key) = inbox::put(&access, run, prompt, urgency, None).await? else {
            return Ok(());
        };
        let (head, _) = head_of(&*access.store, run).await?;
        match access.store.document(&key).await? {
            Some(left) if head.phase == Phase::Ended => {
                match inbox::withdraw(&access, left).await? {
                    true => {
                        Err(not_now("has ended meanwhile; say it in a conversation of this id"))
                    }
                    false => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Continues the run.
    pub(crate) async fn resume(&self) -> Result<Came, RunError> {
        self.until_it_rests(WantedOutcome::Rest).await
    }

    async fn until_it_rests(&self, mut wanted: WantedOutcome<'_>) -> Result<Came, RunError> {
        let (mut follows, mut is_cancelled, mut rests_until) = (false, false, None);
        let mut by = TakenBy::Program;
        let mut before = matches!(wanted, WantedOutcome::Result(_)).then_some(0);
        loop {
            // Subscribe before reading, so that no change is missed.
            let changed = self.inner.access.store.changed();
            // The future is boxed because it is large.
            let came = match Box::pin(self.take(&mut wanted, by, &mut before)).await {
                Ok(Ok(driven)) => {
                    wanted = WantedOutcome::Rest;
                    let before = *before.get_or_insert(driven.run.history().len());
                    self.drive(driven, before).await
                }
                Ok(Err(progress)) => self.as_recorded(progress, before).await,
                Err(error) => Err(error),
            };
            // From here on this process takes the run as a worker does: it does not resume a run that was parked
            // meanwhile.
            by = TakenBy::Worker;
            match came {
                Err(RunError::Driven { until, .. }) => {
                    if !std::mem::replace(&mut follows, true) {
                        self.tell(
                            RunEvent::Elsewhere { until },
                            &format!(
                                "is driven elsewhere until {until}, or longer; waiting for its end, and continuing it then if its driver has died"
                            ),
                        );
                    }
                }
                Err(RunError::ModelUnreachable { until, kind, message, .. }) => {
                    // A reader of the run's events sees the failed request there, and needs no warning.
                    if rests_until.replace(until) != Some(until)
                        && !self.agent.0.rings.is_read(&self.id)
                    {
                        let why = message.map_or(kind.clone(), |it| format!("{kind}: {it}"));
                        let words = format!("rests until {until}: its model is away ({why})");
                        warn(&self.id, &words);
                    }
                }
                Err(error) if error.goes_on_later() => {}
                Ok(Came { progress: Progress::Waiting(waiting), .. })
                    if !waiting.needs_a_person() => {}
                came => return came,
            }
            tokio::select! {
                () = cancellation(self.token.as_ref()), if !is_cancelled => {
                    is_cancelled = true;
                    let runs = Runs::of(std::sync::Arc::clone(&self.inner.access.store));
                    let now = self.inner.access.now();
                    runs.cancel(&self.id, "application", "its token was cancelled", now).await?;
                }
                _ = timeout(LOOK_AGAIN, changed) => {}
            }
        }
    }

    /// Takes the run for this process, or returns how far it got if it cannot be driven now.
    async fn take(
        &self,
        wanted: &mut WantedOutcome<'_>,
        by: TakenBy,
        before: &mut Option<usize>,
    ) -> Result<Result<DrivenRun, Progress>, RunError> {
        if let WantedOutcome::Result(prompt) | WantedOutcome::Answer(prompt) = wanted {
            let known = match self.inner.head(&self.id).await {
                Err(RunError::NoSuchRun { .. }) => false,
                known => known.map(|_| true)?,
            };
            if !known {
                match self.inner.begin_run(self.new_run(prompt)).await {
                    // Another process has just begun the run. If the run has no head, the id belongs to a removed run,
                    // which is an error.
                    Err(RunError::Exists { .. }) if self.inner.head(&self.id).await.is_ok() => {}
                    begun => {
                        before.get_or_insert(0);
                        return begun.map(Ok);
                    }
                }
            }
        }
        let (head, version) = self.inner.head(&self.id).await?;
        for (what, recorded, given) in
            [("user", &head.user, &self.user), ("session", &head.session, &self.session)]
        {
            if given.is_some() && given != recorded {
                let name = |it: &Option<String>| {
                    it.as_ref().map_or_else(|| "none".to_owned(), |it| format!("`{it}`"))
                };
                let (found, expected) = (name(given), name(recorded));
                let why = format!(
                    "is recorded with another {what}: found {found}, expected {expected}; leave it out, or give the run another id"
                );
                return Err(RunError::NotNow { run: self.id.clone(), why });
            }
        }
        match wanted {
            WantedOutcome::Answer(prompt) if rests_in_background(&head) => {
                // The run has not ended: it reads the message with its next request.
                let (_, turns) = self.inner.turns(&head, version).await?;
                before.get_or_insert(turns.history.len());
                let prompt = (*prompt).clone();
                inbox::put(&self.inner.access, &self.id, prompt, Urgency::Next, None).await?;
                // The message is recorded. If another process takes the run now, that process reads the message, and
                // the caller only waits.
                *wanted = WantedOutcome::Rest;
                self.inner.take_run(&self.id, by).await
            }
            WantedOutcome::Answer(Prompt { text, attachments }) => {
                let attachments = attachments.as_slice().into();
                let spoken = self.inner.say_to_ended(&self.id, text, attachments, before).await;
                spoken.map(Ok)
            }
            WantedOutcome::Result(prompt) => {
                self.is_of(prompt).await?;
                self.ends_in(head.state(self.inner.access.sealing.as_ref())?.expected())?;
                self.inner.take_run(&self.id, by).await
            }
            WantedOutcome::Rest => self.inner.take_run(&self.id, by).await,
        }
    }

    async fn drive(&self, mut driven: DrivenRun, before: usize) -> Result<Came, RunError> {
        if !driven.differences.is_empty() && !self.agent.0.rings.is_read(&self.id) {
            let what = driven.differences.join("; ");
            warn(&self.id, &format!("goes on with another agent than it was begun with: {what}"));
        }
        let progress = self.inner.drive(&mut driven).await?;
        let DrivenRun { run, differences, .. } = driven;
        let (id, state, history) = (self.id.clone(), run.state().clone(), run.history().to_vec());
        Ok(Came { id, progress, state, history, before, differences })
    }

    /// Returns the recorded state of a run that this process does not drive.
    async fn as_recorded(
        &self,
        progress: Progress,
        before: Option<usize>,
    ) -> Result<Came, RunError> {
        let (head, version) = self.inner.head(&self.id).await?;
        let (state, turns) = self.inner.turns(&head, version).await?;
        if let (Progress::Ended(RunEnd::Output { value }), Some(output)) = (&progress, &self.output)
        {
            self.ends_in(state.expected())?;
            output.check(value).map_err(|problems| {
                let name = output.name();
                let why = format!(
                    "ended in a value of `{name}` that the rule for `{name}` refuses now: {problems}; read the text of the result, or give the \
                     new task an id of its own"
                );
                self.other_output(why)
            })?;
        }
        let (id, history) = (self.id.clone(), turns.history);
        let before = before.unwrap_or(history.len());
        Ok(Came { id, progress, state, history, before, differences: Vec::new() })
    }

    fn new_run(&self, prompt: &Prompt) -> NewRun {
        let mut new = NewRun::new(&self.id, &self.agent.0.name, &prompt.text);
        (new.info.user, new.info.session) = (self.user.clone(), self.session.clone());
        new.attached(prompt.attachments.as_slice())
    }

    /// Returns an error if the run was begun with another prompt.
    async fn is_of(&self, prompt: &Prompt) -> Result<(), RunError> {
        let (store, sealing) = (&*self.inner.access.store, self.inner.access.sealing.as_ref());
        let turn::RecordedTurn { said, guards, .. } =
            turn::read_turn(store, &self.id, 1, sealing).await?;
        if guards.iter().any(|it| it.stage == GuardStage::BeforeRun) {
            // A guard may have changed the first message before it was recorded, so the prompts cannot be compared.
            return Ok(());
        }
        let given = Message::user_with(&*prompt.text, prompt.attachments.as_slice());
        let stored = |message: &Message| serde_json::to_string(message).ok();
        if said.iter().any(|message| stored(message) == stored(&given)) {
            return Ok(());
        }
        let recorded = match said.iter().find(|it| matches!(it, Message::User { .. })) {
            Some(Message::User { text, .. }) if *text != prompt.text => shown(text),
            _ => "the same text with other attachments".to_owned(),
        };
        Err(RunError::OtherPrompt { run: self.id.clone(), recorded, given: shown(&prompt.text) })
    }

    /// Refuses a run that has to end in another type than the caller requests. A caller that requests no type can read
    /// any run as text.
    fn ends_in(&self, recorded: Option<&Expected>) -> Result<(), RunError> {
        let Some(given) = self.output.as_ref().map(Output::expected) else { return Ok(()) };
        match recorded {
            Some(recorded) if recorded.is_same_type(given) => Ok(()),
            Some(recorded) => Err(self.other_output(recorded.refuses(given))),
            None => {
                let name = &given.name;
                let why = format!(
                    "was begun to end in a text, and a value of `{name}` is asked for; leave out the type, or give the new task an id of its own"
                );
                Err(self.other_output(why))
            }
        }
    }

    fn other_output(&self, why: String) -> RunError {
        RunError::OtherOutput { run: self.id.clone(), why }
    }

    /// Reports what another process does with the run: as an event if there is a reader, otherwise on standard error.
    fn tell(&self, event: RunEvent, words: &str) {
        tracing::info!(run = self.id, "the run {words}");
        if !self.agent.0.rings.tell(&self.id, event) {
            warn(&self.id, words);
        }
    }
}

impl Waiting {
    /// Returns whether the run waits for a person. Then it is of no use to read the run again soon.
    fn needs_a_person(&self) -> bool {
        use toolwright::journal::State::{Indeterminate, Pending, Planned};
        self.calls.iter().any(|call| matches!(call.state, Pending | Indeterminate | Planned))
    }
}

/// Shortens a prompt for an error message.
fn shown(text: &str) -> String {
    const LONGEST: usize = 200;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Writes a line to standard error. A failed write is ignored.
fn warn(run: &str, words: &str) {
    let line = toolwright::printable::line(&format!("run `{run}` {words}"));
    let _ = writeln!(std::io::stderr(), "{line}");
}
