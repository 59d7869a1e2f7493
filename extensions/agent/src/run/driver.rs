//! Drives a run: carries out what is due, and records each step before it counts.
//!
//! ```text
//!   ask ──▶ commit: the model's answer ──▶ calls ──▶ commit: their answers ──▶ ask …
//!                                            │ some wait (where a journal has them)
//!                                            └─────▶ commit: the answers so far
//! ```

use std::pin::pin;

use toolwright::{Answer, CancellationToken, error_kind};
use tracing::Instrument as _;

use super::recorder::{Away, Interruption, Recorder, Stop, Submitted, Work, submitted};
use super::{AgentRun, Stopped, unapproved};
use crate::events::{NoticeKind, RunEnd, spans};
use crate::model::ModelError;
use crate::run::{Action, State, StepInput, Turn, step};

/// A run that is driven here, and what records it.
pub(crate) struct Driver<'r, R> {
    pub run: &'r mut AgentRun,
    pub recorder: &'r mut R,
}

/// How far a run came.
pub(crate) enum Rest<W> {
    Ended(RunEnd),
    Waiting(W),
}

impl<R: Recorder> Driver<'_, R> {
    /// Drives the run until it ends, waits or cannot go on here.
    pub(crate) async fn drive(mut self) -> Result<Rest<R::Waiting>, R::Error> {
        let span = spans::invoke_agent(self.run.id());
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
                    if let Some(waiting) = self.call(&turn).await? {
                        return Ok(Rest::Waiting(waiting));
                    }
                }
                Action::Check { .. } => {
                    let (state, actions) = self.run.checked(self.run.state.clone(), Vec::new())?;
                    self.commit(state, actions, None).await?;
                }
                _ => self.ask().await?,
            }
        }
    }

    /// Asks the model, and takes its answer.
    async fn ask(&mut self) -> Result<(), R::Error> {
        let stop = self.recorder.stop().await?;
        let asked = match stop {
            Some(stop) => Err(Interruption::Stop(stop)),
            None => {
                let time = self.recorder.time_left();
                tokio::select! {
                    biased;
                    asked = self.run.asked(time, R::BEGINS_READS) => Ok(asked?),
                    interrupted = self.recorder.interrupted(Work::Asking) => Err(interrupted),
                }
            }
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
        };
        let event = match event {
            StepInput::Failed(error) if error.is_outage() => match self.away(error).await? {
                Some(error) => StepInput::Failed(error),
                None => return Ok(()),
            },
            event => event,
        };
        if let StepInput::Answered(answer) = &event {
            self.recorder.note(answer);
        }
        let (state, actions) = step(&self.run.state, event);
        if !actions.iter().any(|action| matches!(action, Action::Call(_))) {
            // What began for calls that are not made is cancelled.
            self.run.begun = None;
        }
        // In one commit with the answer.
        let (state, actions) = self.run.checked(state, actions)?;
        self.commit(state, actions, stop).await
    }

    /// The model is away: leaves the run until it is asked again, unless something ends the run; the error where that is the model.
    async fn away(&mut self, error: ModelError) -> Result<Option<ModelError>, R::Error> {
        let (state, actions) = step(&self.run.state, StepInput::Unreachable(error.spent()));
        if state.ended().is_some() || self.recorder.stop().await?.is_some() {
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

    /// Runs the calls of a turn on the tools that the model was shown: what they wait for, if they do.
    async fn call(&mut self, turn: &Turn) -> Result<Option<R::Waiting>, R::Error> {
        let called = &turn.calls[..turn.run];
        self.run.notify(NoticeKind::Calling { calls: called });
        let begun = self.run.begun.take().filter(|begun| begun.number == turn.number);
        let mut stop = self.recorder.stop().await?;
        if stop.is_none() {
            self.run.prepare_again().await?;
        }
        let token = match &begun {
            Some(begun) => Some(begun.stop.clone()),
            None => self.recorder.may_stop().then(CancellationToken::new),
        };
        let calls = self.run.calls_of(called, token.as_ref());
        let run = self.run.shown_run().clone();
        let mut known = self.recorder.known();
        let mut answers = None;
        if stop.is_none() {
            let known_now = std::mem::take(&mut known);
            let mut work = pin!(submitted::<R>(&run, turn.number, &calls, begun, known_now));
            let outcomes = tokio::select! {
                biased;
                outcomes = &mut work => outcomes,
                interrupted = self.recorder.interrupted(Work::Calling) => match interrupted {
                    Interruption::Stop(why) => {
                        stop = Some(why);
                        cancel(token.as_ref());
                        self.held(work).await?
                    }
                    // The calls have leases of their own. To drop them would leave their outcome unknown.
                    Interruption::Leave(error) | Interruption::Lost(error) => {
                        let _ = work.await;
                        return Err(error);
                    }
                },
            };
            if stop.is_none() && self.recorder.is_cancelled() {
                stop = Some(Stop::Cancelled);
            }
            match outcomes.map_err(Stopped::from)? {
                Submitted::Answered(answered) => answers = Some(answered),
                Submitted::Open(open) if stop.is_none() => {
                    let (waiting, calls) = self.recorder.wait(turn, open).await?;
                    self.run.observer.waits(turn.number, &calls);
                    return Ok(Some(waiting));
                }
                Submitted::Open(open) => known = R::answers_of(open),
            }
        }
        let answers = match answers {
            Some(answers) => answers,
            // What has not begun never does.
            None => {
                cancel(token.as_ref());
                let given_up = Box::pin(run.turn_again(turn.number, &calls, known));
                let given_up = self.held(given_up).await?;
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
        let stopped = stop.map(|stop| step(&self.run.state, stop.event()).0);
        let called = StepInput::Called { answers: answers.into_answers(), terminal };
        let (state, actions) = step(stopped.as_ref().unwrap_or(&self.run.state), called);
        self.commit(state, actions, stop).await?;
        self.recorder.answered(&self.run.history, &self.run.state).await;
        Ok(None)
    }

    /// Completes when the work is done that has to end.
    async fn held<T: Send>(&mut self, work: impl Future<Output = T> + Send) -> Result<T, R::Error> {
        match self.recorder.hold(work).await {
            (done, None) => Ok(done),
            (_, Some(lost)) => Err(lost),
        }
    }

    /// Takes a step, once it is recorded.
    pub(crate) async fn commit(
        &mut self,
        state: State,
        actions: Vec<Action>,
        stop: Option<Stop>,
    ) -> Result<(), R::Error> {
        self.record(&state, &actions, stop).await?;
        self.run.take(state, actions);
        Ok(())
    }
}

fn cancel(token: Option<&CancellationToken>) {
    if let Some(token) = token {
        token.cancel();
    }
}

/// Whether a call was not taken, because the executor takes no more.
pub(crate) fn is_turned_away(answer: &Answer) -> bool {
    answer.error().is_some_and(|error| error.kind() == error_kind::SHUTTING_DOWN)
}
