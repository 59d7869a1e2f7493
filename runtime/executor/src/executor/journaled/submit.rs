//! A call arrives: its arguments are settled, it is evaluated, and recorded if it may act or has to wait.
//!
//! Most calls are new and run at once: what only others need is boxed, so that the future of a call stays small.

use std::sync::Arc;

use super::super::claim::Claim;
use super::super::evaluate::{Case, Evaluation, Wanted, evaluate};
use super::super::outcome::{CallFailure, Outcome};
use super::super::{About, Plan, calling::Stages};
use super::claimed::Claimed;
use super::queue::PLANNED;
use super::refused::{cannot_be_planned, no_approver, refused};
use super::tool_and_run::{ended_key, not_ended};
use super::unfinished::By;
use super::{Asking, JournaledCall, TRIES, not_recorded, too_busy};
use crate::executor::own::own_of;
use crate::stage::{self, record::Watch};
use toolwright_core::call::Call;
use toolwright_core::capability::Scope;
use toolwright_core::context::{CallId, Identity};
use toolwright_core::error::{Class, ToolError};
use toolwright_core::footprint::Facts;
use toolwright_core::tool::{DeclaredApproval, Effect, Repair};
use toolwright_journal::arguments::{FinalArguments, digest};
use toolwright_journal::journal::{
    CallRecord, CallSlot, CommitError, Filter, Page, Requester, State, Transition,
};
use toolwright_policy::policy::PolicyDecision;

/// A call whose arguments are final.
pub(super) struct Evaluated {
    pub(super) facts: Facts,
    pub(super) settled: FinalArguments,
}

/// What is known of a call when it is evaluated.
pub(super) struct Known {
    pub(super) case: Case,
    /// A grant that covers it.
    pub(super) grant: Option<super::find_approval::Use>,
    /// Why it is refused or asked about.
    pub(super) reason: String,
    /// What the policy said.
    pub(super) verdict: PolicyDecision,
}

