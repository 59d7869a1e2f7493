//! Submits a call: makes its arguments final, decides whether it may run, and records it if it may change something or
//! has to wait.
//!
//! If a turn is made again, for instance after a crash, a call of it may be in the journal already. The recorded call
//! then continues, and no second call is made.
//!
//! Most calls are new and run at once. Other cases are boxed, so that the future of a call stays small.

use tracing::Instrument as _;

use super::driver::Lifecycle;
use super::end::Waits;
use super::heap::on_heap;
use super::outcome::{failed, indeterminate};
use super::snapshot::Snapshot;
use super::step::{End, Input, Then};
use crate::attempt::Stages;
use crate::call::{CallFailure, Claim, InTurn, Outcome, Plan, Slot, Watch, record};
use crate::catalog::Form;
use crate::stage;
use crate::stage::FoundTool;
use toolwright_core::call::Call;
use toolwright_core::context::{CallId, Identity};
use toolwright_core::footprint::Facts;
use toolwright_core::output::Answer;
use toolwright_core::tool::{DeclaredApproval, Effect, Repair};
use toolwright_journal::arguments::{DigestMatch, FinalArguments};
use toolwright_journal::journal::{CallRecord, CallSlot, Requester, State, StoreError, StoredText};
use toolwright_policy::policy::PolicyDecision;

/// When people are asked to decide on a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asking {
    /// People are asked before the call's outcome is reported.
    Now,
    /// People are asked when no other call of the turn is running any more.
    Later,
}

impl<'a> Lifecycle<'a> {
    /// Answers a call outside of turns. If a person has to decide, waits for the decision.
    pub(crate) async fn answer(self, call: &Call<'_>) -> Answer {
        let id = CallId::new();
        let waits = Waits::new(self.run, id);
        let answer = on_heap(|| self.answer_with_id(id, call)).await;
        waits.mark_answered();
        answer
    }

    async fn answer_with_id(self, id: CallId, call: &Call<'_>) -> Answer {
        let mut outcome = self
            .outcome(
                id,
                call,
                CallSlot { run: self.run.id().to_owned(), turn: None, index: 0 },
                Asking::Now,
                None,
            )
            .await;
        loop {
            let waits = match outcome {
                Outcome::Answered(answer) => return answer,
                Outcome::Failed(failure) => return failed(call.name(), &failure).into(),
                Outcome::Suspended(suspended) => suspended,
            };
            if waits.state == State::Indeterminate {
                return indeterminate(call.name(), waits.call).into();
            }
            // This is the only answer that the caller gets, so the call must not run later.
            if self.is_closed() {
                return on_heap(|| self.end_with(waits.call, End::ShuttingDown)).await;
            }
            if stage::is_given_up(self.run, call) {
                return on_heap(|| self.end_with(waits.call, End::GivenUp)).await;
            }
            outcome = on_heap(|| self.wait(waits.call, Some(call))).await;
        }
    }

    /// Submits a call with listeners and tracing, and returns its outcome.
    pub(crate) async fn outcome(
        self,
        id: CallId,
        call: &Call<'_>,
        place: CallSlot,
        asking: Asking,
        in_turn: Option<&InTurn>,
    ) -> Outcome {
        // Keeps a drain waiting until listeners have received the last event of this call.
        let _telling = self.run.core.telling.enter_at_once();
        if let Err(failure) = self.record_read(call.name()).await {
            return failure.into();
        }
        let found = stage::seek(self.run, call).await;
        let definition = found.as_ref().ok().map(FoundTool::definition);
        let span = record::span(self.run, call, definition);
        let watch = record::Watch::follow(self.run, call, || id);
        if let (Some(watch), Some(waited)) = (&watch, in_turn.and_then(|it| it.waited)) {
            watch.report_wait(waited);
        }
        if let (Some(watch), Some(definition)) = (&watch, definition) {
            watch.is_for(definition);
        }
        let (outcome, found) = match found {
            Ok(found) => {
                let submitted = async {
                    let found = found.clone();
                    let outcome =
                        on_heap(|| self.submit(id, found, call, place, watch.as_ref(), asking))
                            .await;
                    let outcome = self.retry_soon(outcome, call, watch.as_ref()).await;
                    self.asked_for_children(outcome, call, asking).await
                };
                (submitted.instrument(span.clone()).await, Some(found))
            }
            Err(error) => {
                let known = on_heap(|| self.known_without_tool(&place, call, watch.as_ref())).await;
                (known.unwrap_or_else(|| Outcome::Answered(error.into())), None)
            }
        };
        self.notify_outcome(
            watch,
            &span,
            call,
            found.as_ref().map(FoundTool::definition),
            &outcome,
        );
        self.noted_as_read(outcome, call.name()).await
    }

