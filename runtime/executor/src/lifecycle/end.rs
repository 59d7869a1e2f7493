//! Ends calls that are not needed any more, and whole runs, and records which answers a run has received.
//!
//! A call outside of turns has no identity by which its caller could find it again. If the caller goes away before the
//! answer, the call must therefore not run later: the caller would make it again, and the executor would run both.

use std::collections::HashMap;
use std::sync::Arc;

use super::driver::{Lifecycle, pauses};
use super::heap::on_heap;
use super::outcome::{failed, indeterminate};
use super::step::{End, Input};
use crate::call::{CallFailure, Outcome, RunState};
use toolwright_core::context::CallId;
use toolwright_core::output::Answer;
use toolwright_journal::journal::{CallRecord, Filter, State};

/// A call whose caller waits for the answer. If this value is dropped before the answer is there, the call is
/// cancelled, unless it is running.
pub(super) struct Waits<'a> {
    run: &'a Arc<RunState>,
    id: CallId,
    is_answered: bool,
}

impl<'a> Waits<'a> {
    pub(super) fn new(run: &'a Arc<RunState>, id: CallId) -> Self {
        Self { run, id, is_answered: false }
    }

    pub(super) fn mark_answered(mut self) {
        self.is_answered = true;
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        if self.is_answered {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (run, id) = (Arc::clone(self.run), self.id);
        runtime.spawn(async move {
            if let Some(lifecycle) = Lifecycle::of(&run) {
                lifecycle.withdraw(id).await;
            }
        });
    }
}

impl Lifecycle<'_> {
    async fn withdraw(self, id: CallId) {
        let mut last = None;
        for pause in pauses() {
            let ended = match self.load(id).await {
                Ok(record) => self.end(record, End::CallerGone).await,
                Err(failure) => Err(failure),
            };
            match ended {
                Ok(_) => return,
                // Usually, such a call was dropped before it was recorded, and never appears.
                Err(CallFailure::NoSuchCall(_)) => last = None,
                Err(failure) => last = Some(failure),
            }
            tokio::time::sleep(pause).await;
        }
        if let Some(failure) = last {
            tracing::warn!(call = %id, %failure, "a call without a caller could not be withdrawn");
        }
    }

    /// Ends a call that is not running. A call that is running or has ended does not change.
    pub(super) async fn end(self, record: CallRecord, end: End) -> Result<CallRecord, CallFailure> {
        let was_waiting = record.state == State::Waiting;
        let mut look = self.look(record, None, None);
        self.advance(&mut look, &mut Input::Ended(end)).await?;
        if was_waiting && look.record().state.is_answered() {
            on_heap(|| self.end_children(look.record().id)).await;
        }
        Ok(look.into_record())
    }

    /// Ends a call that its caller does not need any more, unless the call is running. Returns the answer for the
    /// caller.
    pub(super) async fn end_with(self, id: CallId, end: End) -> Answer {
        let ended = match self.load(id).await {
            Ok(record) => self.end(record, end).await,
            Err(failure) => Err(failure),
        };
        match ended {
            Ok(record) => match self.noted_as_read_of(self.outcome_of(&record), id).await {
                Outcome::Answered(answer) => answer,
                _ => indeterminate(&record.tool, id).into(),
            },
            Err(failure) => failed(&id.to_string(), &failure).into(),
        }
    }

    /// Cancels a call that is not running, for a caller that does not wait for the call.
    pub(crate) async fn cancel(self, id: CallId) -> Outcome {
        let ended = match self.load(id).await {
            Ok(record) => self.end(record, End::GivenUp).await,
            Err(failure) => Err(failure),
        };
        let outcome = ended.map_or_else(Into::into, |record| self.outcome_of(&record));
        self.noted_as_read_of(outcome, id).await
    }

    /// Ends all recorded calls of a run that are not running, and prevents other calls of the run from being recorded.
    /// Returns how many calls were cancelled.
    pub(crate) async fn end_run(self, run: &str) -> Result<usize, CallFailure> {
        if run == self.run.id() {
            self.run.end();
        }
        self.note_end_of(run).await?;
        let filter = Filter {
            states: vec![
                State::Judging,
                State::Planned,
                State::Pending,
                State::Ready,
                State::Waiting,
                State::HandedOver,
            ],
            run: Some(run.to_owned()),
            ..Filter::default()
        };
        let (mut ended, mut failures) = (0, HashMap::new());
        loop {
            let mut found = self.all(&filter).await?.calls;
            found.retain(|record| !failures.contains_key(&record.id));
            if found.is_empty() {
                // Every call that is left has ended or could not be ended.
                return failures.into_values().next().map_or(Ok(ended), Err);
            }
            for record in found {
                let id = record.id;
                match self.end(record, End::RunEnded).await {
                    Ok(now) => ended += usize::from(now.state == State::Cancelled),
                    Err(failure) => _ = failures.insert(id, failure),
                }
            }
        }
    }

    /// Records that the run has received the answer of a call.
    pub(crate) async fn acknowledge(self, id: CallId) -> Result<(), CallFailure> {
        let record = self.load(id).await?;
        let tool = record.tool;
        if record.answer.is_none() {
            return Err(CallFailure::NotAnswered { call: id, tool, state: record.state });
        }
        if record.delivered {
            return Ok(());
        }
        // A planned call runs after it is answered. Only the delivery is written, so that the owner of the call does
        // not lose its claim.
        self.note_delivery_of(id, &tool).await
    }
}
