//! Work that a sweep finds: a call runs, an approver is notified, a tool finds out what happened. Work that fails is
//! tried again after a pause.

use super::super::outcome::Outcome;
use super::JournaledCall;
use super::ask::TRY_AGAIN;
use super::claim::Gone;
use toolwright_core::context::CallId;
use toolwright_journal::journal::{CallRecord, State};

/// What the executor has to do for a call that it found in the journal.
pub(super) enum FollowUp {
    /// It may run, or has to be evaluated.
    GoOn(CallRecord),
    /// The approver has to be notified that it is pending.
    Notify(CallRecord),
    /// Its tool may find out what became of it.
    Reconcile(CallRecord),
}

impl FollowUp {
    pub(super) fn record(&self) -> &CallRecord {
        match self {
            Self::GoOn(record) | Self::Notify(record) | Self::Reconcile(record) => record,
        }
    }
}

/// What became of a follow-up.
pub(super) enum Done {
    WentOn,
    /// It went on, and the approver has to be notified of it now.
    Asks(Box<CallRecord>),
    Notified,
    Reconciled,
    Unclear,
    Left(String),
}

impl JournaledCall<'_> {
    pub(super) async fn follow_up(self, follow_up: FollowUp) -> (CallId, Done) {
        let id = follow_up.record().id;
        let done = match follow_up {
            // A worker does not stand still while people think: they are notified in a follow-up of its own.
            FollowUp::GoOn(record) => match self.until_asked(record, None, None).await {
                Gone::On(Outcome::Failed(failure)) => Done::Left(failure.to_string()),
                Gone::On(_) => Done::WentOn,
                Gone::ToPeople(record) => Done::Asks(record),
            },
            FollowUp::Notify(record) => match self.notify_for_others(record).await {
                Outcome::Suspended(it)
                    if it.state == State::Pending && !self.journal.busy.is_noted(id) =>
                {
                    Done::Left("the approver could not be notified".to_owned())
                }
                _ => Done::Notified,
            },
            FollowUp::Reconcile(record) => match self.reconcile(&record).await {
                Ok(true) => Done::Reconciled,
                Ok(false) => Done::Unclear,
                Err(failure) => Done::Left(failure.to_string()),
            },
        };
        if let Done::Left(_) | Done::Unclear = done {
            self.journal.busy.pause(id, TRY_AGAIN);
        }
        if let Done::Left(why) = &done {
            tracing::warn!(call = %id, why, "a call is left as it is for now");
        }
        (id, done)
    }
}