    async fn submit(
        self,
        id: CallId,
        found: FoundTool<'a>,
        call: &Call<'_>,
        place: CallSlot,
        watch: Option<&Watch<'_>>,
        asking: Asking,
    ) -> Outcome {
        let plan = found.plan();
        if place.turn.is_some() || self.is_made_again() {
            match on_heap(|| self.find_known(&place, call.name())).await {
                Ok(Some(known)) => return on_heap(|| self.resubmit(known, call, watch)).await,
                Ok(None) => {}
                Err(failure) => return failure.into(),
            }
        }
        let slot = Slot::of(&place);
        let never_asks = plan.entry.definition.approval == DeclaredApproval::Never
            && plan.repair != Repair::Lenient;
        // A tool that makes calls may change something through its children, even if the tool itself only reads.
        let is_unrecorded = plan.entry.definition.effect == Effect::Read
            && !self.journal.reads
            && !plan.makes_calls
            && !plan.entry.definition.is_external;
        let is_open = self.run.is_open();
        if is_unrecorded && never_asks && plan.asks_nobody() && is_open {
            let stages = Stages::new(self.run, plan, call, watch).at(slot.as_ref());
            let identity = Identity::of(id).at(slot.as_ref().map(Slot::pair));
            return on_heap(|| stages.with_own(Some(identity))).await.into();
        }
        let (mut facts, settled) = match self.settle(plan, call, (call.arguments(), Form::Sent), id)
        {
            Ok(settled) => settled,
            Err(error) => return Outcome::Answered(error.into()),
        };
        if let (Some(watch), Some(repairs)) = (watch, facts.repairs()) {
            watch.report_repairs(repairs);
        }
        let mut refused = None;
        if plan.entry.spec.validate.is_some() {
            let identity = Identity::of(id).at(slot.as_ref().map(Slot::pair));
            let (arguments, identity) = (settled.arguments(), Some(identity));
            let checked = stage::validate(self.run, plan, call, arguments, identity);
            if let Err(error) = Box::pin(checked).await {
                // A child or a call of a turn must get the same answer when it is made again, so the refusal is
                // recorded.
                let is_known_again = self.parent.is_some() || place.turn.is_some();
                let is_final = is_known_again && !stage::is_given_up(self.run, call);
                if is_unrecorded || !is_final {
                    return Outcome::Answered(error.into());
                }
                refused = Some(Answer::from(error));
            }
        }
        if plan.entry.spec.asks.is_some() && refused.is_none() {
            let identity = Some(Identity::of(id).at(slot.as_ref().map(Slot::pair)));
            on_heap(|| stage::ask(self.run, plan, call, &settled, identity, &mut facts)).await;
        }
        let is_allowed = match is_unrecorded {
            true => match on_heap(|| self.sources(self.run.id(), call.name())).await {
                Ok(sources) => {
                    let (user, sources) = (self.run.user(), sources.as_deref());
                    self.policy(plan, (&facts, &settled), user, sources) == PolicyDecision::Allow
                }
                Err(failure) => return failure.into(),
            },
            false => false,
        };
        if is_allowed {
            if let Some(watch) = watch.filter(|_| !is_open) {
                watch.report_decision(&PolicyDecision::Allow);
            }
            let stages = Stages::new(self.run, plan, call, watch).at(slot.as_ref());
            let claim = Claim::unbounded();
            let stages = stages.claimed(settled.arguments(), &claim);
            let identity = Identity::of(id).at(slot.as_ref().map(Slot::pair));
            return on_heap(|| stages.with_own(Some(identity))).await.into();
        }
        let journal = match self.journal.id().await {
            Ok(journal) => journal,
            Err(error) => {
                return CallFailure::NotRecorded { tool: call.name().to_owned(), error }.into();
            }
        };
        let record = match self.open_record(id, plan, call, place, (&facts, &settled), journal) {
            Ok(record) => record,
            Err(failure) => return failure.into(),
        };
        if let Some(watch) = watch {
            watch.set_final_arguments(&record);
        }
        let tool = self.tool_now(plan, Some(call));
        let mut look = self.look_with(Snapshot::new(record, tool), Some(call), watch);
        (look.found, look.arguments) = (Some(found), Some((facts, settled)));
        let reason = call.reason().map(ToOwned::to_owned);
        let stored = refused.as_ref().map(|answer| self.store_answer(look.record(), answer));
        look.answer = refused;
        let mut input = Input::Submitted { reason, refused: stored };
        match on_heap(|| self.advance(&mut look, &mut input)).await {
            Err(failure) => failure.into(),
            Ok(Then::Perform) => on_heap(|| self.perform(&mut look)).await,
            Ok(Then::Notify) => {
                self.announce(look.record(), watch);
                match asking {
                    Asking::Now => {
                        on_heap(|| self.notify(look.into_record(), Some(call), watch)).await
                    }
                    Asking::Later => self.outcome_of(look.record()),
                }
            }
            // The journal already has a record of this call.
            Ok(Then::Reload) => on_heap(|| self.resubmit(look.into_record(), call, watch)).await,
            Ok(Then::Answer(refusal)) => {
                // Another process may just have recorded this call, and the refusal may be due to that record.
                match on_heap(|| self.of_turn(look.record())).await {
                    Ok(Some(known)) => on_heap(|| self.resubmit(known, call, watch)).await,
                    Ok(None) => Outcome::Answered(refusal.error(call.name(), self.run.id()).into()),
                    Err(failure) => failure.into(),
                }
            }
            Ok(_) => self.report_outcome(&mut look),
        }
    }

