//! The work that a sweep finds: a call may run, an approver has to be notified, or a tool can find out what happened.
//! Work that fails is tried again after a pause. The accepted calls of one plan run one after the other.

use std::collections::HashMap;

use super::ask::TRY_AGAIN;
use super::driver::Lifecycle;
use super::wait::CallProgress;
use crate::call::{CallFailure, Outcome};
use crate::stage;
use toolwright_core::context::CallId;
use toolwright_journal::journal::{CallRecord, Filter, State};

/// The states in which an accepted call delays the later calls of its plan.
const UNDER_WAY: [State; 7] = [
    State::Judging,
    State::Pending,
    State::Ready,
    State::Running,
    State::HandedOver,
    State::Waiting,
    State::Indeterminate,
];

/// For each run, the call of its plan that runs next.
#[derive(Default)]
pub(super) struct Turns(HashMap<String, Option<CallId>>);

/// What the executor has to do with a call that a sweep found in the journal.
pub(super) enum FollowUp {
    /// The call may run, or the policy has to evaluate it.
    Continue(CallRecord),
    /// The approver has to be notified of this pending call.
    Notify(CallRecord),
    /// The tool of this call can find out the outcome of the call.
    Reconcile(CallRecord),
}

impl FollowUp {
    pub(super) fn record(&self) -> &CallRecord {
        match self {
            Self::Continue(record) | Self::Notify(record) | Self::Reconcile(record) => record,
        }
    }
}

pub(super) enum FollowUpOutcome {
    WentOn,
    /// The call has continued, and now its approver has to be notified.
    Asks(Box<CallRecord>),
    Notified,
    Reconciled,
    Unclear,
    Left(String),
}

impl Lifecycle<'_> {
    pub(super) async fn follow_up(self, follow_up: FollowUp) -> (CallId, FollowUpOutcome) {
        let id = follow_up.record().id;
        let done = match follow_up {
            // A sweep does not wait for people. If people are needed, another follow-up notifies them.
            FollowUp::Continue(record) => match self.until_asked(record, None, None).await {
                CallProgress::On(Outcome::Failed(failure)) => {
                    FollowUpOutcome::Left(failure.to_string())
                }
                CallProgress::On(_) => FollowUpOutcome::WentOn,
                CallProgress::ToPeople(record) => FollowUpOutcome::Asks(record),
            },
            FollowUp::Notify(record) => match self.notify_for_others(record).await {
                Outcome::Suspended(it)
                    if it.state == State::Pending && !self.journal.busy.is_noted(id) =>
                {
                    FollowUpOutcome::Left("the approver could not be notified".to_owned())
                }
                _ => FollowUpOutcome::Notified,
            },
            FollowUp::Reconcile(record) => match self.reconcile(&record).await {
                Ok(true) => FollowUpOutcome::Reconciled,
                Ok(false) => FollowUpOutcome::Unclear,
                Err(failure) => FollowUpOutcome::Left(failure.to_string()),
            },
        };
        if let FollowUpOutcome::Left(_) | FollowUpOutcome::Unclear = done {
            self.journal.busy.pause(id, TRY_AGAIN);
        }
        if let FollowUpOutcome::Left(why) = &done {
            tracing::warn!(call = %id, why, "a call is left as it is for now");
        }
        (id, done)
    }

    /// Returns whether the call is the next one of its plan. Accepted calls of one plan run in the order in which they
    /// were made, each when the earlier ones have ended.
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
            let listed = self.all(&filter).await?;
            let accepted = listed.calls.iter().find(|it| it.accepted.is_some()).map(|it| it.id);
            // An unreadable call may belong to the plan and be the next one to run.
            let unknown = listed.damaged.first().map(|it| it.id);
            turns.0.insert(run.clone(), accepted.into_iter().chain(unknown).min());
        }
        Ok(turns.0.get(run) == Some(&Some(record.id)))
    }

    /// Returns whether this process could run the call. Another process may have tools that this process lacks.
    pub(super) fn is_ours(self, record: &CallRecord) -> bool {
        match self.tool(record) {
            // If a call has an answer, no caller is left that could provide its services. This process then takes the
            // call, and finds out that the call cannot run.
            Ok(found) => found.plan().from_call.is_empty() || record.answer.is_some(),
            Err(_) => {
                self.run.core.resolving.is_some() && stage::find(self.run, &record.tool).is_err()
            }
        }
    }
}
