//! A call of a turn that waits until it has its answer. Unlike a call outside of turns it is known when it is made
//! again, so an executor that shuts down leaves it in the journal.

use super::super::outcome::{CallFailure, Outcome};
use super::{JournaledCall, indeterminate, not_recorded};
use crate::stage;
use toolwright_core::call::Call;
use toolwright_core::output::Answer;
use toolwright_journal::journal::{CallSlot, State};

impl JournaledCall<'_> {
    /// The answer of a call that was submitted with this outcome.
    ///
    /// # Errors
    /// When the host has to act before there is an answer.
    pub(crate) async fn await_answer(
        self,
        mut outcome: Outcome,
        call: &Call<'_>,
    ) -> Result<Answer, CallFailure> {
        loop {
            let waits = match outcome {
                Outcome::Answered(answer) => return Ok(answer),
                Outcome::Failed(failure) => return Err(failure),
                Outcome::Suspended(waits) => waits,
            };
            if waits.state == State::Indeterminate {
                return Ok(indeterminate(call.name(), waits.call).into());
            }
            if stage::is_given_up(self.run, call) {
                let error = stage::cancelled(call.name());
                return Ok(self.end_with(waits.call, error, "given up by its caller").await);
            }
            if self.is_closed() {
                let (call, tool, state) = (waits.call, call.name().to_owned(), waits.state);
                return Err(CallFailure::ShuttingDown { call, tool, state });
            }
            outcome = Box::pin(self.wait(waits.call, Some(call))).await;
        }
    }

    /// Whether the call at this place was put into a plan: its answer says so, and is no result of its tool.
    pub(crate) async fn is_planned(
        self,
        place: &CallSlot,
        call: &Call<'_>,
    ) -> Result<bool, CallFailure> {
        match self.journal.store.at(place).await {
            // Accepted later, it runs after its answer.
            Ok(record) => {
                Ok(record.is_some_and(|it| it.state == State::Planned || it.accepted.is_some()))
            }
            Err(error) => Err(not_recorded(call.name(), error.into())),
        }
    }
}
