//! Notifies listeners of what was committed, also where no caller waits for the call: a decision that is acted on, a
//! deadline that has passed, an owner that is gone, a dead letter.
//!
//! An approval service commits a decision, perhaps in another process. The one process whose commit follows it notifies
//! its listeners, so that they are notified once.

use std::time::Duration;

use super::JournaledCall;
use crate::event::{Event as CallEvent, EventKind};
use toolwright_journal::approval::{Statement, Subject};
use toolwright_journal::journal::{CallRecord, Entry, Failure, State, Transition};
use toolwright_policy::policy::PolicyDecision;

/// What listeners are notified of once a commit stands.
pub(super) struct Notification {
    entries: Vec<Entry>,
    /// The decision of a person that it follows, if it follows one.
    decided: Option<VerifiedStatement>,
    /// How long the call had been where it was.
    waited: Duration,
}

/// A decision, and how long the call had been waiting for it.
struct VerifiedStatement {
    statement: Statement,
    waited: Duration,
}

impl Notification {
    fn of(entries: Vec<Entry>) -> Self {
        Self { entries, decided: None, waited: Duration::ZERO }
    }
}

impl<'a> JournaledCall<'a> {
    /// A copy that carries the verdict while a call is evaluated once more.
    pub(super) fn evaluating<'b>(self, verdict: &'b PolicyDecision) -> JournaledCall<'b>
    where
        'a: 'b,
    {
        JournaledCall { evaluated: Some(verdict), ..self }
    }
}

impl JournaledCall<'_> {
    /// What listeners are notified of once these entries are committed; nothing where none is registered.
    pub(super) async fn notification(
        self,
        expects: Option<u64>,
        record: &CallRecord,
        entries: &[Entry],
    ) -> Option<Notification> {
        if self.run.core.listeners.is_empty() || entries.is_empty() {
            return None;
        }
        let mut notification = Notification::of(entries.to_vec());
        let from = entries.first().and_then(|entry| entry.from);
        let waited = matches!(from, Some(State::Judging | State::Ready | State::Pending));
        if expects.is_some() && waited {
            Box::pin(self.look_back(record, &mut notification)).await;
        }
        Some(notification)
    }

    /// What came before, as the journal has it.
    async fn look_back(self, record: &CallRecord, notification: &mut Notification) {
        match self.history(record).await {
            Ok(history) => {
                let was = history.last().map_or(record.created, |last| last.at);
                notification.waited = until(was, record);
                notification.decided = self.last_decision(record, &history);
            }
            Err(failure) => {
                tracing::warn!(call = %record.id, %failure, "listeners are not notified of a decision");
            }
        }
    }

    /// The decision that a history ends with, where it is of somebody whose key counts and about this call.
    fn last_decision(self, record: &CallRecord, history: &[Entry]) -> Option<VerifiedStatement> {
        let [.., before, entry] = history else { return None };
        let signed = entry.signed.as_ref()?;
        let statement = self.journal.trusted.verify(signed).ok()?.into_statement();
        let generation = match entry.to {
            State::Judging => entry.generation.checked_sub(1),
            _ => Some(entry.generation),
        };
        let Subject::Call { id, generation: of, digest } = &statement.about else { return None };
        let counts = *id == record.id
            && Some(*of) == generation
            && *digest == entry.digest
            && statement.verdict.event() == entry.event;
        let waited = Duration::try_from(before.at.duration_until(entry.at)).unwrap_or_default();
        counts.then_some(VerifiedStatement { statement, waited })
    }

    /// Notifies of the end of an attempt that was committed when no caller waited for it any more.
    pub(super) fn notify_ended(self, record: &CallRecord, entries: Vec<Entry>) {
        self.notify_committed(record, &Notification::of(entries));
    }

    pub(super) fn notify_committed(self, record: &CallRecord, notification: &Notification) {
        if let Some(decided) = &notification.decided {
            self.notify_decided(record, decided);
        }
        if let Some(verdict) = self.evaluated.filter(|_| !self.run.core.rules.is_open()) {
            self.notify_of(record, EventKind::Judged { verdict });
        }
        for entry in &notification.entries {
            match entry.event {
                Some(Transition::Expired) => {
                    self.notify_of(record, EventKind::Expired { waited: notification.waited });
                }
                Some(Transition::Errored { failure: Failure::OwnerLost, .. }) => {
                    self.notify_of(record, EventKind::OwnerLost { state: entry.to });
                }
                Some(Transition::PutBack) => {
                    let why = entry.why.as_deref().unwrap_or_default();
                    self.notify_of(record, EventKind::PutBack { why });
                }
                _ => {}
            }
            if let (Some(Transition::Errored { .. }), State::Dead) = (entry.event, entry.to) {
                let attempts = &record.failures[..];
                let kind = attempts.last().map_or("unknown", |failed| &failed.kind);
                self.notify_of(record, EventKind::Dead { kind, attempts });
            }
        }
    }

    /// Notifies of a decision that has ended a call. Where its run has acknowledged the call, this does nothing.
    pub(super) async fn notify_found(self, record: &CallRecord) {
        let is_decided = matches!(record.state, State::Rejected | State::Succeeded)
            && record.decision.is_some()
            && !record.delivered;
        if self.run.core.listeners.is_empty() || !is_decided {
            return;
        }
        let history = match Box::pin(self.history(record)).await {
            Ok(history) => history,
            Err(failure) => {
                tracing::warn!(call = %record.id, %failure, "listeners are not notified of a decision");
                return;
            }
        };
        if let Some(decided) = self.last_decision(record, &history) {
            self.notify_decided(record, &decided);
        }
    }

    fn notify_decided(self, record: &CallRecord, decided: &VerifiedStatement) {
        let VerifiedStatement { statement, waited } = decided;
        let (verdict, by, waited) = (&statement.verdict, statement.by.as_str(), *waited);
        self.notify_of(record, EventKind::Decided { verdict, by, waited });
    }

    /// Notifies of a call as its record has it.
    pub(super) fn notify_of(self, record: &CallRecord, kind: EventKind<'_>) {
        self.run.tell(&CallEvent {
            call: record.id,
            provider_id: record.provider_id.as_deref(),
            run: &record.place.run,
            tool: &record.tool,
            digest: Some(&record.digest),
            attempt: Some(record.attempt).filter(|attempt| *attempt > 0),
            kind,
        });
    }
}

/// From then until the record was changed.
fn until(then: jiff::Timestamp, record: &CallRecord) -> Duration {
    Duration::try_from(then.duration_until(record.updated)).unwrap_or_default()
}
