//! Runs one attempt of a call that no journal records, together with the middleware of the application.

use std::sync::Arc;

use tokio::time::Instant;

use super::stages::Stages;
use crate::call::{Claim, Inside, MiddlewareCall, Slot, touched};
use crate::middleware::{EarlyEnd, delay_of, enter};
use crate::retry::unavailable;
use crate::stage;
use toolwright_core::context::{CallId, Identity};
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Facts;
use toolwright_core::output::Answer;
use toolwright_journal::arguments::FinalArguments;

/// The result of an attempt.
pub(super) enum AttemptOutcome {
    /// The attempt ended with this answer.
    Answered(Answer),
    /// A middleware delayed the attempt before the tool began.
    PutOff(ToolError),
}

impl<'a> Stages<'a> {
    /// Runs one attempt through the stages of the application, if there are any. `number` is the number of the attempt.
    /// Attempts that did not begin are not counted.
    pub(super) async fn attempt_in_stages(
        self,
        identity: &mut Option<Identity<'_>>,
        number: u32,
    ) -> AttemptOutcome {
        match self.run.core.middleware.is_empty() {
            true => AttemptOutcome::Answered(self.attempt(identity).await),
            false => Box::pin(self.in_stages(identity, number)).await,
        }
    }

    /// Runs one attempt of a call whose tool has a validation or an approval function. Unless the call was claimed, its
    /// arguments are made final here, so that validation, policy and tool see the same text.
    pub(super) async fn once_validated(self, identity: &mut Option<Identity<'_>>) -> Answer {
        let Self { run, plan, call, arguments, .. } = self;
        let id = identity.get_or_insert_with(|| Identity::of(CallId::new())).id;
        if self.claimed.is_some() {
            let checked = stage::validate(run, plan, call, arguments, *identity).await;
            return match checked {
                Ok(()) => self.begun_in_time(identity).await,
                Err(error) => error.into(),
            };
        }
        let (facts, settled) = match self.evaluate(id, *identity).await {
            Ok(evaluated) => evaluated,
            Err(error) => return error.into(),
        };
        let claim = Claim::unbounded();
        let answer = self.claimed(settled.arguments(), &claim).begun_in_time(identity).await;
        with_repairs(answer, &facts)
    }

    /// Starts the attempt, unless the validation has already used up the total timeout.
    async fn begun_in_time(self, identity: &mut Option<Identity<'_>>) -> Answer {
        if self.deadline().is_some_and(|deadline| deadline <= Instant::now()) {
            return stage::too_late(self.call.name(), self.plan).into();
        }
        self.start_attempt(identity).await
    }

    /// Makes the arguments final, and checks them by the tool's validation and the policy.
    async fn evaluate(
        self,
        id: CallId,
        identity: Option<Identity<'_>>,
    ) -> Result<(Facts, FinalArguments), ToolError> {
        let Self { run, plan, call, arguments, .. } = self;
        let (mut facts, settled) =
            stage::finalize(run, &run.core.rules, plan, call, (arguments, self.form()), id)?;
        if self.claimed.is_none() {
            stage::validate(run, plan, call, settled.arguments(), identity).await?;
            if let Some(repairs) = facts.repairs() {
                self.report_repairs(repairs);
            }
            stage::ask(run, plan, call, &settled, identity, &mut facts).await;
            stage::approved_final(run, plan, &facts, &settled, self.watch)?;
        }
        Ok((facts, settled))
    }

    async fn in_stages(self, identity: &mut Option<Identity<'_>>, number: u32) -> AttemptOutcome {
        let Self { run, plan, call, .. } = self;
        let left_alone = plan.circuit.as_ref().and_then(|circuit| circuit.admits().err());
        if let Some(refused) = left_alone {
            return AttemptOutcome::Answered(unavailable(call.name(), refused).into());
        }
        let slot = self.slot.map(Slot::pair);
        *identity = identity.or(self.watch.map(|watch| Identity::of(watch.id).at(slot)));
        let id = identity.get_or_insert_with(|| Identity::of(CallId::new()).at(slot)).id;
        let (facts, settled) = match self.evaluate(id, *identity).await {
            Ok(evaluated) => evaluated,
            Err(error) => return AttemptOutcome::Answered(error.into()),
        };
        let about = MiddlewareCall {
            id,
            run: run.id(),
            user: run.user(),
            slot: self.slot.copied(),
            definition: &plan.entry.definition,
            fingerprint: plan.entry.fingerprint(),
            arguments: settled.arguments(),
            footprint: touched(&facts, plan),
            attempt: number,
            is_recorded: false,
            inside: Inside { plan, run, watch: self.watch },
        };
        let answer = match enter(run, plan, call, &about, self.deadline()).await {
            Ok(mut entered) => {
                let claim = Claim::unbounded();
                let attempt = self.claimed(settled.arguments(), &claim).attempt(identity);
                let answer = entered.beside(attempt).await;
                entered.leave(run, plan, call, &about, answer).await
            }
            Err(EarlyEnd::Refused(error)) if delay_of(&error).is_some() => {
                return AttemptOutcome::PutOff(error);
            }
            Err(turned) => turned.into(),
        };
        AttemptOutcome::Answered(match self.claimed {
            Some(_) => answer,
            None => with_repairs(answer, &facts),
        })
    }
}

/// Adds the repairs of the arguments to the answer.
fn with_repairs(answer: Answer, facts: &Facts) -> Answer {
    match facts.repairs() {
        Some(repairs) => answer.with_repairs(Arc::new(repairs.clone())),
        None => answer,
    }
}
