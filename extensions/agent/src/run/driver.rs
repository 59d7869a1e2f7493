//! Drives a run: carries out each due action, and records each step before the step takes effect.
//!
//! ```text
//!   ask ──▶ commit: the model's answer ──▶ calls ──▶ commit: their answers ──▶ ask …
//!                                            │ some calls wait in the journal
//!                                            └─────▶ commit: the answers so far
//! ```

use std::pin::pin;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use toolwright::{Answer, CancellationToken, error_kind};
use tracing::Instrument as _;

use super::asking::AskOutcome;
use super::recorder::{Away, Interruption, Recorder, Stop, TurnOutcome, Work, submit_calls};
use super::refused::{refused, words};
use super::resting::in_background;
use super::{AgentRun, Stopped, unapproved};
use crate::events::{NoticeKind, RunEnd, spans};
use crate::limits::TotalUsage;
use crate::limits::share::SpentShare;
use crate::model::ModelError;
use crate::run::{Action, State, StepInput, Turn, step};

/// A run that this process drives, and its recorder.
pub(crate) struct Driver<'r, R> {
    pub run: &'r mut AgentRun,
    pub recorder: &'r mut R,
}

/// How a driver's work on a run ended: the run has ended, or it waits.
pub(crate) enum Rest<W> {
    Ended(RunEnd),
    Waiting(W),
}

