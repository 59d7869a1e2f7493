//! Calls of an executor with a journal. What is durable is written before anything acts on it.
//!
//! - `submit`: a call arrives, is evaluated, and is recorded if it may act or has to wait; `resubmitted`: the journal has
//!   it already.
//! - `ask`: a person is asked; the decision goes to the journal before it counts; `approver_failed`: the approver fails.
//! - `await_answer`: a call of a turn is waited for until it has its answer.
//! - `claim`: a call that may run is evaluated once more, and claimed; `evaluate_again`: one that has to be evaluated again
//!   is.
//! - `queue`: a call is put into a plan.
//! - `find_approval`: the decision or the grant that covers a call; `verify_decision`: the decisions in its history;
//!   `tool_and_run`: whether its tool and its run are available here; `stored_texts`, `stored_answers`: encrypted texts.
//! - `perform`: a claimed call runs, its lease renewed; result and final state are committed together.
//! - `retried`: one that failed and may be tried again waits for its next attempt.
//! - `notify`: listeners are notified of what was committed.
//! - `claimed`, `unfinished`, `withdrawn`: the task that runs a call is dropped, or the caller that waited for it.
//! - `sweep`, `expire_due`, `follow_up`: what time or a crash has left behind; `reconcile`: a tool finds out what happened.
//! - `end_run`: a run ends; `end_unbegun`: a call ends without running; `refused`: the errors of a call that is not run.

mod approver_failed;
mod ask;
mod await_answer;
mod claim;
mod claimed;
mod end_run;
mod end_unbegun;
mod evaluate_again;
mod expire_due;
mod find_approval;
mod follow_up;
mod notify;
mod perform;
mod queue;
mod reconcile;
mod refused;
mod resubmitted;
mod retried;
mod stored_answers;
mod stored_texts;
mod submit;
mod sweep;
mod tool_and_run;
mod unfinished;
mod verify_decision;
mod withdrawn;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, select};
use tracing::{Instrument as _, Span};

use self::withdrawn::Waits;
use super::RunState;
use super::journal_config::JournalConfig;
use super::outcome::{CallFailure, Outcome, Suspended};
use crate::stage::{self, Found, given_up_by, record};
use toolwright_core::call::Call;
use toolwright_core::context::CallId;
use toolwright_core::error::{Class, ToolError};
use toolwright_core::output::Answer;
use toolwright_core::tool::Definition;
use toolwright_journal::approval::{ApprovalRequest, Decision, Unverified};
use toolwright_journal::journal::{
    CallRecord, CallSlot, CallWrite, CommitError, DocumentWrite, Entry, State, StoreError,
    Transaction,
};
use toolwright_policy::policy;

pub(crate) use perform::lapsed;
pub use sweep::Swept;

/// How often somebody who waits looks into the journal when nothing tells of a change.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// How often a change is tried again when others are faster.
const TRIES: usize = 16;

/// When people are asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asking {
    /// Before the call's outcome is told.
    Now,
    /// When its siblings are answered.
    Later,
}

/// A run and the journal of its executor.
#[derive(Clone, Copy)]
pub(crate) struct JournaledCall<'a> {
    run: &'a Arc<RunState>,
    journal: &'a JournalConfig,
    /// What the policy said, where a call is being evaluated again.
    evaluated: Option<&'a policy::PolicyDecision>,
}

impl<'a> JournaledCall<'a> {
    /// Nothing without a journal.
    pub(crate) fn of(run: &'a Arc<RunState>) -> Option<Self> {
        run.core.journal.as_ref().map(|journal| Self { run, journal, evaluated: None })
    }

    /// The one answer of a call outside of turns: where a person has to decide, it waits for them.
    pub(crate) async fn answer(self, call: &Call<'_>) -> Answer {
        let id = CallId::new();
        let waits = Waits::new(self.run, id);
        let answer = self.answered(id, call).await;
        waits.answered();
        answer
    }

