//! The decision of a person by which a call came to be evaluated again: it did not happen, its plan is accepted, it is
//! requeued. Any process that can write to the journal could put one there, so it is verified whenever the call is
//! evaluated or claimed, and bound to the call as it was then.

use super::super::outcome::CallFailure;
use super::claim::Step;
use super::{JournaledCall, not_recorded};
use toolwright_core::json::canonical;
use toolwright_journal::approval::{Decision, Subject};
use toolwright_journal::arguments::digest;
use toolwright_journal::journal::{
    CallRecord, Entry, StoredText, Transition, begun, may_have_happened,
};

/// A decision that counts.
pub(super) struct VerifiedDecision {
    pub(super) event: Transition,
    verdict: Decision,
    /// Whether nothing has happened to the call since.
    pub(super) is_last: bool,
}

/// A decision that does not count, and why.
pub(super) struct InvalidDecision {
    event: Transition,
    pub(super) why: String,
}

impl InvalidDecision {
    pub(super) fn of(event: Transition, why: &str) -> Self {
        let what = match event {
            Transition::Accepted => "that its plan is accepted",
            Transition::Edited => "the edit",
            Transition::Requeued => "that it is requeued",
            _ => "that it did not happen",
        };
        Self { event, why: format!("{what} does not count: {why}") }
    }

    /// What takes the call back to where it was before.
    pub(super) fn back(&self) -> Transition {
        match self.event {
            Transition::Accepted => Transition::Planned,
            Transition::Requeued => Transition::PutBack,
            _ => Transition::Doubted,
        }
    }

    /// Whether it is about a call that had been begun, and that must not end by it.
    pub(super) fn is_of_what_was(&self) -> bool {
        matches!(self.event, Transition::Requeued | Transition::DidNotHappen)
    }
}

impl VerifiedDecision {
    /// Whether it is that of an operator who wants a dead call tried once more.
    pub(super) fn is_requeue(&self) -> bool {
        self.event == Transition::Requeued
    }

    /// Whether the call is about to be evaluated for the first time since, with a new idempotency key.
    pub(super) fn wants_new_key(&self) -> bool {
        self.is_last && matches!(self.verdict, Decision::Requeue { new_key: true, .. })
    }
}

/// What a call has behind it.
#[derive(Clone, Copy)]
pub(super) struct Past {
    /// Whether it is a dead letter that is tried once more.
    pub(super) is_dead_letter: bool,
    /// How often it was begun that may have acted.
    begun: u32,
}

impl Past {
    pub(super) fn of(decision: Option<&VerifiedDecision>, history: &[Entry]) -> Self {
        Self {
            is_dead_letter: decision.is_some_and(VerifiedDecision::is_requeue),
            begun: begun(history),
        }
    }

    pub(super) fn was_begun(self) -> bool {
        self.begun > 0
    }

    /// What is added to an answer, so that it does not say that nothing happened.
    pub(super) fn in_words(self, record: &CallRecord) -> Option<String> {
        may_have_happened(record.effect, self.begun)
    }
}

/// The transition of the last decision that had a call evaluated again; nothing where none did.
fn last_decision(history: &[Entry]) -> Option<(Transition, &Entry, bool)> {
    history.iter().enumerate().rev().find_map(|(place, entry)| match entry.event {
        Some(event @ (Transition::Accepted | Transition::Requeued | Transition::DidNotHappen)) => {
            Some((event, entry, place + 1 == history.len()))
        }
        _ => None,
    })
}

