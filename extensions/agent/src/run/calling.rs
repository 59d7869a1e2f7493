//! Runs the calls of a turn.

use std::pin::pin;

use tokio::time::Instant;
use toolwright::provider::ToolCall;
use toolwright::{Call, CallFailure, CancellationToken, Run, TurnAnswers};

use super::early::Begun;
use super::until::until;
use super::{AgentRun, Stopped};
use crate::{Action, Event, Message, NoticeKind, Turn};

impl AgentRun {
    /// Runs the calls of a turn on the tools that the model was shown, and takes their answers.
    pub(super) async fn call(
        &mut self,
        turn: &Turn,
        deadline: Option<Instant>,
    ) -> Result<Vec<Action>, Stopped> {
        let called = &turn.calls[..turn.run];
        self.notify(NoticeKind::Calling { calls: called });
        // Only the time has to cancel single calls: the run's own cancellation reaches all of them.
        let begun = self.begun.take().filter(|begun| begun.number == turn.number);
        let stop = deadline.map(|_| match &begun {
            Some(Begun { stop: Some(stop), .. }) => stop.clone(),
            _ => CancellationToken::new(),
        });
        let calls = self.calls_of(called, stop.as_ref());
        let run = self.shown.as_ref().map_or(&self.run, |shown| &shown.run);
        let (answered, is_late) = answers(run, turn.number, &calls, begun, stop, deadline).await;
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
    pub(super) fn calls_of<'c>(
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
}

/// The answers of a turn, and whether its time was up.
async fn answers(
    run: &Run,
    number: u64,
    calls: &[Call<'_>],
    begun: Option<Begun>,
    stop: Option<CancellationToken>,
    deadline: Option<Instant>,
) -> (Result<TurnAnswers, CallFailure>, bool) {
    let mut turn = pin!(async {
        match begun {
            Some(begun) => begun.turn.finish_as(calls).await,
            None => run.turn(number, calls).await,
        }
    });
    let Some(stop) = stop else { return (turn.await, false) };
    tokio::select! {
        biased;
        answers = &mut turn => return (answers, false),
        () = until(deadline) => {}
    }
    stop.cancel();
    (turn.await, true)
}
