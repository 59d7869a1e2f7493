//! Drives one run: carries out what is due, and commits each step before it counts.
//!
//! ```text
//!   ask ──▶ commit: the model's answer ──▶ calls ──▶ commit: their answers ──▶ ask …
//!                                            │ some wait
//!                                            └─────▶ commit: the answers so far, no lease
//! ```

use std::sync::Arc;

use toolwright::journal::DocumentWrite;
use toolwright::unstable::runs::SubmittedTurn;
use toolwright::{Answer, CancellationToken, Content, Outcome, StoredAnswer};
use tracing::Instrument as _;

use super::RunError;
use super::acknowledge::Unacknowledged;
use super::head::{Head, Phase, WaitingCall};
use super::keys::{self, Part};
use super::progress::{Progress, Waiting};
use super::recorded::Recorded;
use super::stop::{Stop, Trouble, renewing, trouble};
use super::turn::{Answers, ModelAnswered, Said, SoFar};
use crate::run::AgentRun;
use crate::spans;
use crate::{
    Action, CalledTool, Cost, Event, Message, ModelAnswer, State, Stopped, Turn, Usage, step,
};

/// A run that is driven here.
pub(super) struct Driver {
    pub run: AgentRun,
    pub recorded: Recorded,
    /// Cancels every call of the run.
    pub token: CancellationToken,
    /// What was said since the last answer of the model.
    pub said: Vec<Message>,
    /// The recorded answers of the open turn.
    pub so_far: Vec<Option<StoredAnswer>>,
    /// Turns whose calls are not acknowledged yet.
    pub left: Vec<Unacknowledged>,
}

/// What the model's answer has beside its message.
#[derive(Default)]
struct Asked {
    model: Option<String>,
    usage: Option<Usage>,
    cost: Option<Cost>,
    prices: Option<String>,
}

impl Asked {
    fn of(answer: &ModelAnswer) -> Self {
        let ModelAnswer { model, usage, cost, prices, .. } = answer;
        Self { model: model.clone(), usage: *usage, cost: *cost, prices: prices.clone() }
    }
}

impl Driver {
    /// Drives the run until it ends, waits or cannot go on here.
    pub(super) async fn drive(mut self) -> Result<Progress, RunError> {
        self.run.begin_events(self.recorded.head.epoch);
        let span = spans::invoke_agent(self.run.id());
        let driven = self.steps().instrument(span.clone()).await;
        spans::driven(&span, &driven);
        if let Err(error) = &driven {
            self.run.stopped(error);
        }
        if let Err(error) = &driven
            && !error.is_elsewhere()
        {
            // Where the journal fails, the lease ends by itself.
            let _ = self.recorded.release().await;
        }
        driven
    }

    async fn steps(&mut self) -> Result<Progress, RunError> {
        self.acknowledge().await;
        loop {
            if self.run.is_draining() && self.run.state().due().is_some() {
                return Err(self.shutting_down());
            }
            match self.run.state().due() {
                Some(Action::Ask) => self.ask().await?,
                Some(Action::Call(turn)) => {
                    if let Some(waiting) = self.call(&turn).await? {
                        return Ok(Progress::Waiting(waiting));
                    }
                }
                _ => {
                    let ended = self.run.state().ended().cloned();
                    return ended.map(Progress::Ended).ok_or(Stopped::NothingSaid.into());
                }
            }
        }
    }

