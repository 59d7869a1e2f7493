//! Takes the results of calls that continue in the background. A run that is done rests while it waits for them.

use futures::future::select_all;
use toolwright::{CallFailure, Outcome, Run, TurnAnswers};

use super::background::{BackgroundCall, unknown};
use super::driver::Driver;
use super::recorder::Recorder;
use super::{Action, State, StepInput, Stopped, step};

impl<R: Recorder> Driver<'_, R> {
    /// Waits until something happens to a run that is done. If no process has to wait, returns what the run waits for.
    pub(super) async fn rest(&mut self) -> Result<Option<R::Waiting>, R::Error> {
        if let Some(stop) = self.recorder.stop().await? {
            let (state, actions) = step(&self.run.state, stop.event());
            self.commit(state, actions, Some(stop)).await?;
            return Ok(None);
        }
        let (state, actions) = self.goes_on(self.run.state.clone(), Vec::new()).await?;
        if !actions.is_empty() {
            self.commit(state, actions, None).await?;
            return Ok(None);
        }
        let waiting = self.recorder.rest(&self.run.run, &self.run.state).await?;
        if waiting.is_some() {
            let calls: Vec<_> = state.background().iter().map(BackgroundCall::as_call).collect();
            self.run.observer.waits(state.turn(), &calls);
        }
        Ok(waiting)
    }

    /// Takes the results of calls in the background that have arrived, in the order of their arrival.
    pub(super) async fn take_background(
        &mut self,
        mut state: State,
        mut actions: Vec<Action>,
    ) -> Result<(State, Vec<Action>), R::Error> {
        let mut came = Vec::new();
        for call in state.background() {
            match self.run.run.background_result(call.call).await {
                Ok(None) => {}
                Ok(Some((answer, at))) => came.push((Some(at), call.clone(), answer)),
                Err(CallFailure::NoSuchCall(_)) => {
                    came.push((None, call.clone(), unknown(call).into()));
                }
                Err(failure) => return Err(Stopped::from(failure).into()),
            }
        }
        came.sort_by_key(|(at, ..)| *at);
        for (_, call, answer) in came {
            let most = self.run.agent.0.answer_budget.of(&call.tool);
            let text = call.words(&answer, most);
            let untrusted = answer.untrusted_sources();
            let (next, more) =
                step(&state, StepInput::BackgroundAnswered { call, text, untrusted });
            state = next;
            actions.extend(more);
        }
        Ok((state, actions))
    }

    /// Cancels the calls in the background of a run that has ended without an answer, so that the processes that carry
    /// them out stop.
    pub(super) async fn recall_background(&mut self) {
        let is_over = self.run.state.ended().is_some_and(|end| !end.is_answer());
        let calls = self.run.state.background().to_vec();
        let Some(worker) = self.run.run.worker().filter(|_| is_over) else { return };
        for call in calls {
            if let Some(failure) = worker.cancel(call.call).await.failure() {
                let call = call.call;
                tracing::warn!(%call, %failure, "a call in the background was not cancelled");
            }
        }
    }
}

/// Makes a run that is done rest instead of ending, while calls continue in the background.
pub(super) fn rest_for_background(state: State, mut actions: Vec<Action>) -> (State, Vec<Action>) {
    if state.background().is_empty() {
        return (state, actions);
    }
    let (state, more) = match state.ended() {
        Some(_) => step(&state, StepInput::Rests),
        None => (state, Vec::new()),
    };
    actions.retain(|action| !matches!(action, Action::End(_)));
    actions.extend(more);
    (state, actions)
}

/// Returns the state after some calls of the open turn went on in the background.
pub(super) fn in_background(state: State, answers: &TurnAnswers) -> State {
    let calls: Vec<_> = answers.in_background().iter().map(BackgroundCall::of).collect();
    match calls.is_empty() {
        true => state,
        false => step(&state, StepInput::InBackground(calls)).0,
    }
}

/// Completes when one of these calls has a result.
pub(super) async fn await_result(run: &Run, calls: &[BackgroundCall]) -> Result<(), Stopped> {
    let Some(worker) = run.worker().filter(|_| !calls.is_empty()) else { return Ok(()) };
    let waits = calls.iter().map(|call| Box::pin(worker.wait(call.call)));
    let (outcome, at, _) = select_all(waits).await;
    match (outcome, calls.get(at)) {
        (Outcome::Suspended(waits), Some(call)) => {
            let (tool, state) = (call.tool.clone(), waits.state);
            Err(CallFailure::ShuttingDown { call: call.call, tool, state }.into())
        }
        // The next read of the journal shows what has become of the call.
        (Outcome::Failed(CallFailure::NoSuchCall(_)), _) => Ok(()),
        (Outcome::Failed(failure), _) => Err(failure.into()),
        _ => Ok(()),
    }
}
