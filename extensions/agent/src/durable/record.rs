//! Records a run in the journal: each step in one commit, under a lease, before the step takes effect.
//!
//! ```text
//!   the model's answer ──▶ the answers of all its calls ──▶ the model's next answer …
//!                             │ some calls wait
//!                             └─────▶ the answers so far; the lease is released
//! ```

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolwright::approval::ApprovalRequest;
use toolwright::journal::DocumentWrite;
use toolwright::provider::ToolCall;
use toolwright::unstable::runs::SubmittedTurn;
use toolwright::{
    Answer, Call, CallFailure, CancellationToken, Content, Outcome, Run, StoredAnswer,
};

use super::RunError;
use super::acknowledge::UnacknowledgedTurn;
use super::background::waiting_for;
use super::deadline::deadline_of;
use super::head::{Cancelled, Head, Lease, Phase, WaitingCall};
use super::keys::{self, Part};
use super::plugins::PluginDocument;
use super::progress::{Progress, Waiting};
use super::recorded::LeasedRun;
use super::turn::{Answers, EndsIn, ModelAnswered, SoFar, TurnPrompt};
use crate::agent::Agent;
use crate::events::{GuardReport, NoticeKind, RunEnd};
use crate::history::{LeftOut, Message, Prompt, Summary};
use crate::limits::share::{self, SpentShare};
use crate::model::{ModelAnswer, ModelError};
use crate::plugin::PluginTurn;
use crate::run::{
    Action, AgentRun, Away, BackgroundCall, Driver, Interruption, Recorder, Rest, State, Stop,
    Stopped, Turn, TurnOutcome, Work, is_turned_away,
};

/// A run that this process drives, and its record.
pub(super) struct DrivenRun {
    pub run: AgentRun,
    pub record: RunRecord,
    /// How the agent differs from the agent that drove the run before.
    pub differences: Vec<String>,
}

impl DrivenRun {
    /// Drives the run until it ends, waits or cannot continue in this process.
    pub(super) async fn drive(&mut self) -> Result<Progress, RunError> {
        self.run.begin_events(self.record.recorded.head.epoch);
        if !self.differences.is_empty() {
            tracing::warn!(run = self.run.id(), differences = ?self.differences, "a run goes on with another agent");
            self.run.notify(NoticeKind::Differs { differences: &self.differences });
        }
        let driver = Driver { run: &mut self.run, recorder: &mut self.record };
        Ok(match driver.drive().await? {
            Rest::Ended(ended) => Progress::Ended(ended),
            Rest::Waiting(waiting) => Progress::Waiting(waiting),
        })
    }

    /// Records a message of the user.
    pub(super) async fn say(
        &mut self,
        text: &str,
        attachments: Arc<[Content<'static>]>,
    ) -> Result<(), RunError> {
        let prompt = Prompt { text: text.to_owned(), attachments: attachments.to_vec() };
        let (state, actions) = self.run.hear(prompt).await;
        Driver { run: &mut self.run, recorder: &mut self.record }.commit(state, actions, None).await
    }
}

/// The record of a run that this process drives.
pub(super) struct RunRecord {
    pub recorded: LeasedRun,
    pub agent: Agent,
    /// The token by which the application cancels the run.
    pub token: Option<CancellationToken>,
    /// Who has cancelled the run; `None` as long as this driver does not know of a cancellation.
    pub cancelled: Option<Cancelled>,
    /// The model's last answer without its message, until the answer is recorded.
    pub asked: Option<ModelAnswered>,
    /// The messages since the model's last answer: those of the user, and those that the run sent in the user's name.
    pub said: Vec<Message>,
    /// The decisions of guards that the next step records.
    pub guards: Vec<GuardReport>,
    /// The decisions of guards since the last answer of the model.
    pub guarded: Vec<GuardReport>,
    /// The calls that go on in the background while the run continues.
    pub background: Vec<BackgroundCall>,
    /// The recorded answers of the open turn, by the index of the call; `None` if a call has no answer yet.
    pub so_far: Vec<Option<StoredAnswer>>,
    /// Records the states of plugins that tools set.
    pub plugins: Arc<PluginDocument>,
    /// The turns whose calls are not acknowledged yet.
    pub left: Vec<UnacknowledgedTurn>,
    /// Limits how many runs of the worker run calls at the same time.
    pub places: Option<Arc<Semaphore>>,
}

impl RunRecord {
    pub(super) fn new(
        recorded: LeasedRun,
        agent: &Agent,
        run: &AgentRun,
        plugins: Arc<PluginDocument>,
    ) -> Self {
        agent.0.drivers.begin(recorded.driver());
        Self {
            recorded,
            agent: agent.clone(),
            token: run.cancelled().cloned(),
            cancelled: None,
            asked: None,
            said: Vec::new(),
            guards: Vec::new(),
            guarded: Vec::new(),
            background: run.state().background().to_vec(),
            so_far: Vec::new(),
            plugins,
            left: Vec::new(),
            places: None,
        }
    }
}

impl Recorder for RunRecord {
    type Error = RunError;
    type Open = Vec<Outcome>;
    type Waiting = Waiting;
    type Maker = ();