    /// Takes a step and commits it.
    pub(super) async fn said(
        &mut self,
        text: &str,
        attachments: Arc<[Content<'static>]>,
    ) -> Result<(), RunError> {
        let (state, actions) = step(self.run.state(), Event::said_with(text, attachments));
        self.commit(state, actions, None, None).await
    }

    async fn ask(&mut self) -> Result<(), RunError> {
        let mut stop = self.recorded.stop().await?;
        let event = match &stop {
            Some(stop) => stop.event(),
            None => {
                let draining = self.run.draining();
                let answered = tokio::select! {
                    biased;
                    answered = self.run.asked(None, false) => Ok(Some(answered)),
                    // An answer may take minutes: the next process asks again.
                    () = draining => Ok(None),
                    trouble = trouble(&mut self.recorded) => Err(trouble),
                };
                match answered {
                    Ok(Some(answered)) => answered?,
                    Ok(None) => {
                        self.run.count_given_up();
                        self.commit(self.run.state().clone(), Vec::new(), None, None).await?;
                        return Err(self.shutting_down());
                    }
                    Err(Trouble::Lost(error)) => return Err(error),
                    Err(Trouble::Stop(why)) => {
                        self.run.count_given_up();
                        stop.insert(why).event()
                    }
                }
            }
        };
        let asked = match &event {
            Event::Answered(answer) => Some(Asked::of(answer)),
            _ => None,
        };
        let (state, actions) = step(self.run.state(), event);
        self.commit(state, actions, asked, stop).await
    }

    /// Runs the calls of a turn: what they wait for, if they do.
    async fn call(&mut self, turn: &Turn) -> Result<Option<Waiting>, RunError> {
        let mut stop = self.recorded.stop().await?;
        let answer = |stored: &Option<StoredAnswer>| stored.clone().map(StoredAnswer::into_answer);
        let mut known: Vec<Option<Answer>> = self.so_far.iter().map(answer).collect();
        let mut submitted = None;
        if stop.is_none() {
            let mut lost = None;
            let mut work = Box::pin(self.run.submitted(turn, std::mem::take(&mut known)));
            let outcomes = tokio::select! {
                biased;
                outcomes = &mut work => outcomes,
                trouble = trouble(&mut self.recorded) => {
                    match trouble {
                        Trouble::Lost(error) => lost = Some(error),
                        Trouble::Stop(why) => {
                            stop = Some(why);
                            self.token.cancel();
                        }
                    }
                    // The calls have leases of their own. To drop them would leave their outcome unknown.
                    match lost.is_some() {
                        true => work.as_mut().await,
                        false => renewing(&mut self.recorded, &mut lost, work.as_mut()).await,
                    }
                }
            };
            if let Some(error) = lost {
                return Err(error);
            }
            submitted = Some(outcomes.map_err(Stopped::from)?);
        }
        let is_turned_away = submitted.as_ref().is_some_and(is_turned_away);
        if stop.is_none() && is_turned_away && self.run.is_draining() {
            return Err(self.shutting_down());
        }
        if stop.is_some() && !matches!(submitted, Some(SubmittedTurn::Answered(_))) {
            if let Some(SubmittedTurn::Waiting(outcomes)) = submitted {
                known = outcomes.into_iter().map(Outcome::answer).collect();
            }
            self.token.cancel();
            let mut lost = None;
            let given_up = Box::pin(self.run.given_up(turn, known));
            let given_up = renewing(&mut self.recorded, &mut lost, given_up).await;
            if let Some(error) = lost {
                return Err(error);
            }
            submitted = Some(given_up.map_err(Stopped::from)?);
        }
        match submitted {
            Some(SubmittedTurn::Answered(answers)) => {
                let state = match &stop {
                    Some(stop) => step(self.run.state(), stop.event()).0,
                    None => self.run.state().clone(),
                };
                let terminal = answers.terminal_call();
                let event = Event::Called { answers: answers.into_answers(), terminal };
                let (state, actions) = step(&state, event);
                self.commit(state, actions, None, stop).await?;
                self.left
                    .extend(Unacknowledged::last_of(self.run.history(), self.run.state().turn()));
                self.acknowledge().await;
                if self.run.state().due().is_none() {
                    // Where it is not listed now, whoever works on the journal does it.
                    let _ = self.recorded.ended(&self.left).await;
                }
                Ok(None)
            }
            Some(SubmittedTurn::Waiting(outcomes)) => self.wait(turn, outcomes).await.map(Some),
            None => Ok(None),
        }
    }

    fn shutting_down(&self) -> RunError {
        RunError::ShuttingDown { run: self.recorded.head.run.clone() }
    }

    /// Stores the answers that are there, and gives the run up until the others are.
    async fn wait(&mut self, turn: &Turn, outcomes: Vec<Outcome>) -> Result<Waiting, RunError> {
        let (mut calls, mut requests, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        for ((index, outcome), call) in (0..).zip(outcomes).zip(turn.calls.iter()) {
            answers.push(match outcome {
                Outcome::Answered(answer) => Some(StoredAnswer::from(&answer)),
                Outcome::Suspended(waits) => {
                    let (id, tool, state) = (waits.call, call.name.clone(), waits.state);
                    calls.push(WaitingCall { index, call: id, tool, state });
                    requests.extend(waits.request.map(|request| *request));
                    None
                }
                Outcome::Failed(failure) => return Err(Stopped::from(failure).into()),
            });
        }
        let run = &self.recorded.head.run;
        let so_far = self
            .recorded
            .write(Part::SoFar.key(run, turn.number), &SoFar { answers: answers.clone() })?;
        let waiting = calls.clone();
        let head = self.recorded.head.clone();
        let head = Head { phase: Phase::Waiting, waiting, lease: None, deaths: None, ..head };
        self.recorded.commit(head, vec![so_far]).await?;
        let waits = calls.iter().filter_map(|it| turn.calls.get(it.index as usize));
        self.run.waits(turn.number, waits.map(CalledTool::from).collect());
        self.so_far = answers;
        Ok(Waiting { turn: turn.number, calls, requests })
    }

    /// Commits a step: what the history has more, and where the run stands since. Only then it counts.
    async fn commit(
        &mut self,
        state: State,
        actions: Vec<Action>,
        asked: Option<Asked>,
        stop: Option<Stop>,
    ) -> Result<(), RunError> {
        let run = self.recorded.head.run.clone();
        let turn = state.turn();
        let is_answered = turn > self.run.state().turn();
        let mut said = if is_answered { Vec::new() } else { self.said.clone() };
        let (already_said, mut documents) = (said.len(), Vec::new());
        let (mut model, mut has_answers) = (None, false);
        let mut newest = self.recorded.head.prices.clone();
        for action in &actions {
            let Action::Append(message) = action else { continue };
            match message {
                Message::User { .. } => said.push(message.clone()),
                Message::Model { .. } => model = Some(message.clone()),
                Message::Answers(_) => {
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
            let Asked { model: by, usage, cost, prices } = asked.unwrap_or_default();
            newest = newest.max(prices.clone());
            let body = ModelAnswered { message: model, model: by, usage, cost, prices };
            documents.push(self.recorded.write(Part::Answer.key(&run, turn), &body)?);
        }
        if said.len() > already_said {
            let key = Part::Said.key(&run, turn + 1);
            documents.push(self.recorded.write(key, &Said { messages: said.clone() })?);
        }
        let mut head = self.head_of(&state)?;
        head.prices = newest;
        if let Some(Stop::Cancelled(cancelled)) = stop {
            head.cancelled = Some(cancelled);
        }
        let is_ended = head.phase == Phase::Ended;
        let is_listed = (self.recorded.head.phase == Phase::Ended) == is_ended;
        // Its calls are acknowledged before it is no longer looked at.
        let is_left = is_ended && (has_answers || !self.left.is_empty());
        if self.recorded.is_new() || !(is_listed || is_left) {
            documents.extend(self.recorded.listed(is_ended).await?);
        }
        self.recorded.commit(head, documents).await?;
        (self.said, self.so_far) = (said, Vec::new());
        self.run.take(state, actions);
        Ok(())
    }

    /// The head of a run in this state.
    fn head_of(&self, state: &State) -> Result<Head, RunError> {
        let head = self.recorded.head.clone();
        let key = keys::head(&head.run);
        let sealing = self.recorded.access().sealing.as_ref();
        let phase = match state.due() {
            Some(Action::Ask) => Phase::Asking,
            Some(_) => Phase::Calling,
            None => Phase::Ended,
        };
        let tag = state.ended().map(serde_json::to_value).transpose();
        let tag = tag.map_err(|error| RunError::damaged(&key, error))?;
        let tag = tag.and_then(|it| it["ended"].as_str().map(str::to_owned));
        let is_ended = phase == Phase::Ended;
        Head {
            phase,
            turn: state.turn(),
            spent: state.spent(),
            ended: tag,
            waiting: Vec::new(),
            lease: (!is_ended).then(|| self.recorded.lease()),
            deaths: None,
            ..head
        }
        .with_state(state, sealing)
    }

    /// Notes that the run has the answers of its turns. They are recorded, so that a failure here loses nothing.
    async fn acknowledge(&mut self) {
        let store = &self.recorded.access().store;
        let mut left = Vec::new();
        for calls in self.left.drain(..) {
            if !calls.acknowledged(&**store, self.run.id()).await {
                left.push(calls);
            }
        }
        self.left = left;
    }
}

/// Whether a call of the turn was not taken, because the executor takes no more: the next process makes it.
fn is_turned_away(turn: &SubmittedTurn) -> bool {
    let is_refused = |it: &Answer| it.error().is_some_and(|error| error.kind() == "shutting_down");
    match turn {
        SubmittedTurn::Answered(turn) => turn.answers().iter().any(is_refused),
        SubmittedTurn::Waiting(outcomes) => {
            outcomes.iter().any(|it| matches!(it, Outcome::Answered(answer) if is_refused(answer)))
        }
    }
}
