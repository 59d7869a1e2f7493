//! Calls of a turn that continue in the background. When such a call is handed over, the model receives an answer that
//! says that the call is running.

use jiff::Timestamp;

use super::answers::TurnAnswers;
use super::{Early, Run, TurnWait};
use crate::call::{CallFailure, Outcome};
use crate::lifecycle::Lifecycle;
use crate::stage;
use toolwright_core::call::Call;
use toolwright_core::context::CallId;
use toolwright_core::output::{Answer, Output};
use toolwright_journal::journal::State;

/// A call of a turn that continues in the background; its caller fetches the result later.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundCall {
    /// The index of the call in the turn.
    pub index: u32,
    /// The id of the call in the journal.
    pub call: CallId,
    /// The tool's name.
    pub tool: String,
}

impl Run {
    /// Answers the calls of a turn as [`turn_again`](Self::turn_again) does, but does not wait for calls of tools
    /// that continue in the background. The answer of such a call says that the call is running, and
    /// [`TurnAnswers::in_background`] lists it.
    #[doc(hidden)]
    pub async fn turn_in_background(
        &self,
        turn: u64,
        calls: &[Call<'_>],
        known: Vec<Option<Answer>>,
    ) -> Result<TurnAnswers, CallFailure> {
        let calls: Vec<&Call<'_>> = calls.iter().collect();
        self.answer_turn(turn, &calls, Early::answered(known), TurnWait::HandOvers).await
    }

    /// Returns the result of a call that ran in the background, and the time at which the result came; `None` while
    /// the call is running.
    #[doc(hidden)]
    pub async fn background_result(
        &self,
        call: CallId,
    ) -> Result<Option<(Answer, Timestamp)>, CallFailure> {
        match Lifecycle::of(&self.state) {
            Some(lifecycle) => lifecycle.answered_at(call).await,
            None => Err(CallFailure::NoSuchCall(call)),
        }
    }

    /// Makes the answers of a turn from the outcomes of its calls. A call that is still suspended is one that
    /// continues in the background.
    pub(super) async fn answers_of(
        &self,
        lifecycle: Lifecycle<'_>,
        turn: u64,
        calls: &[&Call<'_>],
        outcomes: Vec<Outcome>,
    ) -> Result<TurnAnswers, CallFailure> {
        let (mut answers, mut background) = (Vec::with_capacity(outcomes.len()), Vec::new());
        for ((index, outcome), call) in (0..).zip(outcomes).zip(calls) {
            answers.push(match outcome {
                Outcome::Answered(answer) => answer,
                Outcome::Failed(failure) => return Err(failure),
                Outcome::Suspended(waits) => {
                    let tool = call.name().to_owned();
                    let answer = under_way(waits.call, &tool);
                    background.push(BackgroundCall { index, call: waits.call, tool });
                    answer
                }
            });
        }
        let terminal = self.first_terminal(lifecycle, turn, calls, &answers).await?;
        Ok(TurnAnswers::new(answers, terminal).with_background(background))
    }

    /// Returns the answer that the model reads for a call that was handed over and continues in the background;
    /// `None` for any other call.
    pub(super) fn under_way(&self, outcome: &Outcome, call: &Call<'_>) -> Option<Answer> {
        let waits = outcome.suspended().filter(|it| it.state == State::HandedOver)?;
        let goes_on = self.is_background(call) && !stage::is_given_up(&self.state, call);
        goes_on.then(|| under_way(waits.call, call.name()))
    }

    /// Returns whether the tool of a call continues in the background after the turn.
    pub(super) fn is_background(&self, call: &Call<'_>) -> bool {
        let found = stage::find(&self.state, call.name());
        found.is_ok_and(|found| found.definition().is_background)
    }
}

/// Reports whether an answer only says that this call is running in the background.
#[doc(hidden)]
#[must_use]
pub fn is_under_way(answer: &Answer, call: CallId) -> bool {
    answer.text().contains(&format!(" is under way as call {call}."))
}

fn under_way(call: CallId, tool: &str) -> Answer {
    Output::text(format!(
        "`{tool}` is under way as call {call}. Its result comes as a message. Go on with what does not need it, and do not make the call again."
    ))
    .into()
}