    const BEGINS_READS: bool = false;
    const KNOWS_CALLS: bool = true;

    async fn begin(&mut self) {
        self.acknowledge().await;
    }

    fn left(&self) -> Option<RunError> {
        self.agent.0.executor.is_draining().then(|| self.shutting_down())
    }

    async fn stop(&mut self) -> Result<Option<Stop>, RunError> {
        if self.is_cancelled() {
            return Ok(Some(Stop::Cancelled));
        }
        if let Some(cancelled) = self.recorded.find_cancellation().await? {
            self.cancelled = Some(cancelled);
            return Ok(Some(Stop::Cancelled));
        }
        let is_late = self.time_left().is_some_and(|left| left.is_zero());
        Ok(is_late.then_some(Stop::TimeIsUp))
    }

    fn is_cancelled(&mut self) -> bool {
        let is_cancelled = self.token.as_ref().is_some_and(CancellationToken::is_cancelled);
        if is_cancelled && self.cancelled.is_none() {
            let (who, why) = ("application".to_owned(), "its token was cancelled".to_owned());
            self.cancelled = Some(Cancelled { who, why, at: self.recorded.access().now() });
        }
        is_cancelled
    }

    fn may_stop(&self) -> bool {
        true
    }

    fn time_left(&self) -> Option<Duration> {
        let left = self.recorded.access().now().duration_until(self.recorded.head.deadline?);
        Some(Duration::try_from(left).unwrap_or_default())
    }

    async fn wait_for_interruption(&mut self, work: Work) -> Interruption<RunError> {
        let executor = self.agent.0.executor.clone();
        tokio::select! {
            biased;
            () = executor.draining(), if work != Work::Calling => {
                Interruption::Leave(self.shutting_down())
            }
            interrupted = self.come_between(Some(work)) => interrupted,
        }
    }

    async fn place(&mut self) -> Result<Option<OwnedSemaphorePermit>, Interruption<RunError>> {
        let Some(places) = self.places.clone() else { return Ok(None) };
        tokio::select! {
            biased;
            // The semaphore is never closed.
            place = places.acquire_owned() => Ok(place.ok()),
            interrupted = self.wait_for_interruption(Work::Placing) => Err(interrupted),
        }
    }

    async fn hold<T: Send>(
        &mut self,
        work: impl Future<Output = T> + Send,
    ) -> (T, Option<RunError>) {
        let mut work = pin!(work);
        let interrupted = tokio::select! {
            biased;
            done = &mut work => return (done, None),
            interrupted = self.come_between(None) => interrupted,
        };
        let done = work.await;
        match interrupted {
            Interruption::Stop(_) | Interruption::Said => (done, None),
            Interruption::Leave(error) | Interruption::Lost(error) => (done, Some(error)),
        }
    }

