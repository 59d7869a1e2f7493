//! What listeners hear of what was committed, whoever waits for the call: a decision that is acted on, a deadline that
//! has passed, an owner that is gone, a dead letter.
//!
//! A decision is committed by a desk, perhaps in another process. The one process whose commit follows it tells of it,
//! so that it is told once.

use std::time::Duration;

use super::JournaledCall;
use crate::event::{Event as Told, EventKind};
use toolwright_journal::approval::{Statement, Subject};
use toolwright_journal::journal::{CallRecord, Entry, Failure, State, Transition};
use toolwright_policy::policy::PolicyDecision;

/// What is told when a commit stands.
pub(super) struct Telling {
    entries: Vec<Entry>,
    /// What it follows, where that is the word of a person.
    said: Option<Said>,
    /// How long the call had been where it was.
    waited: Duration,
}

/// A decision, and how long the call had been waiting for it.
struct Said {
    statement: Statement,
    waited: Duration,
}

impl Telling {
    fn of(entries: Vec<Entry>) -> Self {
        Self { entries, said: None, waited: Duration::ZERO }
    }
}

impl<'a> JournaledCall<'a> {
    /// The same while a call is judged once more.
    pub(super) fn judging<'b>(self, verdict: &'b PolicyDecision) -> JournaledCall<'b>
    where
        'a: 'b,
    {
        JournaledCall { judged: Some(verdict), ..self }
    }
}

impl JournaledCall<'_> {
    /// What is to be told once these entries are committed; nothing where nobody listens.
    pub(super) async fn to_be_told(
        self,
        expects: Option<u64>,
        record: &CallRecord,
        entries: &[Entry],
    ) -> Option<Telling> {
        if self.run.core.listeners.is_empty() || entries.is_empty() {
            return None;
        }
        let mut telling = Telling::of(entries.to_vec());
        let from = entries.first().and_then(|entry| entry.from);
        let waited = matches!(from, Some(State::Judging | State::Ready | State::Pending));
        if expects.is_some() && waited {
            Box::pin(self.look_back(record, &mut telling)).await;
        }
        Some(telling)
    }

    /// What came before, as the journal has it.
    async fn look_back(self, record: &CallRecord, telling: &mut Telling) {
        match self.history(record).await {
            Ok(history) => {
                let was = history.last().map_or(record.created, |last| last.at);
                telling.waited = until(was, record);
                telling.said = self.said_last(record, &history);
            }
            Err(failure) => {
                tracing::warn!(call = %record.id, %failure, "listeners are not told of a decision");
            }
        }
    }

    /// The decision that a history ends with, where it is of somebody whose key counts and about this call.
    fn said_last(self, record: &CallRecord, history: &[Entry]) -> Option<Said> {
        let [.., before, entry] = history else { return None };
        let signed = entry.signed.as_ref()?;
        let statement = self.journal.enrolled.verify(signed).ok()?.into_statement();
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
        counts.then_some(Said { statement, waited })
    }

    /// Tells of the end of an attempt that was committed when nobody waited for it any more.
    pub(super) fn tell_ended(self, record: &CallRecord, entries: Vec<Entry>) {
        self.tell_committed(record, &Telling::of(entries));
    }

    pub(super) fn tell_committed(self, record: &CallRecord, telling: &Telling) {
        if let Some(said) = &telling.said {
            self.tell_said(record, said);
        }
        if let Some(verdict) = self.judged.filter(|_| !self.run.core.rules.is_open()) {
            self.tell_of(record, EventKind::Judged { verdict });
        }
        for entry in &telling.entries {
            match entry.event {
                Some(Transition::Expired) => {
                    self.tell_of(record, EventKind::Expired { waited: telling.waited });
                }
                Some(Transition::Errored { failure: Failure::OwnerLost, .. }) => {
                    self.tell_of(record, EventKind::OwnerLost { state: entry.to });
                }
                Some(Transition::PutBack) => {
                    let why = entry.why.as_deref().unwrap_or_default();
                    self.tell_of(record, EventKind::PutBack { why });
                }
                _ => {}
            }
            if let (Some(Transition::Errored { .. }), State::Dead) = (entry.event, entry.to) {
                let attempts = &record.failures[..];
                let kind = attempts.last().map_or("unknown", |failed| &failed.kind);
                self.tell_of(record, EventKind::Dead { kind, attempts });
            }
        }
    }

    /// Tells of a decision that a call has ended with, by which nobody goes on with it. One that its run has taken note
    /// of is told no more.
    pub(super) async fn tell_found(self, record: &CallRecord) {
        let is_decided = matches!(record.state, State::Rejected | State::Succeeded)
            && record.decision.is_some()
            && !record.delivered;
        if self.run.core.listeners.is_empty() || !is_decided {
            return;
        }
        let history = match Box::pin(self.history(record)).await {
            Ok(history) => history,
            Err(failure) => {
                tracing::warn!(call = %record.id, %failure, "listeners are not told of a decision");
                return;
            }
        };
        if let Some(said) = self.said_last(record, &history) {
            self.tell_said(record, &said);
        }
    }

    fn tell_said(self, record: &CallRecord, said: &Said) {
        let Said { statement, waited } = said;
        let (verdict, by, waited) = (&statement.verdict, statement.by.as_str(), *waited);
        self.tell_of(record, EventKind::Decided { verdict, by, waited });
    }

    /// Tells of a call as its record has it.
    pub(super) fn tell_of(self, record: &CallRecord, kind: EventKind<'_>) {
        self.run.tell(&Told {
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
