//! Calls of a turn that go on in the background: answered that they are under way as soon as they are handed over.

use jiff::Timestamp;

use super::{Early, Run, TurnAnswers, TurnWait};
use crate::executor::outcome::{CallFailure, Outcome};
use crate::lifecycle::Lifecycle;
use crate::stage;
use toolwright_core::call::Call;
use toolwright_core::context::CallId;
use toolwright_core::output::{Answer, Output};
use toolwright_journal::journal::State;

/// A call of a turn that goes on in the background; its caller takes the result later.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundCall {
    /// The index of the call in the turn.
    pub index: u32,
    /// The call, as the journal knows it.
    pub call: CallId,
    /// The tool's name.
    pub tool: String,
}

impl Run {
    /// Answers the calls of a turn as [`turn_again`](Self::turn_again) does, but for those whose tools go on in the background: they
    /// are answered that they are under way, and [`TurnAnswers::in_background`] names them.
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

    /// Returns the answer of a call that went on in the background, and when it came; nothing while it goes on.
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

    /// The answers of a turn of whose calls each is answered, or goes on in the background.
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

    /// What the model reads of a call that was handed over and goes on in the background; nothing of any other.
    pub(super) fn under_way(&self, outcome: &Outcome, call: &Call<'_>) -> Option<Answer> {
        let waits = outcome.suspended().filter(|it| it.state == State::HandedOver)?;
        let goes_on = self.is_background(call) && !stage::is_given_up(&self.state, call);
        goes_on.then(|| under_way(waits.call, call.name()))
    }

    /// Whether the tool of a call goes on in the background.
    pub(super) fn is_background(&self, call: &Call<'_>) -> bool {
        let found = stage::find(&self.state, call.name());
        found.is_ok_and(|found| found.definition().is_background)
    }
}

/// Reports whether an answer says of this call that it is under way.
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
