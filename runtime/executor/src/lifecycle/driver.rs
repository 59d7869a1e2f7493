//! The driver of the lifecycle. For each input it reads the facts that the decision needs, commits the decision,
//! notifies listeners, and returns what has to be done next. Every change of a call goes through
//! [`Lifecycle::advance`].
//!
//! - A conflict means that another writer has changed the call, its grant or its run first. The driver then reads the
//!   facts and decides again, up to a limited number of times.
//! - A [`HeldClaim`] exists from before the commit of the claim until the end of the claim is recorded, because the
//!   commit may succeed although its reply is lost.

mod held;
mod journal;
mod perform;
mod read;
mod stage;
mod stored;
mod unheard;

pub(super) use held::pauses;

use std::sync::Arc;

use self::held::HeldClaim;
use self::unheard::{Conflict, Unheard};
use super::decide::decide;
use super::notify::Notification;
use super::snapshot::Snapshot;
use super::step::{Input, Problem, Settings, Step, Then};
use super::trace::{TARGET, TracedDecision};
use crate::attempt::random;
use crate::call::{By, CallFailure, JournalConfig, RunState, Watch};
use crate::middleware::EnteredStages;
use crate::stage::FoundTool;
use toolwright_core::call::Call;
use toolwright_core::context::CallId;
use toolwright_core::footprint::Facts;
use toolwright_core::output::Answer;
use toolwright_journal::arguments::FinalArguments;
use toolwright_journal::journal::{
    CallRecord, CommitError, ParentCall, State, StoreError, Transaction,
};
use tracing::Level;

/// How many times a change is tried if other writers keep changing the call first, or the grant that covers the call.
const TRIES: u32 = 16;

/// How many decisions one input may take. Each further decision follows the reading of one more fact, so a larger
/// number means an endless loop.
const DECISIONS: u32 = 256;

/// How many times a change is written before it is given up.
const WRITES: u32 = 4;

/// How many times the end of an attempt is written while the journal is unavailable. Together, the pauses last about as
/// long as the default lease.
const RESULT_WRITES: u32 = 10;

/// The lifecycle of calls, for one run of an executor with a journal.
#[derive(Clone, Copy)]
pub(crate) struct Lifecycle<'a> {
    pub(super) run: &'a Arc<RunState>,
    pub(super) journal: &'a JournalConfig,
    /// The parent of the call, if the call has a parent that runs in this process.
    pub(super) parent: Option<ParentCall>,
}

/// The state of the driver for one call: the snapshot for decisions, and values that only this process has.
pub(super) struct Look<'a, 'c> {
    pub(super) snapshot: Snapshot,
    /// The call as its caller made it; `None` if the caller is in another process.
    pub(super) call: Option<&'c Call<'c>>,
    pub(super) watch: Option<&'c Watch<'c>>,
    pub(super) found: Option<FoundTool<'a>>,
    /// The decrypted arguments from the record of the call.
    text: Option<String>,
    /// The final arguments of the call, and the facts about the call with these arguments.
    pub(super) arguments: Option<(Facts, FinalArguments)>,
    /// The middleware that has let the call continue, with its work for the end of the attempt.
    entered: Option<EnteredStages>,
    /// The claim of the call, from the moment before the claim is committed.
    held: Option<HeldClaim>,
    /// The answer of the tool or of the middleware, or the error by which the validation refused the call.
    pub(super) answer: Option<Answer>,
    /// A commit whose reply was lost, so that it may or may not have succeeded.
    unheard: Option<Unheard>,
    /// Whether the last input led to a commit that is in the journal.
    is_committed: bool,
    settings: Settings,
}

impl<'a, 'c> Look<'a, 'c> {
    pub(super) fn record(&self) -> &CallRecord {
        &self.snapshot.record
    }

    pub(super) fn into_record(self) -> CallRecord {
        self.snapshot.record
    }

    pub(super) fn is_committed(&self) -> bool {
        self.is_committed
    }

    /// Replaces the record, and discards the facts that were read for the old record.
    fn is_now(&mut self, record: CallRecord) {
        let before = &self.snapshot.record;
        let is_claimed = record.state == State::Running && record.epoch == before.epoch;
        // A running attempt continues with the tool with which it began, even if the tool has changed since.
        let tool = self.snapshot.tool.take().filter(|_| is_claimed);
        self.snapshot = Snapshot { tool, ..Snapshot::of(record) };
        (self.found, self.text, self.arguments) = (None, None, None);
    }
}

impl<'a> Lifecycle<'a> {
    /// Makes a driver; `None` if the executor has no journal.
    pub(crate) fn of(run: &'a Arc<RunState>) -> Option<Self> {
        run.core.journal.as_ref().map(|journal| Self { run, journal, parent: None })
    }

