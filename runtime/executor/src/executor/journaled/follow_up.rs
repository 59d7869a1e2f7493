//! Something that is to be done for a call, and what became of it. What cannot be done is left alone for a while.

use super::super::outcome::Outcome;
use super::JournaledCall;
use super::ask::TRY_AGAIN;
use super::claim::Gone;
use toolwright_core::context::CallId;
use toolwright_journal::journal::{CallRecord, State};

/// Something that is to be done for a call.
pub(super) enum Errand {
    /// It may run, or has to be judged.
    GoOn(CallRecord),
    /// Somebody has to be told that it is pending.
    Tell(CallRecord),
    /// Its tool may find out what became of it.
    Reconcile(CallRecord),
}

impl Errand {
    pub(super) fn record(&self) -> &CallRecord {
        match self {
            Self::GoOn(record) | Self::Tell(record) | Self::Reconcile(record) => record,
        }
    }
}

/// What became of an errand.
pub(super) enum Done {
    WentOn,
    /// It went on, and people have to be told of it now.
    Asks(Box<CallRecord>),
    Told,
    Reconciled,
    Unclear,
    Left(String),
}

impl JournaledCall<'_> {
    pub(super) async fn run_errand(self, errand: Errand) -> (CallId, Done) {
        let id = errand.record().id;
        let done = match errand {
            // Whoever goes on with calls does not stand still while people think: they are told by an errand of its own.
            Errand::GoOn(record) => match self.until_asked(record, None, None).await {
                Gone::On(Outcome::Failed(failure)) => Done::Left(failure.to_string()),
                Gone::On(_) => Done::WentOn,
                Gone::ToPeople(record) => Done::Asks(record),
            },
            Errand::Tell(record) => match self.notify_for_others(record).await {
                Outcome::Suspended(it)
                    if it.state == State::Pending && !self.journal.busy.is_noted(id) =>
                {
                    Done::Left("nobody could be told".to_owned())
                }
                _ => Done::Told,
            },
            Errand::Reconcile(record) => match self.reconcile(&record).await {
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
