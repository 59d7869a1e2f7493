//! A claimed call runs, its lease renewed meanwhile. Its result and its final state are committed together.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, select};

use super::super::keeping::ATTEMPTS;
use super::super::outcome::{CallFailure, Outcome};
use super::super::{Plan, calling::Stages};
use super::Kept;
use crate::call::Call;
use crate::context::Identity;
use crate::error::ToolError;
use crate::journal::{CallRecord, CallWrite, CommitError, Event, Failure, Note, Store, Unit};
use crate::output::Answer;
use crate::stage::record::{Watch, chain};

/// How often a result is written before it is given up.
const WRITES: u32 = 4;

impl Kept<'_> {
    pub(super) async fn perform(
        self,
        record: CallRecord,
        plan: &Plan,
        call: &Call<'_>,
        arguments: &str,
        watch: Option<&Watch<'_>>,
    ) -> Outcome {
        let unfinished = Unfinished::new(&self, &record);
        let key = record.idempotency_key.clone();
        let identity = Identity { id: record.id, key: Some(&key) };
        let stages = Stages::new(self.run, plan, call, watch).claimed(arguments);
        let lease = record.clone();
        let running = pin!(stages.with_own(Some(identity)));
        let answer = match select(running, pin!(self.renew(&lease))).await {
            Either::Left((answer, _)) => answer,
            // Somebody else has the right to run it now, so nothing is recorded of this attempt.
            Either::Right(_) => {
                unfinished.disarm();
                return match self.load(record.id).await {
                    Ok(record) => self.outcome_of(&record),
                    Err(failure) => failure.into(),
                };
            }
        };
        unfinished.disarm();
        self.conclude(record, answer).await
    }

    /// Ends when the lease is lost.
    async fn renew(self, record: &CallRecord) {
        let mut until = record.lease;
        loop {
            tokio::time::sleep(self.keeping.lease / 3).await;
            let next = self.keeping.lease_until();
            match self.keeping.store.renew(record.id, record.epoch, next).await {
                Ok(()) => until = Some(next),
                Err(CommitError::Store(error)) => {
                    tracing::warn!(call = %record.id, %error, "a lease could not be renewed");
                    if until.is_none_or(|until| until <= self.keeping.now()) {
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    }

    /// Records how a call ended. A late owner's result is refused: what is recorded already counts.
    async fn conclude(self, record: CallRecord, answer: Answer) -> Outcome {
        let mut ended = record.clone();
        let event = event(&record, &answer);
        let why = answer.error().map(|error| words(error, &record));
        let entry = match self.step(&mut ended, event, why) {
            Ok(entry) => entry,
            Err(failure) => return failure.into(),
        };
        if ended.state.is_answered() {
            ended.answer = Some(self.keep_answer(&record, &answer));
        }
        let mut pause = Duration::from_millis(50);
        for attempt in 1..=WRITES {
            match self.write(Some(record.version), &ended, vec![entry.clone()]).await {
                Ok(()) if ended.state.is_answered() => return Outcome::Answered(answer),
                Ok(()) => return self.outcome_of(&ended),
                Err(CommitError::Store(error)) if attempt == WRITES => {
                    let (call, tool) = (record.id, record.tool);
                    return CallFailure::ResultNotRecorded { call, tool, error }.into();
                }
                Err(CommitError::Store(_)) => tokio::time::sleep(pause).await,
                Err(_) => break,
            }
            pause *= 2;
        }
        match self.load(record.id).await {
            // The commit stood although nobody was told.
            Ok(now) if now.version == ended.version && now.updated == ended.updated => {
                self.outcome_of(&now)
            }
            Ok(now) => {
                tracing::warn!(call = %now.id, state = %now.state, "a late result was refused");
                self.outcome_of(&now)
            }
            Err(failure) => failure.into(),
        }
    }
}

/// What an answer means for the call.
fn event(record: &CallRecord, answer: &Answer) -> Event {
    let Some(error) = answer.error() else { return Event::Succeeded };
    let failure = match error.kind() {
        "timeout" => Failure::TimedOut,
        _ => Failure::from(error.classified()),
    };
    // An executor that shuts down leaves what it has not begun to the next.
    let is_released = error.kind() == "shutting_down" && record.attempt < ATTEMPTS;
    Event::Errored { failure, effect: record.effect, exhausted: !is_released }
}

/// For operators: kind and cause. Where a secret is inside, the kind alone.
fn words(error: &ToolError, record: &CallRecord) -> String {
    let is_plain = matches!(record.arguments, crate::journal::Kept::Plain(_));
    match error.source().filter(|_| is_plain) {
        Some(source) => format!("{}: {}", error.kind(), chain(source)),
        None if is_plain => format!("{}: {error}", error.kind()),
        None => error.kind().to_owned(),
    }
}

/// A call that has begun. Dropped before its end is recorded, as when nobody polls it any more, it says so in
/// the journal; where that fails too, its lease runs out.
struct Unfinished(Option<Left>);

struct Left {
    store: Arc<dyn Store>,
    record: CallRecord,
    note: Note,
}

impl Unfinished {
    fn new(kept: &Kept<'_>, record: &CallRecord) -> Self {
        let note = kept.keeping.note("whoever waited for it has gone".to_owned());
        let store = Arc::clone(&kept.keeping.store);
        Self(Some(Left { store, record: record.clone(), note }))
    }

    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let (Some(left), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        runtime.spawn(left.given_up());
    }
}

impl Left {
    async fn given_up(self) {
        let mut record = self.record.clone();
        let failure = Failure::Cancelled;
        let event = Event::Errored { failure, effect: record.effect, exhausted: true };
        let Ok(entry) = record.advance(event, self.note) else { return };
        if record.state.is_answered() {
            let tool = &record.tool;
            let error = ToolError::new("cancelled", format!("the call of `{tool}` was cancelled"));
            record.answer = Some((&error).into());
        }
        let now = record.updated;
        let expects = Some(self.record.version);
        let unit = Unit {
            calls: vec![CallWrite { expects, record, entries: vec![entry] }],
            documents: Vec::new(),
        };
        if let Err(error) = self.store.commit(unit, now).await {
            tracing::warn!(call = %self.record.id, %error, "that a call was given up is not recorded");
        }
    }
}
