//! A call that was edited, accepted, requeued, put in doubt or overtaken by a change is judged again. Neither that its
//! plan is accepted nor that it is requeued approves a call: where it asks, a person decides.

use super::super::Plan;
use super::super::judge::{Judgement, Refusal, judge};
use super::super::outcome::CallFailure;
use super::claim::Step;
use super::refused::{nobody, refused};
use super::submit::Judged;
use super::tool_and_run::{NEEDS_ITS_CALLER, not_here};
use super::verify_decision::{Doubt, Past};
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
    /// Judges a call that was edited, accepted, requeued, or overtaken by a change.
    pub(super) async fn judge_again(
        self,
        record: &CallRecord,
        call: Option<&Call<'_>>,
    ) -> Result<Step, CallFailure> {
        let found = self.sought(record).await?;
        let plan = found.plan();
        let history = self.history(record).await?;
        let word = match self.word(record, &history) {
            Ok(word) => word,
            Err(doubt) => return self.doubted(record, doubt).await,
        };
        let past = Past::of(word.as_ref(), &history);
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
        if let Some(word) = word.as_ref().filter(|word| word.is_last)
            && !self.are_of_its_digest(record, &stored)
        {
            let doubt = Doubt::of(word.event, "its arguments are not those that were shown");
            return self.doubted(record, doubt).await;
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
        let mut why = edit.err().map(|doubt| doubt.why);
        let mut is_edited = false;
        let judged = match proposed.map(settle) {
            Some(Ok(judged)) => {
                is_edited = self.digest(record, &judged.settled) != record.digest;
                Ok(judged)
            }
            Some(Err(error)) if past.is_letter => {
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
        let judged = match judged {
            Ok(judged) => judged,
            Err(error) => return self.refuse(record, &error, past).await,
        };
        let mut next = record.clone();
        next.proposal = None;
        self.take_up(&mut next, plan, &judged)?;
        // What a person puts in is another call to whoever takes the key. What only its tool makes of it is not: under the
        // old key nothing can happen twice.
        if is_edited || word.is_some_and(|word| word.wants_new_key()) {
            next.idempotency_key = CallId::new().to_string();
        }
        let known = self.known(&next, plan, &judged).await?;
        let judging = self.judging(&known.verdict);
        let mut entries = Vec::new();
        match judge(known.case) {
            Judgement::Allow if why.is_none() => {
                let covered =
                    known.grant.as_ref().map(|it| format!("covered by grant {}", it.grant.id));
                entries.push(self.step(&mut next, Transition::Allowed, covered)?);
            }
            Judgement::Deny => {
                let error = stage::denied(&next.tool, &known.reason);
                return judging.refuse(record, &error, past).await;
            }
            Judgement::Refuse(refusal) => {
                let error = refused(&next, &known.reason, refusal);
                return judging.refuse(record, &error, past).await;
            }
            Judgement::Queue => {
                let call = Call::new(record.tool.as_str(), judged.settled.arguments());
                entries.push(self.queue(&mut next, plan, &call, &judged).await?);
            }
            // To fail is for whoever waits for it.
            Judgement::Fail if record.answer.is_none() => {
                return Err(nobody(&next, &known.reason));
            }
            Judgement::Fail => {
                let error = refused(&next, &known.reason, Refusal::NobodyToAsk);
                return judging.refuse(record, &error, past).await;
            }
            Judgement::Allow | Judgement::Ask => {
                let call = Call::new(record.tool.as_str(), judged.settled.arguments());
                let mut entry = self.ask(&mut next, plan, &call, &judged, &known.reason).await?;
                if let (Some(why), Some(ask)) = (why, &mut next.ask) {
                    ask.reason = format!("{} ({why})", ask.reason);
                    entry.why = Some(ask.reason.clone());
                }
                entries.push(entry);
            }
        }
        match judging.write(Some(record.version), &next, entries).await {
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
        judged: &Judged,
    ) -> Result<(), CallFailure> {
        let stored = self.keep(&judged.settled, judged.settled.arguments(), record.id, "arguments");
        record.arguments =
            stored.map_err(|error| not_recorded(&record.tool, StoreError::new(error).into()))?;
        record.shown = judged.settled.shown().to_owned();
        record.repairs =
            judged.facts.repairs().map_or_else(Vec::new, |repairs| repairs.changes().to_vec());
        record.fingerprint = plan.entry.fingerprint().to_owned();
        record.danger = judged.facts.danger;
        record.effect = plan.entry.definition.effect;
        record.secrets = plan.entry.definition.secrets().map(ToOwned::to_owned).collect();
        record.digest = self.digest(record, &judged.settled);
        Ok(())
    }

    /// The call must not run. A dead one that was requeued is dead again, so that it is not lost.
    async fn refuse(
        self,
        record: &CallRecord,
        error: &ToolError,
        past: Past,
    ) -> Result<Step, CallFailure> {
        if past.is_letter {
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