    async fn answered(self, id: CallId, call: &Call<'_>) -> Answer {
        let mut outcome = self.outcome(id, call, self.place_outside_turns(), Asking::Now).await;
        loop {
            let waits = match outcome {
                Outcome::Answered(answer) => return answer,
                Outcome::Failed(failure) => return failed(call.name(), &failure).into(),
                Outcome::Suspended(suspended) => suspended,
            };
            if waits.state == State::Indeterminate {
                return indeterminate(call.name(), waits.call).into();
            }
            // Whoever made the call gets one answer, so nothing of it may happen later.
            if self.is_closed() {
                let error = match waits.state {
                    // It may have begun before it was released.
                    State::Ready => stage::cancelled(call.name()),
                    _ => stage::shutting_down(),
                };
                let why = "its caller was shutting down";
                return Box::pin(self.end_with(waits.call, error, why)).await;
            }
            if stage::is_given_up(self.run, call) {
                let error = stage::cancelled(call.name());
                let why = "given up by its caller";
                return Box::pin(self.end_with(waits.call, error, why)).await;
            }
            outcome = Box::pin(self.wait(waits.call, Some(call))).await;
        }
    }

    /// A call under the eyes of listeners and tracing.
    pub(crate) async fn outcome(
        self,
        id: CallId,
        call: &Call<'_>,
        place: CallSlot,
        asking: Asking,
    ) -> Outcome {
        // A drain waits until the end of the call has been told as well.
        let _telling = self.run.core.telling.enter_at_once();
        let found = stage::seek(self.run, call).await;
        let definition = found.as_ref().ok().map(Found::definition);
        let span = record::span(self.run, call, definition);
        let watch = record::Watch::follow(self.run, call, || id);
        let (outcome, found) = match found {
            Ok(found) => {
                let plan = found.plan();
                let submitted = async {
                    let outcome = self.submit(id, plan, call, place, watch.as_ref(), asking).await;
                    self.retried(outcome, call, watch.as_ref()).await
                };
                (submitted.instrument(span.clone()).await, Some(found))
            }
            Err(error) => (Outcome::Answered(error.into()), None),
        };
        self.notify_outcome(watch, &span, call, found.as_ref().map(Found::definition), &outcome);
        outcome
    }

    /// Tells what became of a call, as far as it came here.
    fn notify_outcome(
        self,
        watch: Option<record::Watch<'_>>,
        span: &Span,
        call: &Call<'_>,
        definition: Option<&Definition>,
        outcome: &Outcome,
    ) {
        if let Outcome::Answered(answer) = outcome {
            record::conclude(span, self.run, call, definition, answer);
        }
        match (watch, outcome) {
            (Some(watch), Outcome::Answered(answer)) => watch.end(answer),
            (Some(watch), Outcome::Suspended(suspended)) => watch.suspended(suspended.state),
            // Dropped, it says that the call was abandoned.
            _ => {}
        }
    }

    fn place_outside_turns(self) -> CallSlot {
        CallSlot { run: self.run.id().to_owned(), turn: None, index: 0 }
    }

    /// Waits until a call is answered, or until only a person can find out what became of it. Who waits also
    /// does what is to be done for this call.
    pub(crate) async fn wait(self, id: CallId, call: Option<&Call<'_>>) -> Outcome {
        loop {
            // Asked for before the look, so that no change is missed.
            let changed = self.journal.store.changed();
            let record = match self.load(id).await {
                Ok(record) => record,
                Err(failure) => return failure.into(),
            };
            if record.answer.is_some() {
                self.notify_found(&record).await;
                return self.outcome_of(&record);
            }
            let outcome = match self.expire_due(record.clone()).await {
                Ok(current) if current.version != record.version => continue,
                Ok(current) if self.needs_notification(&current) => {
                    self.notify(current, call, None).await
                }
                Ok(current) => self.go_on(current, call, None).await,
                Err(failure) => return failure.into(),
            };
            match &outcome {
                Outcome::Suspended(it) if it.state != State::Indeterminate && !self.is_closed() => {
                }
                _ => return outcome,
            }
            let pause = pin!(tokio::time::timeout(self.until_due(&record), changed));
            if let Either::Right(_) = select(pause, pin!(given_up_by(self.run, call))).await {
                return outcome;
            }
        }
    }

    /// Until somebody has to look at the call, but no longer than a moment.
    fn until_due(self, record: &CallRecord) -> Duration {
        let due = record.due().map(|due| self.journal.now().duration_until(due));
        due.and_then(|due| Duration::try_from(due).ok())
            .map_or(LOOK_AGAIN, |due| due.min(LOOK_AGAIN))
    }