    /// Returns the outcome of a recorded call whose tool is not registered in this process; `None` if the journal does
    /// not contain the call. A recorded call is never answered with `unknown_tool`. If the call has yet to run, it is
    /// left to a process that has its tool.
    async fn known_without_tool(
        self,
        place: &CallSlot,
        call: &Call<'_>,
        watch: Option<&Watch<'_>>,
    ) -> Option<Outcome> {
        let known = match self.find_known(place, call.name()).await {
            Ok(known) => known?,
            Err(failure) => return Some(failure.into()),
        };
        if let Some(watch) = watch {
            watch.is_of(&known);
        }
        if matches!(known.state, State::Judging | State::Ready | State::Running) {
            return Some(on_heap(|| self.resubmit(known, call, watch)).await);
        }
        Some(match on_heap(|| self.expire_due(known)).await {
            Ok(record) => self.outcome_of(&record),
            Err(failure) => failure.into(),
        })
    }

    /// Finds the recorded call in the slot of this record.
    async fn of_turn(self, record: &CallRecord) -> Result<Option<CallRecord>, CallFailure> {
        self.find_known(&record.place, &record.tool).await
    }

    /// Makes the record of a call that has not been evaluated yet.
    fn open_record(
        self,
        id: CallId,
        plan: &Plan,
        call: &Call<'_>,
        place: CallSlot,
        (facts, settled): (&Facts, &FinalArguments),
        journal: &str,
    ) -> Result<CallRecord, CallFailure> {
        let now = self.journal.now();
        let user = self.run.user().map(ToOwned::to_owned);
        let session = self.run.session().map(ToOwned::to_owned);
        let requester = Requester { agent: self.run.requester(), user, session };
        let keep = |text: &str, field: &str| self.store_text(settled, text, id, field);
        let failed = |error: String| CallFailure::NotRecorded {
            tool: call.name().to_owned(),
            error: StoreError::invalid(error),
        };
        let raw = keep(call.arguments(), "raw").map_err(failed)?;
        let arguments = keep(settled.arguments(), "arguments").map_err(failed)?;
        let mut record =
            CallRecord::draft(id, place, plan.entry.name.to_string(), now).with(|it| {
                it.provider_id = call.id.as_deref().map(ToOwned::to_owned);
                it.fingerprint = plan.entry.fingerprint().to_owned();
                it.danger = facts.danger;
                it.effect = plan.entry.definition.effect;
                it.secrets = plan.entry.definition.secrets().map(ToOwned::to_owned).collect();
                it.raw = raw;
                it.arguments = arguments;
                it.shown = settled.shown().to_owned();
                it.repairs = facts.repairs().map(|it| it.changes().to_vec()).unwrap_or_default();
                it.requester = requester;
                it.journal = Some(journal.to_owned());
                it.project.clone_from(&self.journal.project);
                it.trace = self.journal.trace();
                it.parent = self.parent;
                it.may_call = self.may_call(plan);
            });
        record.digest = self.digest(&record, &record.fingerprint, settled);
        Ok(record)
    }

