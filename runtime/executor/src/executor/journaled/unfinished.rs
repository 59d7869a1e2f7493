//! A call that is claimed, or was about to be, and whoever runs it is dropped. Its caller gives it up by that; a worker leaves it to others,
//! because it runs calls that are not its own.

use std::sync::Arc;

use super::super::claim::Claim;
use super::super::journal_config::Clock;
use super::super::{Plan, RunState};
use super::JournaledCall;
use super::expire_due::lost;
use super::perform::not_counted;
use super::retried::note_failure;
use super::withdrawn::pauses;
use toolwright_core::error::{Class, ToolError};
use toolwright_journal::journal::{
    CallRecord, CallWrite, Entry, Failure, Note, Store, Transaction, Transition, begun,
    may_have_happened,
};

/// Who runs a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// Whoever made it, who wants its answer.
    Caller,
    /// Somebody who goes on with what others made.
    Worker,
}

/// A call that is claimed. Dropped before its end is recorded, as when nobody polls it any more, it says so in
/// the journal, or records the end that was reached; where that fails too, its lease runs out.
pub(super) struct Unfinished(Option<Left>);

struct Left {
    run: Arc<RunState>,
    store: Arc<dyn Store>,
    clock: Clock,
    who: String,
    record: Arc<CallRecord>,
    by: By,
    /// How often the call may be begun.
    attempts: u32,
    claim: Arc<Claim>,
    /// The journal has said that the claim stands.
    stands: bool,
    end: Option<End>,
}

/// What a call has become, and what happened to it.
type End = (Arc<CallRecord>, Vec<Entry>);

impl Unfinished {
    pub(super) fn new(
        journaled: &JournaledCall<'_>,
        (plan, by): (&Plan, By),
        record: &Arc<CallRecord>,
        claim: &Arc<Claim>,
    ) -> Self {
        Self(Some(Left {
            run: Arc::clone(journaled.run),
            store: Arc::clone(&journaled.journal.store),
            clock: Arc::clone(&journaled.journal.clock),
            who: journaled.journal.note(None).who,
            record: Arc::clone(record),
            by,
            attempts: plan.retry.attempts,
            claim: Arc::clone(claim),
            stands: false,
            end: None,
        }))
    }

    pub(super) fn stands(&mut self) {
        if let Some(left) = &mut self.0 {
            left.stands = true;
        }
    }

    pub(super) fn ends_as(&mut self, ended: &Arc<CallRecord>, entries: &[Entry]) {
        if let Some(left) = &mut self.0 {
            left.end = Some((Arc::clone(ended), entries.to_vec()));
        }
    }

    pub(super) fn disarm(&mut self) {
        self.0 = None;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let (Some(left), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        runtime.spawn(left.recorded());
    }
}

impl Left {
    async fn recorded(mut self) {
        if !self.stands && !self.was_committed().await {
            return;
        }
        let end = match (self.end.take(), self.by) {
            (Some(end), _) => Some(end),
            (None, By::Caller) => {
                let before = begun_before(&*self.store, &self.record).await;
                self.given_up(before)
            }
            (None, By::Worker) => self.let_go(),
        };
        let Some((record, entries)) = end else { return };
        let (expects, now) = (Some(self.record.version), (self.clock)());
        let call =
            CallWrite { expects, record: CallRecord::clone(&record), entries: entries.clone() };
        let unit = Transaction { calls: vec![call], documents: Vec::new() };
        match self.store.commit(unit, now).await {
            Ok(()) => {
                if let Some(journaled) = JournaledCall::of(&self.run) {
                    journaled.notify_ended(&record, entries);
                }
            }
            Err(error) => {
                tracing::warn!(call = %self.record.id, %error, "that a call was given up is not recorded");
            }
        }
    }

    /// Whether the claim stands, of which nobody heard. Its commit may still be under way.
    async fn was_committed(&self) -> bool {
        let claimed = &*self.record;
        for pause in pauses() {
            match self.store.get(claimed.id).await {
                Ok(Some(found)) if found.version >= claimed.version => {
                    return (found.version, found.epoch, found.updated, &found.owner)
                        == (claimed.version, claimed.epoch, claimed.updated, &claimed.owner);
                }
                _ => tokio::time::sleep(pause).await,
            }
        }
        false
    }

    /// Its caller has gone, and nobody wants it.
    fn given_up(&self, before: Option<String>) -> Option<End> {
        let mut record = CallRecord::clone(&self.record);
        let effect = record.effect;
        let errored = |failure, exhausted| Transition::Errored { failure, effect, exhausted };
        let begun = self.claim.is_begun();
        let events = if begun {
            vec![errored(Failure::Cancelled, true)]
        } else {
            vec![errored(Failure::NotStarted, false), Transition::RunEnded]
        };
        let note = || self.note("whoever waited for it has gone");
        let entries: Result<_, _> =
            events.into_iter().map(|event| record.advance(event, note())).collect();
        let tool = &record.tool;
        let error = ToolError::new("cancelled", format!("the call of `{tool}` was cancelled"))
            .class(Class::Cancelled)
            .with_more(before);
        if begun {
            note_failure(&mut record, Failure::Cancelled, &error);
        }
        if record.state.is_answered() {
            record.answer_with(&error);
        }
        Some((Arc::new(record), entries.ok()?))
    }

    /// Somebody else goes on with it, where that may be.
    fn let_go(&self) -> Option<End> {
        let mut record = CallRecord::clone(&self.record);
        let begun = self.claim.is_begun();
        let event = left(&record, self.attempts, !begun);
        let entry = record.advance(event, self.note("whoever ran it has gone")).ok()?;
        record.not_before = None;
        let error = lost(&record);
        if !begun {
            not_counted(&mut record);
        }
        if let (true, Transition::Errored { failure, .. }) = (begun, event) {
            note_failure(&mut record, failure, &error);
        }
        if record.state.is_answered() {
            record.answer_with(&error);
        }
        Some((Arc::new(record), vec![entry]))
    }

    fn note(&self, why: &str) -> Note {
        let (who, at) = (self.who.clone(), (self.clock)());
        Note { who, at, why: Some(why.to_owned()), signed: None }
    }
}

/// What happens to a call that whoever owns it leaves to others. The owner is not lost, it says so itself.
pub(super) fn left(record: &CallRecord, attempts: u32, is_not_begun: bool) -> Transition {
    let (failure, exhausted) = match is_not_begun {
        true => (Failure::NotStarted, false),
        false => (Failure::Transient, record.attempt >= attempts),
    };
    Transition::Errored { failure, effect: record.effect, exhausted }
}

impl JournaledCall<'_> {
    /// What an answer has to say besides, because of earlier attempts of a call that runs.
    pub(super) async fn begun_before(self, record: &CallRecord) -> Option<String> {
        begun_before(&*self.journal.store, record).await
    }
}

async fn begun_before(store: &dyn Store, record: &CallRecord) -> Option<String> {
    let claims = u32::try_from(record.epoch).unwrap_or(u32::MAX);
    if claims <= 1 {
        return None;
    }
    // What cannot be read may have happened.
    let begun = store.history(record.id).await.map_or(claims, |history| begun(&history));
    may_have_happened(record.effect, begun.saturating_sub(1))
}