impl JournaledCall<'_> {
    /// The last decision that had a call evaluated again.
    ///
    /// # Errors
    /// When it does not count.
    pub(super) fn verified_decision(
        self,
        record: &CallRecord,
        history: &[Entry],
    ) -> Result<Option<VerifiedDecision>, InvalidDecision> {
        let Some((event, entry, is_last)) = last_decision(history) else { return Ok(None) };
        if event == Transition::DidNotHappen && entry.signed.is_none() {
            // Its tool found out.
            return Ok(None);
        }
        let verdict = self.verdict_of(record, entry, event, is_last);
        let verdict = verdict.map_err(|why| InvalidDecision::of(event, &why))?;
        Ok(Some(VerifiedDecision { event, verdict, is_last }))
    }

    /// Whether what has just changed the arguments, if anything has, is the decision of a trusted approver. Later, what was
    /// made of it is evaluated and decided like any arguments.
    pub(super) fn edit(
        self,
        record: &CallRecord,
        history: &[Entry],
    ) -> Result<(), InvalidDecision> {
        let edit = history.last().filter(|entry| entry.event == Some(Transition::Edited));
        let Some(entry) = edit else { return Ok(()) };
        let verdict = self.verdict_of(record, entry, Transition::Edited, true);
        verdict.map(drop).map_err(|why| InvalidDecision::of(Transition::Edited, &why))
    }

    /// What an entry's signature says, if it says it of this call as it was then; or why it does not count.
    fn verdict_of(
        self,
        record: &CallRecord,
        entry: &Entry,
        event: Transition,
        is_last: bool,
    ) -> Result<Decision, String> {
        let signed = entry.signed.as_ref().ok_or("it is not signed")?;
        let verified = self.journal.trusted.verify(signed);
        let statement = verified.map_err(|error| error.to_string())?.into_statement();
        let is_said_of_it = match (&statement.about, &statement.verdict) {
            (Subject::Call { id, generation, digest }, verdict) => {
                *id == record.id
                    && generation.checked_add(1) == Some(entry.generation)
                    && *digest == entry.digest
                    && (!is_last || *digest == record.digest)
                    && verdict.event() == Some(event)
            }
            (Subject::Grant { .. }, _) => false,
        };
        if !is_said_of_it {
            return Err("what was signed is about something else".to_owned());
        }
        let proposed = match &statement.verdict {
            Decision::Edit { arguments, .. } => Some(arguments.as_str()),
            Decision::Requeue { arguments, .. } => arguments.as_deref(),
            _ => None,
        };
        if is_last && record.proposal.as_deref() != proposed {
            return Err("the new arguments are not those that were signed".to_owned());
        }
        Ok(statement.verdict)
    }

    /// Whether the arguments in the journal are those of the digest that people are shown with them.
    pub(super) fn are_of_its_digest(self, record: &CallRecord, arguments: &str) -> bool {
        let key = match record.arguments {
            StoredText::Plain(_) => None,
            _ => self.journal.sealing.as_ref(),
        };
        let principal = record.requester.user.as_deref().unwrap_or_default();
        canonical(arguments).is_ok_and(|arguments| {
            digest(&record.tool, &record.fingerprint, &arguments, principal, key) == record.digest
        })
    }

    pub(super) async fn history(self, record: &CallRecord) -> Result<Vec<Entry>, CallFailure> {
        let history = self.journal.store.history(record.id).await;
        history.map_err(|error| not_recorded(&record.tool, error.into()))
    }

    /// The call is where it was before the decision that does not count.
    pub(super) async fn doubted(
        self,
        record: &CallRecord,
        invalid: InvalidDecision,
    ) -> Result<Step, CallFailure> {
        self.back(record, invalid.back(), invalid.why).await
    }

    /// What an operator wanted of a dead call cannot be done; it is not lost by that.
    pub(super) async fn put_back(
        self,
        record: &CallRecord,
        why: String,
    ) -> Result<Step, CallFailure> {
        self.back(record, Transition::PutBack, why).await
    }

    pub(super) async fn back(
        self,
        record: &CallRecord,
        event: Transition,
        why: String,
    ) -> Result<Step, CallFailure> {
        let mut back = record.clone();
        let entry = self.step(&mut back, event, Some(why))?;
        back.proposal = None;
        self.moved(record, back, vec![entry]).await
    }
}