    fn note(&mut self, answer: &ModelAnswer, left_out: &LeftOut, _: bool) {
        let ModelAnswer { model, usage, cost, prices, .. } = answer;
        let (model, usage, cost, prices) = (model.clone(), *usage, *cost, prices.clone());
        let left_out = left_out.clone();
        let asked =
            ModelAnswered { model, usage, cost, prices, left_out, ..ModelAnswered::default() };
        self.asked = Some(asked);
    }

    fn record_guards(&mut self, reports: Vec<GuardReport>) {
        self.guards.extend(reports);
    }

    async fn commit(
        &mut self,
        before: &State,
        next: &State,
        actions: &[Action],
        stop: Option<Stop>,
        plugins: Option<&PluginTurn>,
    ) -> Result<(), RunError> {
        let (run, turn) = (self.recorded.head.run.clone(), next.turn());
        let is_answered = turn > before.turn();
        let mut said = if is_answered { Vec::new() } else { self.said.clone() };
        let mut guarded = if is_answered { Vec::new() } else { self.guarded.clone() };
        let guards = std::mem::take(&mut self.guards);
        let has_guarded = !is_answered && !guards.is_empty();
        let (already_said, mut documents) = (said.len(), Vec::new());
        let (mut model, mut has_answers, mut ended) = (None, false, None);
        let mut newest = self.recorded.head.prices.clone();
        for action in actions {
            let message = match action {
                Action::Append(message) => message,
                Action::End(end) => {
                    ended = Some(end).filter(|end| end.is_of_value()).cloned();
                    continue;
                }
                // If a run waits for calls in the background after its model gave the value, the value is recorded with
                // the answer, as at the end of a run.
                Action::Await => {
                    ended = next.outcome().filter(|end| end.is_of_value()).cloned();
                    continue;
                }
                _ => continue,
            };
            match message {
                Message::User { .. } => said.push(message.clone()),
                Message::Assistant { .. } => model = Some(message.clone()),
                Message::ToolResults(_) => {
                    has_answers = true;
                    let body = Answers { message: message.clone() };
                    documents.push(self.recorded.write(Part::Answers.key(&run, turn), &body)?);
                    let key = Part::SoFar.key(&run, turn);
                    let expects = self.recorded.versions.get(&key).copied();
                    if expects.is_some() {
                        documents.push(DocumentWrite { key, expects, text: None });
                    }
                }
            }
        }
        if is_answered {
            let asked = self.asked.take().unwrap_or_default();
            newest = newest.max(asked.prices.clone());
            let body = ModelAnswered { message: model, ended, guards, ..asked };
            documents.push(self.recorded.write(Part::Answer.key(&run, turn), &body)?);
        } else {
            guarded.extend(guards);
        }
        if said.len() > already_said || has_guarded {
            let key = Part::Said.key(&run, turn + 1);
            let (messages, ends_in) = (said.clone(), Some(EndsIn::of(next)));
            let body = TurnPrompt { messages, ends_in, guards: guarded.clone() };
            documents.push(self.recorded.write(key, &body)?);
        }
        documents.extend(self.plugins.with_step(&mut self.recorded, turn, plugins)?);
        let mut head = self.head_of(next)?;
        head.prices = newest;
        if next.turns_since_said() == 0 && (is_answered || before.turns_since_said() > 0) {
            // A new message of the user continues a run that had ended, so its time limit starts again.
            head.deadline = deadline_of(self.recorded.access(), next.limits());
        }
        if stop == Some(Stop::Cancelled) {
            head.cancelled.clone_from(&self.cancelled);
        }
        let is_ended = head.phase == Phase::Ended;
        let is_listed = (self.recorded.head.phase == Phase::Ended) == is_ended;
        // A run that has ended stays in the list of open runs until its calls are acknowledged and its calls in the
        // background are cancelled.
        let is_left =
            is_ended && (has_answers || !self.left.is_empty() || !next.background().is_empty());
        // A run with a message that was not read also stays in the list, until its driver has read its inbox again.
        self.recorded.is_said_more = is_left;
        if self.recorded.is_new() || !(is_listed || is_left) {
            documents.extend(match is_answered {
                true => self.listed_for_the_paid(is_ended).await?,
                false => self.recorded.prepare_listing(is_ended).await?,
            });
        }
        documents.extend(std::mem::take(&mut self.recorded.taken));
        if is_answered {
            self.commit_paid(head, documents).await?;
        } else {
            self.recorded.commit(head, documents).await?;
        }
        self.plugins.is_recorded(&self.recorded, turn);
        self.recorded.suspicion = None;
        (self.said, self.guarded, self.so_far) = (said, guarded, Vec::new());
        self.note_background(next).await;
        Ok(())
    }

