//! One attempt of a call that no journal records, with the stages of the application around it.

use std::sync::Arc;

use super::calling::Stages;
use super::claim::Claim;
use super::in_turn::Slot;
use super::middleware::{Inside, MiddlewareCall, Turned, delay_of, enter, touched};
use crate::retry::unavailable;
use crate::stage;
use toolwright_core::context::{CallId, Identity};
use toolwright_core::error::ToolError;
use toolwright_core::output::Answer;

/// What came of an attempt.
pub(super) enum Attempted {
    /// It has this answer.
    Answered(Answer),
    /// A stage put it off, and nothing has begun.
    PutOff(ToolError),
}

impl<'a> Stages<'a> {
    /// One attempt, which the stages of the application see, where there are any; `number` counts those that began.
    pub(super) async fn attempt_in_stages(
        self,
        identity: &mut Option<Identity<'_>>,
        number: u32,
    ) -> Attempted {
        match self.run.core.middleware.is_empty() {
            true => Attempted::Answered(self.attempt(identity).await),
            false => Box::pin(self.in_stages(identity, number)).await,
        }
    }

    /// Asks the tool's rule about the arguments that are about to run.
    pub(super) async fn validated(self, identity: Option<Identity<'_>>) -> Result<(), ToolError> {
        let Self { run, plan, call, arguments, .. } = self;
        if self.claimed.is_some() {
            return stage::validated(run, plan, call, arguments, identity).await;
        }
        let id = identity.map_or_else(CallId::new, |it| it.id);
        let (_, final_arguments) =
            stage::finalize(run, &run.core.rules, plan, call, arguments, id)?;
        stage::validated(run, plan, call, final_arguments.arguments(), identity).await
    }

    async fn in_stages(self, identity: &mut Option<Identity<'_>>, number: u32) -> Attempted {
        let Self { run, plan, call, .. } = self;
        let left_alone = plan.circuit.as_ref().and_then(|circuit| circuit.admits().err());
        if let Some(refused) = left_alone {
            return Attempted::Answered(unavailable(call.name(), refused).into());
        }
        let slot = self.slot.map(Slot::pair);
        *identity = identity.or(self.watch.map(|watch| Identity::of(watch.id).at(slot)));
        let id = identity.get_or_insert_with(|| Identity::of(CallId::new()).at(slot)).id;
        let rules = &run.core.rules;
        let (facts, settled) = match stage::finalize(run, rules, plan, call, self.arguments, id) {
            Ok(settled) => settled,
            Err(error) => return Attempted::Answered(error.into()),
        };
        if self.claimed.is_none() {
            let checked = stage::validated(run, plan, call, settled.arguments(), *identity);
            if let Err(error) = checked.await {
                return Attempted::Answered(error.into());
            }
            if let Some(repairs) = facts.repairs() {
                self.repaired(repairs);
            }
            if let Err(error) = stage::approved_final(run, plan, &facts, &settled, self.watch) {
                return Attempted::Answered(error.into());
            }
        }
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
            Err(Turned::Refused(error)) if delay_of(&error).is_some() => {
                return Attempted::PutOff(error);
            }
            Err(turned) => turned.into(),
        };
        Attempted::Answered(match facts.repairs().filter(|_| self.claimed.is_none()) {
            Some(repairs) => answer.with_repairs(Arc::new(repairs.clone())),
            None => answer,
        })
    }
}
