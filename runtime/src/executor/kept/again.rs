//! A call that was edited, accepted, requeued, put in doubt or overtaken by a change is judged again. Neither that its
//! plan is accepted nor that it is requeued approves a call: where it asks, a person decides.

use super::super::Plan;
use super::super::judge::{Judgement, judge};
use super::super::outcome::CallFailure;
use super::claim::Step;
use super::here::not_here;
use super::submit::Judged;
use super::word::{Doubt, Word};
use super::{Kept, not_recorded};
use crate::call::Call;
use crate::context::CallId;
use crate::error::ToolError;
use crate::journal::{CallRecord, Event, Kept as Text, StoreError};
use crate::stage;

impl Kept<'_> {
    /// Judges a call that was edited, accepted, requeued, or overtaken by a change.
    pub(super) async fn judge_again(
        self,
        record: &CallRecord,
        call: Option<&Call<'_>>,
    ) -> Result<Step, CallFailure> {
        let found = self.sought(record).await?;
        let plan = found.plan();
        let word = match self.word(record, &self.history(record).await?) {
            Ok(word) => word,
            Err(doubt) => return self.doubted(record, doubt).await,
        };
        let is_letter = word.as_ref().is_some_and(Word::is_requeue);
        if self.run_has_ended(record).await? {
            return match is_letter {
                true => self.put_back(record, "its run has ended".to_owned()).await,
                false => self.end_with_run(record).await,
            };
        }
        let kept = match self.arguments(record) {
            Ok(arguments) => arguments,
            Err(why) if matches!(record.arguments, Text::Withheld) => {
                return self.refuse(record, &ToolError::new("refused", why), is_letter).await;
            }
            Err(why) => return Err(not_here(record, why)),
        };
        if let Some(word) = word.as_ref().filter(|word| word.is_last)
            && !self.are_of_its_digest(record, &kept)
        {
            let doubt = Doubt::of(word.event, "its arguments are not those that were shown");
            return self.doubted(record, doubt).await;
        }
        self.has_services(plan, record, call)?;
        let proposed = record.proposal.as_deref();
        let settle = |text: &str| {
            let own = Call::new(record.tool.as_str(), text);
            self.settle_text(plan, call.unwrap_or(&own), text, record.id)
        };
        let mut why = None;
        let judged = match proposed.map(settle) {
            Some(Ok(judged)) => Ok(judged),
            Some(Err(error)) if is_letter => {
                return self
                    .put_back(record, format!("the new arguments were not taken: {error}"))
                    .await;
            }
            // Whoever edited it is asked again, about the arguments as they were.
            Some(Err(error)) => {
                why = Some(format!("the edit was not taken: {error}"));
                settle(&kept)
            }
            None => settle(&kept),
        };
        let judged = match judged {
            Ok(judged) => judged,
            Err(error) => return self.refuse(record, &error, is_letter).await,
        };
        let mut next = record.clone();
        next.proposal = None;
        self.take_up(&mut next, plan, &judged)?;
        if word.is_some_and(|word| word.wants_new_key()) {
            next.idempotency_key = CallId::new().to_string();
        }
        let known = self.known(&next, plan, &judged).await?;
        let mut entries = Vec::new();
        match judge(known.case) {
            Judgement::Allow if why.is_none() => {
                let covered =
                    known.grant.as_ref().map(|it| format!("covered by grant {}", it.grant.id));
                entries.push(self.step(&mut next, Event::Allowed, covered)?);
            }
            Judgement::Deny => {
                let error = stage::denied(&next.tool, &known.reason);
                return self.refuse(record, &error, is_letter).await;
            }
            Judgement::Refuse(refusal) => {
                let error = super::submit::refused(&next, &known.reason, refusal);
                return self.refuse(record, &error, is_letter).await;
            }
            Judgement::Queue => {
                let call = Call::new(record.tool.as_str(), judged.settled.arguments());
                entries.push(self.queue(&mut next, plan, &call, &judged).await?);
            }
            Judgement::Fail => return Err(super::submit::nobody(&next, &known.reason)),
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
        match self.write(Some(record.version), &next, entries).await {
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
        let kept = self.keep(&judged.settled, judged.settled.arguments(), record.id, "arguments");
        record.arguments =
            kept.map_err(|error| not_recorded(&record.tool, StoreError::new(error).into()))?;
        record.shown = judged.settled.shown().to_owned();
        record.repairs =
            judged.facts.repairs().map_or_else(Vec::new, |repairs| repairs.changes().to_vec());
        // Other arguments are another call to whoever takes the key; other words of the tool are not.
        if self.digest(record, &judged.settled) != record.digest {
            record.idempotency_key = CallId::new().to_string();
        }
        record.fingerprint = plan.entry.fingerprint().to_owned();
        record.danger = judged.facts.danger;
        record.effect = plan.entry.definition.effect;
        record.digest = self.digest(record, &judged.settled);
        Ok(())
    }

    /// The call must not run. A dead one that was requeued is dead again, so that it is not lost.
    async fn refuse(
        self,
        record: &CallRecord,
        error: &ToolError,
        is_letter: bool,
    ) -> Result<Step, CallFailure> {
        if is_letter {
            return self.put_back(record, error.to_string()).await;
        }
        let mut refused = record.clone();
        let entry = self.step(&mut refused, Event::Denied, Some(error.to_string()))?;
        refused.proposal = None;
        refused.answer_with(error);
        self.moved(record, refused, vec![entry]).await
    }
}