    /// Continues a recorded call that is submitted again, for instance after a crash.
    pub(super) async fn resubmit(
        self,
        known: CallRecord,
        call: &Call<'_>,
        watch: Option<&Watch<'_>>,
    ) -> Outcome {
        let is_same = known.tool == call.name() && self.is_same(&known, call);
        if !is_same {
            let (call, tool) = (known.id, known.tool);
            return match known.parent {
                Some(parent) => CallFailure::OtherChild { parent, call, tool }.into(),
                None => CallFailure::PlaceTaken { place: known.place, call, tool }.into(),
            };
        }
        // The call has its answer, so it does not continue. Only a parent receives a result that came after the answer.
        if known.answer.is_some() {
            return self.outcome_of(&self.as_known_now(known));
        }
        match on_heap(|| self.expire_due(known)).await {
            // The caller has given up the call, and its own code ends the call.
            Ok(record) if stage::is_given_up(self.run, call) => self.outcome_of(&record),
            Ok(record) => on_heap(|| self.continue_call(record, Some(call), watch)).await,
            Err(failure) => failure.into(),
        }
    }

    /// Checks a turn as a whole. If the journal has a different call at one of the turn's slots, no call of the turn
    /// runs, and this method returns the failure for each call.
    pub(crate) async fn find_contradiction(
        self,
        places: &[CallSlot],
        calls: &[&Call<'_>],
    ) -> Option<Vec<Outcome>> {
        let mut failure = None;
        for (place, call) in places.iter().zip(calls) {
            match self.at(place, call.name()).await {
                Ok(Some(known)) if known.tool != call.name() || !self.is_same(&known, call) => {
                    let (place, call, tool) = (known.place, known.id, known.tool);
                    failure = Some(CallFailure::PlaceTaken { place, call, tool });
                }
                Ok(_) => continue,
                // This call cannot be read and will fail, but the other calls may run.
                Err(CallFailure::NotRecorded { error, .. }) if error.is_of_a_row() => continue,
                Err(failed) => failure = Some(failed),
            }
            break;
        }
        let failure = failure?;
        Some(calls.iter().map(|_| failure.clone().into()).collect())
    }

    /// Returns whether a recorded call was made with the arguments of this call. If its arguments contained a secret
    /// and were not stored, only the process that made the recorded call can find that out.
    fn is_same(self, known: &CallRecord, call: &Call<'_>) -> bool {
        match &known.raw {
            StoredText::Omitted => {
                let Ok(found) = self.tool(known) else { return false };
                let settled =
                    self.settle(found.plan(), call, (call.arguments(), Form::Sent), known.id);
                settled.is_ok_and(|(_, settled)| {
                    let found = self.compare_digest(known, &known.fingerprint, &settled);
                    found != DigestMatch::Other
                })
            }
            kept => self.reveal(kept, known.id, "raw").is_ok_and(|raw| raw == call.arguments()),
        }
    }
}