    /// Makes all calls of this driver children of this parent. They are carried out under the parent's claim.
    pub(crate) fn of_parent(self, parent: ParentCall) -> Self {
        Self { parent: Some(parent), ..self }
    }

    /// Returns whether the executor is shutting down and begins no calls. Children of running calls still begin.
    pub(super) fn is_closed(self) -> bool {
        self.parent.is_none() && self.run.core.gate.is_closed()
    }

    /// Makes the state with which the driver works on a call of the journal.
    pub(super) fn look<'c>(
        self,
        record: CallRecord,
        call: Option<&'c Call<'c>>,
        watch: Option<&'c Watch<'c>>,
    ) -> Look<'a, 'c> {
        self.look_with(Snapshot::of(record), call, watch)
    }

    pub(super) fn look_with<'c>(
        self,
        snapshot: Snapshot,
        call: Option<&'c Call<'c>>,
        watch: Option<&'c Watch<'c>>,
    ) -> Look<'a, 'c> {
        let settings = Settings {
            owner: self.journal.owner.clone(),
            lease: self.journal.lease,
            expires_after: self.journal.expires_after,
            no_approver: self.journal.asker.is_none().then_some(self.journal.on_no_approver),
            seals: self.journal.sealing.is_some(),
            has_stages: !self.run.core.middleware.is_empty(),
            lays_failures_aside: self.journal.lays_failures_aside,
            journal: None,
            project: self.journal.project.clone(),
            acts_for: self.parent.map(|parent| parent.call),
            acts_as: self.run.delegated().map(|_| self.run.requester()),
            is_closed: false,
            guards: super::Guards::default(),
        };
        Look {
            snapshot,
            call,
            watch,
            found: None,
            text: None,
            arguments: None,
            entered: None,
            held: None,
            answer: None,
            unheard: None,
            is_committed: false,
            settings,
        }
    }

    /// Decides on an input, commits the decision, and returns what has to be done next. If the middleware of the
    /// application has to examine the call first, runs it and uses its decision as the next input.
    pub(super) async fn advance(
        self,
        look: &mut Look<'a, '_>,
        input: &mut Input,
    ) -> Result<Then, CallFailure> {
        if look.settings.journal.is_none() {
            let id = self.journal.id().await;
            let id = id.map_err(|error| not_recorded(&look.record().tool, error.into()))?;
            look.settings.journal = Some(id.to_owned());
        }
        for _ in 0..TRIES {
            match self.decide_and_commit(look, input).await? {
                Then::Stage => *input = Box::pin(self.stage(look, input)).await,
                then => return Ok(then),
            }
        }
        let record = look.record();
        Err(not_recorded(&record.tool, too_busy(record.id)))
    }

    async fn decide_and_commit(
        self,
        look: &mut Look<'a, '_>,
        input: &mut Input,
    ) -> Result<Then, CallFailure> {
        (look.is_committed, look.unheard) = (false, None);
        let (mut tries, mut writes) = (0, 0);
        let random = random();
        for _ in 0..DECISIONS {
            if tries == TRIES {
                break;
            }
            look.settings.is_closed = self.is_closed();
            let now = self.journal.now();
            let step = decide(&look.snapshot, input, &look.settings, now, random);
            if let Then::Read(need) = step.then {
                Box::pin(self.read(look, input, need)).await?;
                continue;
            }
            if tracing::enabled!(target: TARGET, Level::TRACE) && self.run.core.records_content {
                let step = TracedDecision::of(&look.snapshot, input, &look.settings, now, random);
                tracing::trace!(target: TARGET, call = %look.record().id, step = step.to_line());
            }
            let (unit, then) = match step {
                Step { commit: Some(unit), then } => (unit, then),
                Step { then: Then::Reload, .. } => {
                    let now = self.load(look.record().id).await?;
                    look.is_now(now);
                    tries += 1;
                    continue;
                }
                Step { then: Then::Fail(problem), .. } => {
                    return Err(self.failure(look.record(), problem));
                }
                Step { then, .. } => return Ok(then),
            };
            match self.commit(look, unit).await {
                Ok(()) => return Ok(then),
                Err(CommitError::Store(error)) => {
                    let is_result = matches!(input, Input::Attempted(_));
                    // If the end of an attempt cannot be recorded, it is lost together with the claim. This commit is
                    // therefore tried more often than others.
                    let is_end = is_result || matches!(input, Input::Suspended(_));
                    let limit =
                        if is_end && error.is_unavailable() { RESULT_WRITES } else { WRITES };
                    let recorded = match is_end || error.is_unavailable() {
                        true => Box::pin(self.look_for_unheard(look, &mut writes, limit)).await,
                        false => None,
                    };
                    match recorded {
                        Some(true) => return Ok(then),
                        // The call was recorded although the reply was lost, and another writer has changed the call
                        // since.
                        Some(false)
                            if look.snapshot.is_recorded
                                && matches!(input, Input::Submitted { .. }) =>
                        {
                            return Ok(Then::Reload);
                        }
                        Some(false) => continue,
                        None => return Err(unwritten(look.record(), is_result, error)),
                    }
                }
                Err(conflict) => match Box::pin(self.after(look, conflict)).await? {
                    Conflict::Stands => return Ok(then),
                    Conflict::Elsewhere => return Ok(Then::Reload),
                    Conflict::Again => {}
                },
            }
            tries += 1;
        }
        let record = look.record();
        Err(not_recorded(&record.tool, too_busy(record.id)))
    }

    async fn commit(self, look: &mut Look<'a, '_>, unit: Transaction) -> Result<(), CommitError> {
        // The notification is prepared before the commit, so that nothing delays the attempt after the claim is
        // committed.
        let notification = match self.run.core.listeners.is_empty() {
            true => None,
            false => self.notification(&look.snapshot, &look.settings, &unit).await,
        };
        let Some(record) = unit.calls.first().map(|write| write.record.clone()) else {
            return Ok(());
        };
        let is_claim = record.state == State::Running;
        if is_claim {
            let held = self.hold(look, &record);
            // If this is the second commit of the same claim, the value for the first one is released.
            if let Some(mut before) = look.held.replace(held) {
                before.let_go();
            }
        }
        let written = self.journal.store.commit(unit, record.updated).await;
        // If the reply to the first commit was lost, that commit may have succeeded. An error of the second commit then
        // says nothing about the claim.
        let is_first = look.unheard.is_none();
        if let Some(held) = look.held.as_mut().filter(|_| is_claim && (is_first || written.is_ok()))
        {
            held.note_commit(&written);
        }
        match &written {
            Ok(()) => self.take_over(look, record, notification),
            Err(CommitError::Store(_)) => look.unheard = Some(Unheard { record, notification }),
            Err(_) => {}
        }
        written
    }

    /// Updates the state of the driver after a commit.
    fn take_over(
        self,
        look: &mut Look<'a, '_>,
        record: CallRecord,
        notification: Option<Notification>,
    ) {
        if let Some(notification) = notification {
            self.notify_committed(&record, &notification);
        }
        match record.state {
            // The tool and the arguments belong to the attempt that is about to run, so they are not discarded.
            State::Running => {
                let tool = look.snapshot.tool.take();
                look.snapshot = Snapshot { tool, ..Snapshot::of(record) };
            }
            _ => look.is_now(record),
        }
        look.is_committed = true;
    }

    fn hold(self, look: &Look<'a, '_>, claimed: &CallRecord) -> HeldClaim {
        let by = self.runs(look);
        let tool = look.snapshot.tool.as_ref().and_then(|tool| tool.as_ref().ok()).cloned();
        HeldClaim::new(self.run, claimed, by, tool)
    }

    /// Returns whether a caller or a worker runs the call. For a child, it is the one that runs the parent.
    fn runs(self, look: &Look<'a, '_>) -> By {
        match self.run.lineage().and_then(|lineage| lineage.recorded.as_ref()) {
            Some(parent) if self.parent.is_some() => parent.by,
            _ if look.call.is_some() => By::Caller,
            _ => By::Worker,
        }
    }

    /// Makes the failure that the host application has to handle.
    fn failure(self, record: &CallRecord, problem: Problem) -> CallFailure {
        let (call, tool) = (record.id, record.tool.clone());
        match problem {
            Problem::NotHere(why) => CallFailure::NotHere { call, tool, why },
            Problem::NoApprover(reason) => CallFailure::NoApprover { tool, reason },
            Problem::Contradiction(why) => CallFailure::Contradiction { call, tool, why },
            Problem::Illegal(illegal) => {
                not_recorded(&tool, StoreError::invalid(illegal.to_string()).into())
            }
            Problem::NotAdvanced(why) => {
                let words = format!("call {call} cannot go on: {why}");
                not_recorded(&tool, StoreError::corrupt(words).into())
            }
        }
    }
}

fn unwritten(record: &CallRecord, is_result: bool, error: StoreError) -> CallFailure {
    let (call, tool) = (record.id, record.tool.clone());
    match is_result {
        true => CallFailure::ResultNotRecorded { call, tool, error },
        false => CallFailure::NotRecorded { tool, error },
    }
}

pub(super) fn too_busy(id: CallId) -> CommitError {
    StoreError::unavailable(format!(
        "call {id} was changed by others {TRIES} times in a row; try again"
    ))
    .into()
}

pub(super) fn not_recorded(tool: &str, error: CommitError) -> CallFailure {
    let error = match error {
        CommitError::Store(error) => error,
        other => StoreError::unavailable(other.to_string()),
    };
    CallFailure::NotRecorded { tool: tool.to_owned(), error }
}