    async fn record_summary(&mut self, state: &State, summary: &Summary) -> Result<(), RunError> {
        let key = Part::Summary.key(&self.recorded.head.run, state.turn() + 1);
        let write = self.recorded.write(key, summary)?;
        self.recorded.commit(self.head_of(state)?, vec![write]).await
    }

    async fn away(&mut self, state: &State, error: ModelError) -> Result<Away<RunError>, RunError> {
        self.rest(state, error).await
    }

    fn known(&self) -> Vec<Option<Answer>> {
        self.so_far.iter().map(|stored| stored.clone().map(StoredAnswer::into_answer)).collect()
    }

    async fn take_said(&mut self, is_ending: bool) -> Result<Vec<Prompt>, RunError> {
        if !is_ending {
            return self.recorded.take_messages().await;
        }
        // The model's answer that ends the run was paid for, so a failing store is retried before the driver gives up.
        let mut patience = self.patience();
        for times in 1.. {
            let taken = match self.recorded.note_listing().await {
                Ok(()) => self.recorded.take_messages().await,
                Err(error) => Err(error),
            };
            match taken {
                Err(RunError::Store(error)) => {
                    patience.after(&self.recorded.head.run, error, times).await?;
                }
                taken => return taken,
            }
        }
        Ok(Vec::new())
    }

    async fn sum_delegated(&mut self, state: &State) -> Result<SpentShare, RunError> {
        if self.agent.0.sub_agents.is_none() {
            return Ok(SpentShare::default());
        }
        let children = self.agent.0.ledger.children(&self.recorded.head.run, state.turn()).await?;
        Ok(share::spent(&children, None, state.turn()))
    }

    fn maker(&self) {}

