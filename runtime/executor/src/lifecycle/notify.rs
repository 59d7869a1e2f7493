//! Notifies listeners of commits, even if no caller waits for the call. Examples are a decision of a person, an expired
//! deadline, a lost owner, and a dead letter.
//!
//! An approval service commits a decision, perhaps in another process. If the call then continues, the executor that
//! commits its next step notifies its own listeners of the decision. If the decision has ended the call, each executor
//! that finds the ended call notifies its listeners.

use std::time::Duration;

use super::decide::outdated_grant;
use super::decide::words::{TOOL_CHANGED, grant_outdated};
use super::driver::Lifecycle;
use super::snapshot::Snapshot;
use super::step::Settings;
use crate::call::Rules;
use crate::event::{ToolEvent as CallEvent, ToolEventKind};
use toolwright_journal::approval::{Statement, Subject};
use toolwright_journal::journal::{
    CallRecord, CallWrite, Entry, Failure, State, Transaction, Transition,
};
use toolwright_policy::policy::PolicyDecision;

/// The events that listeners receive after a commit is recorded.
pub(super) struct Notification {
    entries: Vec<Entry>,
    /// The decision of a person that led to the commit, if there is one.
    decided: Option<VerifiedStatement>,
    /// How long the call had been in its previous state.
    waited: Duration,
    /// The decision of the policy, if the policy evaluated the call again.
    evaluated: Option<PolicyDecision>,
    /// Which decision or grant is no longer valid, because the tool has changed.
    outdated: Option<String>,
}

/// A person's decision, and how long the call had waited for it.
struct VerifiedStatement {
    statement: Statement,
    waited: Duration,
}

impl Notification {
    fn of(entries: Vec<Entry>) -> Self {
        Self { entries, decided: None, waited: Duration::ZERO, evaluated: None, outdated: None }
    }
}

impl Lifecycle<'_> {
    /// Collects the facts of which listeners have to be notified after this commit is recorded.
    pub(super) async fn notification(
        self,
        snapshot: &Snapshot,
        settings: &Settings,
        unit: &Transaction,
    ) -> Option<Notification> {
        let write = unit.calls.first().filter(|write| !write.entries.is_empty())?;
        let mut notification = Notification::of(write.entries.clone());
        let from = write.entries.first().and_then(|entry| entry.from);
        let waited = matches!(
            from,
            Some(State::Judging | State::Ready | State::Pending | State::HandedOver)
        );
        if snapshot.is_recorded && waited {
            Box::pin(self.look_back(&write.record, &mut notification)).await;
        }
        if snapshot.is_recorded && from == Some(State::Judging) {
            let read = [&snapshot.proposed, &snapshot.evaluated].into_iter();
            let evaluated = read.filter_map(|read| read.as_ref()?.as_ref().ok()).next();
            notification.evaluated = evaluated.map(|evaluated| evaluated.policy.clone());
        }
        notification.outdated = self.describe_outdated(snapshot, settings, write);
        Some(notification)
    }

    /// Describes the decision or grant that is no longer valid, because the tool has changed.
    fn describe_outdated(
        self,
        snapshot: &Snapshot,
        settings: &Settings,
        write: &CallWrite,
    ) -> Option<String> {
        let event = write.entries.last()?.event?;
        let tool = snapshot.tool.as_ref()?.as_ref().ok()?;
        match event {
            Transition::Changed if tool.fingerprint != snapshot.record.fingerprint => {
                Some(TOOL_CHANGED.to_owned())
            }
            Transition::Asked => {
                let four_eyes = Rules::four_eyes(self.run, &self.run.core.rules.current());
                let (now, fingerprint) = (self.journal.now(), &write.record.fingerprint);
                let id = outdated_grant(snapshot, settings, now, fingerprint, four_eyes);
                id.map(grant_outdated)
            }
            _ => None,
        }
    }

    /// Adds the facts that only the history shows.
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

    /// Returns the decision at the end of a history, if its key is trusted and it is about this call.
    fn last_decision(self, record: &CallRecord, history: &[Entry]) -> Option<VerifiedStatement> {
        let [.., before, entry] = history else { return None };
        let signed = entry.signed.as_ref()?;
        let statement = self.journal.trusted.verify(signed).ok()?.into_statement();
        let generation = match entry.to {
            State::Judging => entry.generation.checked_sub(1),
            _ => Some(entry.generation),
        };
        let Subject::Call { id, generation: of, digest, .. } = &statement.about else {
            return None;
        };
        let counts = *id == record.id
            && Some(*of) == generation
            && *digest == entry.digest
            && statement.verdict.event() == entry.event;
        let waited = Duration::try_from(before.at.duration_until(entry.at)).unwrap_or_default();
        counts.then_some(VerifiedStatement { statement, waited })
    }

    pub(super) fn notify_committed(self, record: &CallRecord, notification: &Notification) {
        if let Some(decided) = &notification.decided {
            self.notify_decided(record, decided);
        }
        let is_open = self.run.is_open();
        if let Some(verdict) = notification.evaluated.as_ref().filter(|_| !is_open) {
            self.notify_of(record, ToolEventKind::Judged { verdict });
        }
        if let Some(why) = &notification.outdated {
            self.notify_of(record, ToolEventKind::ToolChanged { why });
        }
        for entry in &notification.entries {
            match entry.event {
                Some(Transition::Expired) => {
                    self.notify_of(record, ToolEventKind::Expired { waited: notification.waited });
                }
                Some(Transition::HandedOver) => {
                    if let Some(handed_over) = self.handed_over_or_traced(record) {
                        let handed_over = &handed_over;
                        self.notify_of(record, ToolEventKind::HandedOver { handed_over });
                    }
                }
                Some(Transition::RunEnded) if entry.from == Some(State::HandedOver) => {
                    let why = entry.why.as_deref().unwrap_or_default();
                    self.notify_of(record, ToolEventKind::Recalled { why });
                }
                Some(Transition::Errored { failure: Failure::OwnerLost, .. }) => {
                    self.notify_of(record, ToolEventKind::OwnerLost { state: entry.to });
                }
                Some(Transition::PutBack) => {
                    let why = entry.why.as_deref().unwrap_or_default();
                    self.notify_of(record, ToolEventKind::PutBack { why });
                }
                _ => {}
            }
            let ended = Some(Transition::LaidAside);
            let has_failed =
                matches!(entry.event, Some(Transition::Errored { .. })) || entry.event == ended;
            if has_failed && entry.to == State::Dead {
                let attempts = &record.failures[..];
                let kind = attempts.last().map_or("unknown", |failed| &failed.kind);
                self.notify_of(record, ToolEventKind::Dead { kind, attempts });
            }
        }
    }

    /// Notifies listeners of a decision that has ended a call, unless the call's run has acknowledged the call.
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
        self.notify_of(record, ToolEventKind::Decided { verdict, by, waited });
    }

    /// Sends listeners an event about the call of this record.
    pub(super) fn notify_of(self, record: &CallRecord, kind: ToolEventKind<'_>) {
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

/// Returns the time between `then` and the last change of the record.
fn until(then: jiff::Timestamp, record: &CallRecord) -> Duration {
    Duration::try_from(then.duration_until(record.updated)).unwrap_or_default()
}