impl JournaledCall<'_> {
    pub(super) async fn submit(
        self,
        id: CallId,
        plan: &Plan,
        call: &Call<'_>,
        place: CallSlot,
        watch: Option<&Watch<'_>>,
        asking: Asking,
    ) -> Outcome {
        if place.turn.is_some() {
            match self.journal.store.at(&place).await {
                Ok(Some(known)) => return Box::pin(self.resubmitted(known, call, watch)).await,
                Ok(None) => {}
                Err(error) => return not_recorded(call.name(), error.into()).into(),
            }
        }
        let never_asks = plan.entry.definition.approval == DeclaredApproval::Never
            && plan.repair != Repair::Lenient;
        let is_unrecorded = plan.entry.definition.effect == Effect::Read && !self.journal.reads;
        let is_open = self.run.core.rules.is_open();
        if is_unrecorded && never_asks && plan.asks_nobody() && is_open {
            let stages = Stages::new(self.run, plan, call, watch);
            return stages.with_own(Some(Identity::of(id))).await.into();
        }
        let evaluated = match self.settle(plan, call, id) {
            Ok(evaluated) => evaluated,
            Err(error) => return Outcome::Answered(error.into()),
        };
        if let (Some(watch), Some(repairs)) = (watch, evaluated.facts.repairs()) {
            watch.repaired(repairs);
        }
        if is_unrecorded
            && self.verdict(plan, &evaluated, self.run.user(), false) == PolicyDecision::Allow
        {
            if let Some(watch) = watch.filter(|_| !is_open) {
                watch.judged(&PolicyDecision::Allow);
            }
            let stages = Stages::new(self.run, plan, call, watch);
            let arguments = evaluated.settled.arguments();
            let claim = Claim::unbounded();
            return stages.claimed(arguments, &claim).with_own(Some(Identity::of(id))).await.into();
        }
        let record = match self.opened(id, plan, call, place, &evaluated) {
            Ok(record) => record,
            Err(failure) => return failure.into(),
        };
        if let Some(watch) = watch {
            watch.settled(&record.digest);
        }
        self.decide(&record, plan, call, &evaluated, watch, asking).await
    }

    /// The arguments as they will run.
    pub(super) fn settle(
        self,
        plan: &Plan,
        call: &Call<'_>,
        id: CallId,
    ) -> Result<Evaluated, ToolError> {
        self.settle_text(plan, call, call.arguments(), id)
    }

    pub(super) fn settle_text(
        self,
        plan: &Plan,
        call: &Call<'_>,
        arguments: &str,
        id: CallId,
    ) -> Result<Evaluated, ToolError> {
        let own = own_of(self.run, plan, call, Some(Identity::of(id)))?;
        let scope = Scope::new(&self.run.values, &plan.wiring, call, own.as_ref());
        let rules = &self.run.core.rules;
        let settle =
            std::panic::AssertUnwindSafe(|| stage::finalize(rules, plan, scope, arguments));
        let settled = std::panic::catch_unwind(settle)
            .unwrap_or_else(|panic| Err(stage::panicked(call.name(), panic)));
        let is_computed = plan.entry.definition.approval == DeclaredApproval::Computed;
        settled.map(|(mut facts, settled)| {
            if let (Some(reason), true, true) =
                (&mut facts.approval, is_computed, settled.has_secrets())
            {
                *reason = "its tool asks, for a reason that may repeat a secret".into();
            }
            Evaluated { facts, settled }
        })
    }

    /// The record of a call that is about to be evaluated for the first time.
    fn opened(
        self,
        id: CallId,
        plan: &Plan,
        call: &Call<'_>,
        place: CallSlot,
        evaluated: &Evaluated,
    ) -> Result<Arc<CallRecord>, CallFailure> {
        let now = self.journal.now();
        let user = self.run.user().map(ToOwned::to_owned);
        let session = self.run.session().map(ToOwned::to_owned);
        let requester = Requester { agent: format!("agent:{}", self.run.id()), user, session };
        let keep = |text: &str, field: &str| self.store_text(&evaluated.settled, text, id, field);
        let failed = |error: String| CallFailure::NotRecorded {
            tool: call.name().to_owned(),
            error: toolwright_journal::journal::StoreError::invalid(error),
        };
        let raw = keep(call.arguments(), "raw").map_err(failed)?;
        let arguments = keep(evaluated.settled.arguments(), "arguments").map_err(failed)?;
        let mut record =
            CallRecord::draft(id, place, plan.entry.name.to_string(), now).with(|it| {
                it.provider_id = call.id.as_deref().map(ToOwned::to_owned);
                it.fingerprint = plan.entry.fingerprint().to_owned();
                it.danger = evaluated.facts.danger;
                it.effect = plan.entry.definition.effect;
                it.secrets = plan.entry.definition.secrets().map(ToOwned::to_owned).collect();
                it.raw = raw;
                it.arguments = arguments;
                it.shown = evaluated.settled.shown().to_owned();
                it.repairs =
                    evaluated.facts.repairs().map(|it| it.changes().to_vec()).unwrap_or_default();
                it.requester = requester;
                it.trace = self.journal.trace();
            });
        record.digest = self.digest(&record, &evaluated.settled);
        Ok(Arc::new(record))
    }

    /// What a decision is bound to.
    pub(super) fn digest(self, record: &CallRecord, settled: &FinalArguments) -> String {
        let principal = record.requester.user.as_deref().unwrap_or_default();
        // Without a key of its own, a call with a secret cannot wait; nobody has to find its digest again.
        let key = self.journal.sealing.as_ref().or(self.journal.passing.as_ref());
        let key = key.filter(|_| settled.has_secrets());
        digest(&record.tool, &record.fingerprint, settled.canonical(), principal, key)
    }

    /// Evaluates a call that stands at `judging` and is not recorded yet, and does what follows.
    async fn decide(
        self,
        opened: &Arc<CallRecord>,
        plan: &Plan,
        call: &Call<'_>,
        evaluated: &Evaluated,
        watch: Option<&Watch<'_>>,
        asking: Asking,
    ) -> Outcome {
        if self.is_closed() {
            return Outcome::Answered(stage::shutting_down().into());
        }
        if let Some(unavailable) = plan.unavailable() {
            return Outcome::Answered(unavailable.into());
        }
        if self.run.has_ended() {
            return self.run_is_over();
        }
        for _ in 0..TRIES {
            let known = match self.known(opened, plan, evaluated).await {
                Ok(known) => known,
                Err(failure) => return failure.into(),
            };
            if let Some(watch) = watch.filter(|_| !self.run.core.rules.is_open()) {
                watch.judged(&known.verdict);
            }
            let mut record = Arc::clone(opened);
            let changed = Arc::make_mut(&mut record);
            let mut entries = vec![opened.opened(self.journal.note_of(opened))];
            let mut documents = vec![not_ended(&opened.place.run)];
            match evaluate(known.case) {
                Evaluation::Allow => {
                    let claimed = self.allow_and_claim(changed, &mut entries, known.grant);
                    match claimed {
                        Ok(use_of_grant) => documents.extend(use_of_grant),
                        Err(failure) => return failure.into(),
                    }
                }
                Evaluation::Ask => {
                    let asked = self.ask(changed, plan, call, evaluated, &known.reason).await;
                    match asked {
                        Ok(entry) => entries.push(entry),
                        Err(failure) => return failure.into(),
                    }
                }
                // Nobody brings it when the plan is run.
                Evaluation::Queue if !plan.from_call.is_empty() => {
                    return Outcome::Answered(cannot_be_planned(&opened.tool).into());
                }
                Evaluation::Queue => match self.queue(changed, plan, call, evaluated).await {
                    Ok(entry) => entries.push(entry),
                    Err(failure) => return failure.into(),
                },
                Evaluation::Deny => {
                    let error = stage::denied(&opened.tool, &known.reason);
                    match self.step(changed, Transition::Denied, Some(known.reason)) {
                        Ok(entry) => entries.push(entry),
                        Err(failure) => return failure.into(),
                    }
                    changed.answer_with(&error);
                }
                Evaluation::Refuse(refusal) => {
                    return Outcome::Answered(refused(opened, &known.reason, refusal).into());
                }
                Evaluation::Fail => return no_approver(opened, &known.reason).into(),
            }
            let mut claimed = (record.state == State::Running)
                .then(|| Claimed::new(self, &record, plan, By::Caller));
            let written = self.write_with(None, &record, entries, documents).await;
            if let Some(claimed) = &mut claimed {
                claimed.heard(&written);
            }
            if let (Ok(()), Some(claimed)) = (&written, claimed) {
                let arguments = evaluated.settled.arguments();
                return self.perform(claimed, plan, call, arguments, watch).await;
            }
            match written {
                Ok(()) if record.answer.is_some() => return self.outcome_of(&record),
                Ok(()) => {
                    self.announce(&record, watch);
                    return match asking {
                        Asking::Now => {
                            let record = Arc::unwrap_or_clone(record);
                            Box::pin(self.notify(record, Some(call), watch)).await
                        }
                        Asking::Later => self.outcome_of(&record),
                    };
                }
                Err(CommitError::CallSlot { holder, .. }) => {
                    return match self.load(holder).await {
                        Ok(known) => Box::pin(self.resubmitted(known, call, watch)).await,
                        Err(failure) => failure.into(),
                    };
                }
                Err(CommitError::Document { key, .. }) if key == ended_key(&record.place.run) => {
                    return Box::pin(self.came_too_late(&record, call, watch)).await;
                }
                // A grant was used by another call in between.
                Err(error) if error.is_conflict() => tokio::task::yield_now().await,
                Err(error) => return not_recorded(&record.tool, error).into(),
            }
        }
        not_recorded(&opened.tool, too_busy(opened.id)).into()
    }

    /// The run of a call that was about to be recorded has ended elsewhere.
    async fn came_too_late(
        self,
        record: &CallRecord,
        call: &Call<'_>,
        watch: Option<&Watch<'_>>,
    ) -> Outcome {
        if record.place.turn.is_none() {
            return self.run_is_over();
        }
        // Somebody else may have been faster with the same call.
        match self.journal.store.at(&record.place).await {
            Ok(Some(known)) => self.resubmitted(known, call, watch).await,
            Ok(None) => self.run_is_over(),
            Err(error) => not_recorded(&record.tool, error.into()).into(),
        }
    }

    fn run_is_over(self) -> Outcome {
        let ended = format!("run `{}` has ended", self.run.id());
        Outcome::Answered(ToolError::new("cancelled", ended).class(Class::Cancelled).into())
    }

    /// What the policy says of a call, or without one its tool.
    pub(super) fn verdict(
        self,
        plan: &Plan,
        evaluated: &Evaluated,
        user: Option<&str>,
        accepted: bool,
    ) -> PolicyDecision {
        let about = About { plan, facts: &evaluated.facts, user, accepted };
        self.run.core.rules.evaluate(about, &evaluated.settled).verdict
    }

    /// What is known of a call as it is evaluated: what the policy says of it, whether a person or a grant does.
    pub(super) async fn known(
        self,
        record: &CallRecord,
        plan: &Plan,
        evaluated: &Evaluated,
    ) -> Result<Known, CallFailure> {
        let user = record.requester.user.as_deref();
        let accepted = self.is_accepted(record);
        let verdict = self.verdict(plan, evaluated, user, accepted);
        let (wanted, reason) = match &verdict {
            PolicyDecision::Allow => (Wanted::Nothing, String::new()),
            PolicyDecision::Ask { reasons, grants_count: true } => {
                (Wanted::DecisionOrGrant, reasons.join("; "))
            }
            PolicyDecision::Ask { reasons, grants_count: false } => {
                (Wanted::Decision, reasons.join("; "))
            }
            PolicyDecision::Queue => (Wanted::Plan, PLANNED.to_owned()),
            PolicyDecision::Deny { reason } => (Wanted::Never, reason.clone()),
        };
        let mut case = Case {
            wanted,
            is_decided: false,
            is_granted: false,
            was_denied: false,
            cannot_be_stored: evaluated.settled.has_secrets() && self.journal.sealing.is_none(),
            without_approver: match &self.journal.asker {
                Some(_) => None,
                None => Some(self.journal.on_no_approver),
            },
        };
        let mut grant = None;
        match wanted {
            Wanted::Nothing | Wanted::Never => {}
            Wanted::Plan => case.was_denied = self.was_denied(record).await?,
            Wanted::DecisionOrGrant | Wanted::Decision => {
                case.is_decided = self.is_decided(record);
                if !case.is_decided {
                    case.was_denied = self.was_denied(record).await?;
                    if wanted == Wanted::DecisionOrGrant {
                        grant = self.grant(record, evaluated.settled.arguments()).await?;
                    }
                }
            }
        }
        case.is_granted = grant.is_some();
        Ok(Known { case, grant, reason, verdict })
    }

    /// Whether a person said no to the same call in this run.
    async fn was_denied(self, record: &CallRecord) -> Result<bool, CallFailure> {
        let filter = Filter {
            states: vec![State::Rejected],
            run: Some(record.place.run.clone()),
            digest: Some(record.digest.clone()),
            ..Filter::default()
        };
        let denied = self.journal.store.list(&filter, Page::first(1)).await;
        denied.map(|it| !it.is_empty()).map_err(|error| not_recorded(&record.tool, error.into()))
    }

    /// Moves a call that was evaluated through `ready` to `running`, and takes a use of the grant.
    pub(super) fn allow_and_claim(
        self,
        record: &mut CallRecord,
        entries: &mut Vec<toolwright_journal::journal::Entry>,
        grant: Option<super::find_approval::Use>,
    ) -> Result<Vec<toolwright_journal::journal::DocumentWrite>, CallFailure> {
        let why = grant.as_ref().map(|it| format!("covered by grant {}", it.grant.id));
        entries.push(self.step(record, Transition::Allowed, why)?);
        record.grant = grant.as_ref().map(|it| it.grant.id.clone());
        entries.push(self.claimed(record)?);
        Ok(grant.and_then(super::find_approval::Use::taken).into_iter().collect())
    }
}