    async fn load(self, id: CallId) -> Result<CallRecord, CallFailure> {
        match self.journal.store.get(id).await {
            Ok(Some(record)) => Ok(record),
            Ok(None) => Err(CallFailure::NoSuchCall(id)),
            Err(error) => Err(CallFailure::NotRecorded { tool: id.to_string(), error }),
        }
    }

    /// What is to be told of a call as it stands.
    pub(crate) fn outcome_of(self, record: &CallRecord) -> Outcome {
        if let Some(answer) = &record.answer {
            if let Err(why) = self.vouched(record) {
                let (call, tool) = (record.id, record.tool.clone());
                return CallFailure::NotVouched { call, tool, why }.into();
            }
            return match self.revealed(record, answer) {
                Ok(answer) => Outcome::Answered(answer),
                Err(error) => CallFailure::NotRecorded { tool: record.tool.clone(), error }.into(),
            };
        }
        let is_pending = record.state == State::Pending;
        let request = is_pending.then(|| self.request(record)).flatten().map(Box::new);
        Outcome::Suspended(Suspended { call: record.id, state: record.state, request })
    }

    /// Whether a result that a person supplied is of somebody whose key counts.
    fn vouched(self, record: &CallRecord) -> Result<(), Unverified> {
        // Of what comes after the answer its run is told nothing.
        let Some(signed) = record.decision.as_ref().filter(|_| record.result.is_none()) else {
            return Ok(());
        };
        match signed.statement().map(|statement| statement.verdict) {
            Ok(Decision::Happened { .. }) => self.journal.trusted.verify(signed).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// What a person is asked about a call.
    fn request(self, record: &CallRecord) -> Option<ApprovalRequest> {
        let title = || stage::find(self.run, &record.tool).ok()?.definition().title.clone();
        ApprovalRequest::of(record).map(|request| ApprovalRequest { title: title(), ..request })
    }

    async fn write(
        self,
        expects: Option<u64>,
        record: &CallRecord,
        entries: Vec<Entry>,
    ) -> Result<(), CommitError> {
        self.write_with(expects, record, entries, Vec::new()).await
    }

    async fn write_with(
        self,
        expects: Option<u64>,
        record: &CallRecord,
        entries: Vec<Entry>,
        documents: Vec<DocumentWrite>,
    ) -> Result<(), CommitError> {
        // Looked up before the commit, so that nothing waits between a claim and its attempt.
        let notification = self.notification(expects, record, &entries).await;
        let call = CallWrite { expects, record: record.clone(), entries };
        let unit = Transaction { calls: vec![call], documents };
        self.journal.store.commit(unit, record.updated).await?;
        if let Some(notification) = notification {
            self.notify_committed(record, &notification);
        }
        Ok(())
    }
}

fn too_busy(id: CallId) -> CommitError {
    StoreError::unavailable(format!(
        "call {id} was changed by others {TRIES} times in a row; try again"
    ))
    .into()
}

fn not_recorded(tool: &str, error: CommitError) -> CallFailure {
    let error = match error {
        CommitError::Store(error) => error,
        other => StoreError::unavailable(other.to_string()),
    };
    CallFailure::NotRecorded { tool: tool.to_owned(), error }
}

/// What a model reads where its host cannot be told otherwise.
fn failed(tool: &str, failure: &CallFailure) -> ToolError {
    let error = match failure {
        CallFailure::NoApprover { .. } => ToolError::new("approval_required", failure.to_string())
            .class(Class::NotStarted { retry_after: None })
            .hint("go on without this call, or tell the user that it needs approval"),
        CallFailure::ResultNotRecorded { call, .. } => indeterminate(tool, *call),
        // A commit can stand although an error was heard: the call may be in the journal.
        _ => ToolError::new("journal_failed", format!("`{tool}` could not be run safely"))
            .class(Class::Unknown)
            .hint("do not repeat it; go on without this call"),
    };
    error.caused_by(failure.to_string())
}

fn indeterminate(tool: &str, call: CallId) -> ToolError {
    ToolError::new(
        "indeterminate",
        format!("`{tool}` was begun as call {call}, and it is unknown whether it happened"),
    )
    .class(Class::Unknown)
    .hint("do not repeat it; a person has to find out")
}