    async fn submit(
        (): &(),
        run: &Run,
        number: u64,
        calls: &[Call<'_>],
        known: Vec<Option<Answer>>,
    ) -> Result<TurnOutcome<Vec<Outcome>>, CallFailure> {
        Ok(match run.submit_turn_again(number, calls, known).await? {
            SubmittedTurn::Answered(answers) => TurnOutcome::Answered(answers),
            SubmittedTurn::Waiting(outcomes) => TurnOutcome::Open(outcomes),
        })
    }

    fn answers_of(open: Vec<Outcome>) -> Vec<Option<Answer>> {
        open.into_iter().map(Outcome::answer).collect()
    }

    async fn wait(
        &mut self,
        turn: &Turn,
        open: Vec<Outcome>,
    ) -> Result<(Waiting, Vec<ToolCall>), RunError> {
        let is_refused = |it: &Outcome| matches!(it, Outcome::Answered(it) if is_turned_away(it));
        if let Some(left) = self.left()
            && open.iter().any(is_refused)
        {
            return Err(left);
        }
        let (mut calls, mut waits) = (Vec::new(), Vec::new());
        let (mut requests, mut answers): (Vec<ApprovalRequest>, _) = (Vec::new(), Vec::new());
        for ((index, outcome), call) in (0..).zip(open).zip(turn.calls.iter()) {
            answers.push(match outcome {
                Outcome::Answered(answer) => Some(StoredAnswer::from(&answer)),
                Outcome::Suspended(suspended) => {
                    let (id, tool, state) = (suspended.call, call.name.clone(), suspended.state);
                    calls.push(WaitingCall { index, call: id, tool, state, in_background: false });
                    waits.push(call.clone());
                    requests.extend(suspended.request.map(|request| *request));
                    None
                }
                Outcome::Failed(failure) => return Err(Stopped::from(failure).into()),
            });
        }
        let so_far = SoFar { answers: answers.clone() };
        let key = Part::SoFar.key(&self.recorded.head.run, turn.number);
        let so_far = self.recorded.write(key, &so_far)?;
        let (head, waiting) = (self.recorded.head.clone(), calls.clone());
        let head = Head { phase: Phase::Waiting, waiting, lease: None, crashes: None, ..head };
        self.recorded.commit(head, vec![so_far]).await?;
        self.recorded.suspicion = None;
        self.so_far = answers;
        let (run, turn) = (self.recorded.head.run.clone(), turn.number);
        Ok((Waiting { run, turn, calls, requests }, waits))
    }

    async fn rest(&mut self, _: &Run, state: &State) -> Result<Option<Waiting>, RunError> {
        let head = Head { lease: None, crashes: None, ..self.head_of(state)? };
        self.recorded.commit(head, Vec::new()).await?;
        self.recorded.suspicion = None;
        let head = &self.recorded.head;
        let (run, turn, calls) = (head.run.clone(), head.turn, head.waiting.clone());
        Ok(Some(Waiting { run, turn, calls, requests: Vec::new() }))
    }

    async fn note_answers(&mut self, history: &[Message], state: &State) {
        self.left.extend(UnacknowledgedTurn::last_of(history, state.turn()));
        self.acknowledge().await;
        self.recall_given_up(state).await;
        // Calls in the background are cancelled before the run is listed as ended.
        if state.due().is_none() && self.background.is_empty() {
            // If the listing fails, a worker on the journal lists the run as ended.
            let is_answer = state.ended().is_some_and(RunEnd::is_answer);
            let background = &self.background;
            let _ = self.recorded.list_as_ended(&self.left, background, is_answer).await;
        }
    }

    async fn release(&mut self, error: &RunError) {
        if !error.is_elsewhere() {
            // If the release fails, the lease expires by itself.
            let _ = self.recorded.release().await;
        }
    }

    fn kind(error: &RunError) -> &'static str {
        if error.is_elsewhere() { "driven_elsewhere" } else { "run_stopped" }
    }
}

/// Notes that the driver is gone. If the driver was dropped before it released the run, another driver in this process
/// need not wait for the end of the lease. After a panic, the lease stays, so that the panic counts as a crash of the
/// run.
impl Drop for RunRecord {
    fn drop(&mut self) {
        let gives_back = self.recorded.is_leased() && !std::thread::panicking();
        self.agent.0.drivers.end(self.recorded.driver(), gives_back);
    }
}

impl RunRecord {
    fn shutting_down(&self) -> RunError {
        RunError::ShuttingDown { run: self.recorded.head.run.clone() }
    }

    /// Returns the head of a run in this state.
    pub(super) fn head_of(&self, state: &State) -> Result<Head, RunError> {
        let head = self.recorded.head.clone();
        let key = keys::head(&head.run);
        let sealing = self.recorded.access().sealing.as_ref();
        let phase = match state.due() {
            Some(Action::Ask) => Phase::Asking,
            Some(Action::Await) => Phase::Waiting,
            Some(_) => Phase::Calling,
            None => Phase::Ended,
        };
        let tag = state.ended().map(serde_json::to_value).transpose();
        let tag = tag.map_err(|error| RunError::damaged(&key, error))?;
        let tag = tag.and_then(|it| it["ended"].as_str().map(str::to_owned));
        let is_ended = phase == Phase::Ended;
        let is_asking_again = phase == Phase::Asking && state.turn() == head.turn;
        // After a commit that records a turn, the crashes in that turn no longer count. The commit after an aborted
        // request records no turn, so the crashes still count.
        let is_given_up = is_asking_again && head.phase == Phase::Asking;
        Head {
            phase,
            turn: state.turn(),
            spent: state.spent(),
            ended: tag,
            waiting: waiting_for(state),
            lease: (!is_ended).then(|| Lease { suspect: false, ..self.recorded.lease() }),
            crashes: head.crashes.filter(|_| is_given_up),
            outage: head.outage.filter(|_| is_asking_again),
            ..head
        }
        .with_state(state, sealing)
    }
}
