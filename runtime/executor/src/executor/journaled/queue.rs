//! A call that changes something is put into the plan of its run, and its model told so. It runs when a person accepts
//! it, and is evaluated again then.

use std::collections::HashMap;

use jiff::Timestamp;

use super::super::Plan;
use super::super::outcome::CallFailure;
use super::JournaledCall;
use super::submit::Evaluated;
use toolwright_core::call::Call;
use toolwright_core::context::CallId;
use toolwright_journal::approval::{Decision, Subject};
use toolwright_journal::journal::{Answered, Ask, CallRecord, Entry, Filter, State, Transition};

/// Why a call is in a plan, where its caller does not say.
pub(super) const PLANNED: &str = "what changes something is planned first";

/// Where calls stand that were accepted and have not ended.
const UNDER_WAY: [State; 5] =
    [State::Judging, State::Pending, State::Ready, State::Running, State::Indeterminate];

/// Whose turn it is in each plan, by run.
#[derive(Default)]
pub(super) struct Turns(HashMap<String, Option<CallId>>);

impl JournaledCall<'_> {
    /// Moves a call to `planned`, with all that a person needs to decide about the plan.
    pub(super) async fn queue(
        self,
        record: &mut CallRecord,
        plan: &Plan,
        call: &Call<'_>,
        evaluated: &Evaluated,
    ) -> Result<Entry, CallFailure> {
        let reason = call.reason().unwrap_or(PLANNED).to_owned();
        let preview = self.preview(record, plan, call, evaluated).await;
        let entry = self.step(record, Transition::Planned, Some(reason.clone()))?;
        record.decision = None;
        // Nobody is told of it before the plan is shown, and it does not expire.
        record.ask = Some(Ask { reason, preview, deadline: Timestamp::MAX, told: true });
        if record.answer.is_none() {
            record.answer = Some(queued(&record.tool));
        }
        Ok(entry)
    }

    /// Whether nothing of its plan comes first: what was accepted of one plan runs one after the other, in the order in
    /// which it was made.
    pub(super) async fn is_its_turn(
        self,
        record: &CallRecord,
        turns: &mut Turns,
    ) -> Result<bool, CallFailure> {
        if record.accepted.is_none() {
            return Ok(true);
        }
        let run = &record.place.run;
        if !turns.0.contains_key(run) {
            let filter =
                Filter { states: UNDER_WAY.to_vec(), run: Some(run.clone()), ..Filter::default() };
            let first = self.all(&filter).await?.into_iter().find(|it| it.accepted.is_some());
            turns.0.insert(run.clone(), first.map(|first| first.id));
        }
        Ok(turns.0.get(run) == Some(&Some(record.id)))
    }

    /// Whether a person whose key counts accepted the plan with exactly this call in it.
    pub(super) fn is_accepted(self, record: &CallRecord) -> bool {
        let Some(signed) = &record.accepted else { return false };
        let statement = match self.journal.trusted.verify(signed) {
            Ok(verified) => verified.into_statement(),
            Err(unverified) => {
                tracing::warn!(call = %record.id, %unverified, "that a plan was accepted does not count");
                return false;
            }
        };
        statement.verdict == Decision::Accept
            && matches!(
                &statement.about,
                Subject::Call { id, digest, .. } if *id == record.id && *digest == record.digest
            )
    }
}

/// What its model reads.
fn queued(tool: &str) -> Answered {
    Answered::text(format!(
        "`{tool}` was put into the plan, and has not run. A person decides about the plan. Do not make this call again; go on with the plan, or say that it is complete."
    ))
}