impl<R: Recorder> Driver<'_, R> {
    /// Drives the run until it ends, waits or cannot continue in this process.
    pub(crate) async fn drive(mut self) -> Result<Rest<R::Waiting>, R::Error> {
        let span = spans::invoke_agent(&self.run.agent.0.name, self.run.id());
        let driven = self.steps().instrument(span.clone()).await;
        match &driven {
            Ok(Rest::Ended(ended)) => spans::ended(&span, ended),
            Ok(Rest::Waiting(_)) => {}
            Err(error) => {
                spans::error_of(&span, R::kind(error));
                self.run.observer.stopped(error);
                self.recorder.release(error).await;
            }
        }
        driven
    }

    async fn steps(&mut self) -> Result<Rest<R::Waiting>, R::Error> {
        self.recorder.begin().await;
        loop {
            let Some(due) = self.run.state.due() else {
                let ended = self.run.state.ended().cloned();
                return ended.map(Rest::Ended).ok_or_else(|| Stopped::NothingSaid.into());
            };
            if let Some(left) = self.recorder.left() {
                return Err(left);
            }
            match due {
                Action::Call(turn) => {
                    if let Some(waiting) = self.boxed_call(&turn).await? {
                        return Ok(Rest::Waiting(waiting));
                    }
                }
                Action::Check { .. } => {
                    let (state, actions) = self.run.checked(self.run.state.clone(), Vec::new())?;
                    let (state, actions) = self.guard_end(state, actions).await;
                    let (state, actions) = self.goes_on(state, actions).await?;
                    self.commit(state, actions, None).await?;
                }
                Action::Await => {
                    if let Some(waiting) = self.boxed_rest().await? {
                        return Ok(Rest::Waiting(waiting));
                    }
                }
                _ => self.boxed_ask().await?,
            }
        }
    }

    // A call of a run may drive another run, so that drivers nest. Each large future is boxed in a function of its own,
    // so that nested drivers do not exhaust the stack.

    fn boxed_call<'s>(
        &'s mut self,
        turn: &'s Turn,
    ) -> BoxFuture<'s, Result<Option<R::Waiting>, R::Error>> {
        self.call(turn).boxed()
    }

    fn boxed_rest(&mut self) -> BoxFuture<'_, Result<Option<R::Waiting>, R::Error>> {
        self.rest().boxed()
    }

    fn boxed_ask(&mut self) -> BoxFuture<'_, Result<(), R::Error>> {
        self.ask().boxed()
    }

    /// Asks the model; returns its answer, or the interruption that happened first. If the agent has a summarizer and
    /// the request would leave out turns that no summary covers, first makes and records a summary of these turns.
    async fn answer(&mut self) -> Result<Result<StepInput, Interruption<R::Error>>, R::Error> {
        loop {
            let time = self.recorder.time_left();
            let asked = tokio::select! {
                biased;
                asked = self.run.ask_model(time, R::BEGINS_READS) => asked?,
                interrupted = self.recorder.wait_for_interruption(Work::Asking) => return Ok(Err(interrupted)),
            };
            let task = match asked {
                AskOutcome::Answer(answer) => return Ok(Ok(answer)),
                AskOutcome::Summary(task) => task,
            };
            let summary = tokio::select! {
                biased;
                summary = self.run.summarize(task) => summary,
                interrupted = self.recorder.wait_for_interruption(Work::Asking) => return Ok(Err(interrupted)),
            };
            if let Some(summary) = summary {
                self.recorder.record_summary(&self.run.state, &summary).await?;
                self.run.summaries.made.push(summary);
            }
            if let Some(overspent) = self.run.state.overspent() {
                return Ok(Ok(overspent));
            }
        }
    }

    /// Asks the model, and takes the step that follows from the answer.
    async fn ask(&mut self) -> Result<(), R::Error> {
        let replayed = self.recorder.replay_next();
        let is_replayed = replayed.is_some();
        let stop = match &replayed {
            Some(_) => None,
            None => {
                self.take_messages().await?;
                if self.run.state.ended().is_some() {
                    // A guard has stopped one of the messages, and thereby the run.
                    return Ok(());
                }
                self.recorder.stop().await?
            }
        };
        // The requests that were aborted since the last step may have reached a limit of the run.
        self.run.count_given_up();
        let asked = match (replayed, stop, self.run.state.overspent()) {
            (Some(replayed), ..) => Ok(replayed),
            (None, Some(stop), _) => Err(Interruption::Stop(stop)),
            (None, None, Some(overspent)) => Ok(overspent),
            (None, None, None) => self.answer().await?,
        };
        if asked.is_err() {
            self.run.count_given_up();
        }
        let (event, stop) = match asked {
            Ok(event) => (event, None),
            Err(Interruption::Stop(stop)) => (stop.event(), Some(stop)),
            Err(Interruption::Leave(error)) => {
                let state = self.run.state.clone();
                self.commit(state, Vec::new(), None).await?;
                return Err(error);
            }
            Err(Interruption::Lost(error)) => return Err(error),
            // The driver now asks the model again, with the new message, unless the aborted request reached a limit.
            Err(Interruption::Said) => return Ok(()),
        };
        let event = match event {
            StepInput::Failed(error) if error.is_outage() => match self.away(error).await? {
                Some(error) => StepInput::Failed(error),
                None => return Ok(()),
            },
            event => event,
        };
        if let StepInput::Answered(answer) | StepInput::Guarded { answer: Some(answer), .. } =
            &event
        {
            self.recorder.note(answer, &self.run.left_out, is_replayed);
        }
        let (state, actions) = step(&self.run.state, event);
        if !actions.iter().any(|action| matches!(action, Action::Call(_))) {
            // The answer has no calls to run. Dropping `begun` cancels the calls that began early.
            self.run.begun = None;
        }
        // The steps that follow from an answer are committed together with the answer.
        let (state, actions) = self.run.checked(state, actions)?;
        let (state, actions) = self.guard_end(state, actions).await;
        let (state, actions) = self.goes_on(state, actions).await?;
        self.let_through(state.turn());
        self.commit(state, actions, stop).await
    }

    /// Handles an unavailable model. Normally fails with the error with which the driver leaves the run until the model
    /// is asked again. Returns `None` if the run has ended or was stopped for another reason. Returns the model's error
    /// if the outage has lasted too long, so that this error has to end the run.
    async fn away(&mut self, error: ModelError) -> Result<Option<ModelError>, R::Error> {
        let (state, actions) = step(&self.run.state, StepInput::Unreachable(error.spent()));
        // An error of the journal is ignored: the recorder holds the usage of the requests until it can write the
        // journal.
        let is_stopped = matches!(self.recorder.stop().await, Ok(Some(_)));
        if state.ended().is_some() || is_stopped {
            self.commit(state, actions, None).await?;
            return Ok(None);
        }
        match self.recorder.away(&state, error).await? {
            Away::Left(error) => {
                self.run.take(state, Vec::new());
                Err(error)
            }
            Away::TooLong(error) => Ok(Some(error)),
        }
    }

    /// Runs the calls of a turn with the tools that were offered to the model. If some calls wait, returns the calls
    /// for which the run waits.
    async fn call(&mut self, turn: &Turn) -> Result<Option<R::Waiting>, R::Error> {
        let called = &turn.calls[..turn.run];
        self.run.notify(NoticeKind::Calling { calls: called });
        let mut stop = self.recorder.stop().await?;
        if stop.is_none() {
            self.run.prepare_again().await?;
        }
        let run = self.run.calling_run();
        let (resolved, refused) = self.run.resolved(called, &run.catalog());
        let unlisted = self.run.unlisted(called, &run.catalog(), R::KNOWS_CALLS);
        let not_handed_off = self.run.not_handed_off(turn, &run.catalog());
        let refused = with(not_handed_off, with(unlisted, refused));
        let none_refused = refused.iter().all(Option::is_none);
        let mut begun = self.run.begun.take().filter(|begun| begun.number == turn.number);
        if !none_refused && let Some(begun) = begun.take() {
            // A turn that began early cannot take answers that are known already, so its calls are cancelled and made
            // again.
            begun.stop.cancel();
        }
        let token = match &begun {
            Some(begun) => Some(begun.stop.clone()),
            None => self.recorder.may_stop().then(CancellationToken::new),
        };
        let calls = self.run.calls_of(&resolved, token.as_ref());
        let maker = self.recorder.maker();
        let mut known = with(self.recorder.known(), refused);
        self.recorder.delegates(&self.run.state);
        let mut place = None;
        if stop.is_none() {
            match self.recorder.place().await {
                Ok(free) => place = free,
                Err(Interruption::Stop(why)) => stop = Some(why),
                Err(Interruption::Leave(error) | Interruption::Lost(error)) => return Err(error),
                Err(Interruption::Said) => {}
            }
        }
        let mut answers = None;
        if stop.is_none() {
            let known_now = std::mem::take(&mut known);
            let mut work =
                pin!(submit_calls::<R>(&maker, &run, turn.number, &calls, begun, known_now));
            let outcomes = tokio::select! {
                biased;
                outcomes = &mut work => outcomes,
                interrupted = self.recorder.wait_for_interruption(Work::Calling) => match interrupted {
                    Interruption::Stop(why) => {
                        stop = Some(why);
                        cancel(token.as_ref());
                        self.hold(work).await?
                    }
                    // The calls have leases of their own. Dropping them would leave their outcome unknown.
                    Interruption::Leave(error) | Interruption::Lost(error) => {
                        let _ = work.await;
                        return Err(error);
                    }
                    // A new message does not interrupt calls.
                    Interruption::Said => work.await,
                },
            };
            if stop.is_none() && self.recorder.is_cancelled() {
                stop = Some(Stop::Cancelled);
            }
            match outcomes.map_err(Stopped::from)? {
                TurnOutcome::Answered(answered) => answers = Some(answered),
                TurnOutcome::Open(open) if stop.is_none() => {
                    let (waiting, calls) = self.recorder.wait(turn, open).await?;
                    self.run.observer.waits(turn.number, &calls);
                    return Ok(Some(waiting));
                }
                TurnOutcome::Open(open) => known = R::answers_of(open),
            }
        }
        let answers = match answers {
            Some(answers) => answers,
            // Calls that have not begun are answered without being run.
            None => {
                cancel(token.as_ref());
                let given_up = Box::pin(R::give_up(&maker, &run, turn.number, &calls, known));
                let given_up = self.hold(given_up).await?;
                given_up.map_err(Stopped::from)?
            }
        };
        if stop.is_none()
            && answers.answers().iter().any(is_turned_away)
            && let Some(left) = self.recorder.left()
        {
            return Err(left);
        }
        let agent = &self.run.agent.0;
        unapproved::report(&agent.executor, &agent.said_unapproved, answers.answers());
        let terminal = answers.terminal_call();
        let SpentShare { usage: spent, turns } =
            self.recorder.sum_delegated(&self.run.state).await?;
        let is_spent = turns > 0 || spent != TotalUsage::default();
        let delegated = is_spent.then_some(StepInput::Delegated { spent, turns });
        let before = stop.map(Stop::event).into_iter().chain(delegated);
        let before = before.fold(self.run.state.clone(), |state, input| step(&state, input).0);
        let before = in_background(before, &answers);
        let called = StepInput::Called { answers: answers.into_answers(), terminal };
        let (state, actions) = step(&before, called);
        let (state, actions) = self.without_refused(state, actions);
        let (state, actions) = self.guard_end(state, actions).await;
        let (state, actions) = self.goes_on(state, actions).await?;
        self.commit(state, actions, stop).await?;
        self.run.hand_over(turn)?;
        self.recorder.note_answers(&self.run.history, &self.run.state).await;
        // This frees the run's place, so that another run may run its calls while this run asks its model.
        drop(place);
        Ok(None)
    }

    /// Tells the model which tools are left out from here on, because their calls were refused repeatedly.
    fn without_refused(&self, mut state: State, mut actions: Vec<Action>) -> (State, Vec<Action>) {
        if !matches!(state.due(), Some(Action::Ask)) {
            return (state, actions);
        }
        let before = refused(&self.run.history);
        let appended = actions.iter().filter_map(|action| match action {
            Action::Append(message) => Some(message),
            _ => None,
        });
        let now = refused(self.run.history.iter().chain(appended));
        for tool in now.iter().filter(|it| !before.contains(it)) {
            let (text, attachments) = (words(tool), Arc::default());
            let (next, more) = step(&state, StepInput::Interjected { text, attachments });
            state = next;
            actions.extend(more);
        }
        (state, actions)
    }

    /// Waits for work that has to be finished even while the run ends.
    async fn hold<T: Send>(&mut self, work: impl Future<Output = T> + Send) -> Result<T, R::Error> {
        match self.recorder.hold(work).await {
            (done, None) => Ok(done),
            (_, Some(lost)) => Err(lost),
        }
    }

    /// Records a step, and then takes it.
    pub(crate) async fn commit(
        &mut self,
        state: State,
        actions: Vec<Action>,
        stop: Option<Stop>,
    ) -> Result<(), R::Error> {
        self.record_guards();
        self.record(&state, &actions, stop).await?;
        let had_ended = self.run.state.ended().is_some();
        self.run.take(state, actions);
        if !had_ended {
            self.recall_background().await;
        }
        Ok(())
    }
}

/// Merges the known answers of a turn with the answers to calls that are refused before they run.
fn with(mut known: Vec<Option<Answer>>, refused: Vec<Option<Answer>>) -> Vec<Option<Answer>> {
    if known.len() < refused.len() {
        known.resize_with(refused.len(), || None);
    }
    for (known, refused) in known.iter_mut().zip(refused) {
        *known = known.take().or(refused);
    }
    known
}

fn cancel(token: Option<&CancellationToken>) {
    if let Some(token) = token {
        token.cancel();
    }
}

/// Returns whether an answer says that the executor refused the call because the executor shuts down.
pub(crate) fn is_turned_away(answer: &Answer) -> bool {
    answer.error().is_some_and(|error| error.kind() == error_kind::SHUTTING_DOWN)
}
