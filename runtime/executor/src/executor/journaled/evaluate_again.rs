//! A call that was edited, accepted, requeued, put in doubt or overtaken by a change is evaluated again. Neither that its
//! plan is accepted nor that it is requeued approves a call: where it asks, a person decides.

use super::super::Plan;
use super::super::evaluate::{Evaluation, Refusal, evaluate};
use super::super::outcome::CallFailure;
use super::claim::Step;
use super::refused::{no_approver, refused};
use super::submit::Evaluated;
use super::tool_and_run::{NEEDS_ITS_CALLER, not_here};
use super::verify_decision::{InvalidDecision, Past};
use super::{JournaledCall, not_recorded};
use crate::stage;
use toolwright_core::call::Call;
use toolwright_core::context::CallId;
use toolwright_core::error::ToolError;
use toolwright_core::tool::Effect;
use toolwright_journal::journal::{
    CallRecord, StoreError, StoredText, Transition, begun_without_a_word,
};

/// Why a call is left to people that was begun when its tool could be repeated.
pub(super) const NOT_REPEATED: &str =
    "it was begun before, and its tool must not be repeated any more";

impl JournaledCall<'_> {
    /// Evaluates a call that was edited, accepted, requeued, or overtaken by a change.
    pub(super) async fn evaluate_again(
        self,
        record: &CallRecord,
        call: Option<&Call<'_>>,
    ) -> Result<Step, CallFailure> {
        let found = self.sought(record).await?;
        let plan = found.plan();
        let history = self.history(record).await?;
        let decision = match self.verified_decision(record, &history) {
            Ok(decision) => decision,
            Err(invalid) => return self.doubted(record, invalid).await,
        };
        let past = Past::of(decision.as_ref(), &history);
        if self.run_has_ended(record).await? {
            return self.end_with_run(record).await;
        }
        if plan.entry.definition.effect == Effect::Once && begun_without_a_word(&history) > 0 {
            return self.back(record, Transition::Doubted, NOT_REPEATED.to_owned()).await;
        }
        if record.attempt > 0 && record.attempt >= plan.retry.attempts {
            return self.give_up(record).await;
        }
        let stored = match self.arguments(record) {
            Ok(arguments) => arguments,
            Err(why) if matches!(record.arguments, StoredText::Omitted) => {
                return self.refuse(record, &ToolError::new("refused", why), past).await;
            }
            Err(why) => return Err(not_here(record, why)),
        };
        if let Some(decision) = decision.as_ref().filter(|decision| decision.is_last)
            && !self.are_of_its_digest(record, &stored)
        {
            let invalid =
                InvalidDecision::of(decision.event, "its arguments are not those that were shown");
            return self.doubted(record, invalid).await;
        }
        if let Err(missing) = self.has_services(plan, record, call) {
            if record.answer.is_none() {
                return Err(missing);
            }
            // Whoever made it has its answer and will not come again.
            let why = format!("`{}` {NEEDS_ITS_CALLER}, who has gone", record.tool);
            return self.refuse(record, &ToolError::new("refused", why), past).await;
        }
        let edit = self.edit(record, &history);
        let proposed = record.proposal.as_deref().filter(|_| edit.is_ok());
        let settle = |text: &str| {
            let own = Call::new(record.tool.as_str(), text);
            self.settle_text(plan, call.unwrap_or(&own), text, record.id)
        };
        // Whoever is asked about a call whose edit is not taken is asked about the arguments as they were.
        let mut why = edit.err().map(|invalid| invalid.why);
        let mut is_edited = false;
        let evaluated = match proposed.map(settle) {
            Some(Ok(evaluated)) => {
                is_edited = self.digest(record, &evaluated.settled) != record.digest;
                Ok(evaluated)
            }
            Some(Err(error)) if past.is_dead_letter => {
                return self
                    .put_back(record, format!("the new arguments were not taken: {error}"))
                    .await;
            }
            Some(Err(error)) => {
                why = Some(format!("the edit was not taken: {error}"));
                settle(&stored)
            }
            None => settle(&stored),
        };
        let evaluated = match evaluated {
            Ok(evaluated) => evaluated,
            Err(error) => return self.refuse(record, &error, past).await,
        };
        let mut next = record.clone();
        next.proposal = None;
        self.take_up(&mut next, plan, &evaluated)?;
        // What a person puts in is another call to whoever takes the key. What only its tool makes of it is not: under the
        // old key nothing can happen twice.
        if is_edited || decision.is_some_and(|decision| decision.wants_new_key()) {
            next.idempotency_key = CallId::new().to_string();
        }
        let known = self.known(&next, plan, &evaluated).await?;
        let evaluating = self.evaluating(&known.verdict);
        let mut entries = Vec::new();
        match evaluate(known.case) {
            Evaluation::Allow if why.is_none() => {
                let covered =
                    known.grant.as_ref().map(|it| format!("covered by grant {}", it.grant.id));
                entries.push(self.step(&mut next, Transition::Allowed, covered)?);
            }
            Evaluation::Deny => {
                let error = stage::denied(&next.tool, &known.reason);
                return evaluating.refuse(record, &error, past).await;
            }
            Evaluation::Refuse(refusal) => {
                let error = refused(&next, &known.reason, refusal);
                return evaluating.refuse(record, &error, past).await;
            }
            Evaluation::Queue => {
                let call = Call::new(record.tool.as_str(), evaluated.settled.arguments());
                entries.push(self.queue(&mut next, plan, &call, &evaluated).await?);
            }
            // To fail is for whoever waits for it.
            Evaluation::Fail if record.answer.is_none() => {
                return Err(no_approver(&next, &known.reason));
            }
            Evaluation::Fail => {
                let error = refused(&next, &known.reason, Refusal::NoApprover);
                return evaluating.refuse(record, &error, past).await;
            }
            Evaluation::Allow | Evaluation::Ask => {
                let call = Call::new(record.tool.as_str(), evaluated.settled.arguments());
                let mut entry = self.ask(&mut next, plan, &call, &evaluated, &known.reason).await?;
                if let (Some(why), Some(ask)) = (why, &mut next.ask) {
                    ask.reason = format!("{} ({why})", ask.reason);
                    entry.why = Some(ask.reason.clone());
                }
                entries.push(entry);
            }
        }
        match evaluating.write(Some(record.version), &next, entries).await {
            Ok(()) => Ok(Step::Moved(Box::new(next))),
            Err(error) if error.is_conflict() => self.look_again(record.id).await,
            Err(error) => Err(not_recorded(&record.tool, error)),
        }
    }

    /// Writes into a record what the call is now.
    pub(super) fn take_up(
        self,
        record: &mut CallRecord,
        plan: &Plan,
        evaluated: &Evaluated,
    ) -> Result<(), CallFailure> {
        let stored = self.store_text(
            &evaluated.settled,
            evaluated.settled.arguments(),
            record.id,
            "arguments",
        );
        record.arguments = stored
            .map_err(|error| not_recorded(&record.tool, StoreError::corrupt(error).into()))?;
        record.shown = evaluated.settled.shown().to_owned();
        record.repairs =
            evaluated.facts.repairs().map_or_else(Vec::new, |repairs| repairs.changes().to_vec());
        record.fingerprint = plan.entry.fingerprint().to_owned();
        record.danger = evaluated.facts.danger;
        record.effect = plan.entry.definition.effect;
        record.secrets = plan.entry.definition.secrets().map(ToOwned::to_owned).collect();
        record.digest = self.digest(record, &evaluated.settled);
        Ok(())
    }

    /// The call must not run. A dead one that was requeued is dead again, so that it is not lost.
    async fn refuse(
        self,
        record: &CallRecord,
        error: &ToolError,
        past: Past,
    ) -> Result<Step, CallFailure> {
        if past.is_dead_letter {
            return self.put_back(record, error.to_string()).await;
        }
        let mut refused = record.clone();
        let entry = self.step(&mut refused, Transition::Denied, Some(error.to_string()))?;
        refused.proposal = None;
        refused.answer_with(&error.with_more(past.in_words(record)));
        self.moved(record, refused, vec![entry]).await
    }

    /// Its tool has said so often that it did not happen that it would say so for ever.
    async fn give_up(self, record: &CallRecord) -> Result<Step, CallFailure> {
        let (tool, times) = (&record.tool, record.attempt);
        let error = ToolError::new(
            "did_not_happen",
            format!("`{tool}` was begun as often as it may be ({times}), and did not happen"),
        );
        let mut dead = record.clone();
        let entry = self.step(&mut dead, Transition::PutBack, Some(error.message().to_owned()))?;
        dead.answer_with(&error);
        self.moved(record, dead, vec![entry]).await
    }
}
