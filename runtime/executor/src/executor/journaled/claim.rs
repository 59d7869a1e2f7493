//! A call that may run is evaluated once more, and claimed. Nothing that was decided earlier is taken on trust: the
//! arguments, the tool, the decision and the grant are looked at as they are now.

use std::sync::Arc;

use tracing::Instrument as _;

use super::super::Plan;
use super::super::evaluate::{Evaluation, Wanted, evaluate};
use super::super::outcome::{CallFailure, Outcome};
use super::claimed::Claimed;
use super::evaluate_again::NOT_REPEATED;
use super::find_approval::Use;
use super::tool_and_run::{not_ended, not_here};
use super::unfinished::By;
use super::verify_decision::Past;
use super::{JournaledCall, TRIES, not_recorded, too_busy};
use crate::stage::record;
use toolwright_core::call::Call;
use toolwright_core::context::CallId;
use toolwright_core::error::ToolError;
use toolwright_core::tool::Effect;
use toolwright_journal::journal::{
    CallRecord, Entry, State, StoredText, Transition, begun_without_a_word, replay,
};

impl<'a> JournaledCall<'a> {
    /// Goes on with a call as far as that goes here; where people have to be asked, it waits for them.
    pub(super) async fn go_on(
        self,
        record: CallRecord,
        call: Option<&Call<'_>>,
        watch: Option<&record::Watch<'_>>,
    ) -> Outcome {
        match self.until_asked(record, call, watch).await {
            Gone::On(outcome) => outcome,
            Gone::ToPeople(record) => Box::pin(self.notify(*record, call, watch)).await,
        }
    }

    /// The same until people have to be asked.
    pub(super) async fn until_asked(
        self,
        mut record: CallRecord,
        call: Option<&Call<'_>>,
        watch: Option<&record::Watch<'_>>,
    ) -> Gone {
        for _ in 0..TRIES {
            let next = match record.state {
                State::Ready if self.is_due(&record) && !self.is_closed() => {
                    self.claim(&record, call, watch).await
                }
                State::Judging if !self.is_closed() => self.evaluate_again(&record, call).await,
                _ => return Gone::On(self.outcome_of(&record)),
            };
            record = match next {
                // What comes of it after its answer is for operators and listeners.
                Ok(Step::Ended(Outcome::Answered(_))) if record.answer.is_some() => {
                    return Gone::On(self.outcome_of(&record));
                }
                Ok(Step::Ended(outcome)) => return Gone::On(outcome),
                Ok(Step::Moved(record)) => *record,
                Err(failure) => return Gone::On(failure.into()),
            };
            if record.state == State::Pending {
                self.announce(&record, watch);
                return Gone::ToPeople(Box::new(record));
            }
        }
        Gone::On(not_recorded(&record.tool, too_busy(record.id)).into())
    }

    /// Whether the executor is shutting down and begins nothing more.
    pub(super) fn is_closed(self) -> bool {
        self.run.core.gate.is_closed()
    }

    fn is_due(self, record: &CallRecord) -> bool {
        record.not_before.is_none_or(|not_before| not_before <= self.journal.now())
    }

    /// Takes the right to run a call, if it may still run, and runs it.
    async fn claim(
        self,
        record: &CallRecord,
        call: Option<&Call<'_>>,
        watch: Option<&record::Watch<'_>>,
    ) -> Result<Step, CallFailure> {
        let found = self.sought(record).await?;
        let plan = found.plan();
        if let Some(refused) = plan.circuit.as_ref().and_then(|it| it.admits().err()) {
            self.journal.busy.pause(record.id, refused.left.unwrap_or(plan.retry.delay));
            return Ok(Step::Ended(self.outcome_of(record)));
        }
        let history = match self.replay(record).await? {
            Ok(history) => history,
            Err(moved) => return Ok(moved),
        };
        let past = match self.verified_decision(record, &history) {
            Ok(decision) => Past::of(decision.as_ref(), &history),
            Err(invalid) => return self.change(record, &invalid.why).await,
        };
        if self.run_has_ended(record).await? {
            return self.end_with_run(record).await;
        }
        let arguments = match self.arguments(record) {
            Ok(arguments) => arguments,
            Err(why) if matches!(record.arguments, StoredText::Omitted) => {
                return self.deny(record, &why, past).await;
            }
            // Somebody else may have the key.
            Err(why) => return Err(not_here(record, why)),
        };
        self.has_services(plan, record, call)?;
        let mut own_call = Call::new(record.tool.as_str(), arguments.as_str());
        if let Some(provider_id) = &record.provider_id {
            own_call = own_call.id(provider_id.as_str());
        }
        let by = if call.is_some() { By::Caller } else { By::Worker };
        let call = call.unwrap_or(&own_call);
        let evaluated = match self.settle_text(plan, call, &arguments, record.id) {
            Ok(evaluated) => evaluated,
            Err(_) => return self.change(record, "its tool takes other arguments now").await,
        };
        if plan.entry.fingerprint() != record.fingerprint {
            return self.change(record, "its tool has changed since it was evaluated").await;
        }
        if self.digest(record, &evaluated.settled) != record.digest {
            return self
                .deny(record, "its arguments are not those that were evaluated", past)
                .await;
        }
        if plan.entry.definition.effect == Effect::Once && begun_without_a_word(&history) > 0 {
            return self.change(record, NOT_REPEATED).await;
        }
        let known = self.known(record, plan, &evaluated).await?;
        if evaluate(known.case) != Evaluation::Allow {
            let why = match known.case.wanted {
                Wanted::Never => known.reason,
                Wanted::Plan => "what changes something is planned first now".to_owned(),
                _ => self.decided(record).err().unwrap_or("nothing allows it any more".to_owned()),
            };
            return self.change(record, &why).await;
        }
        let grant = known.grant;
        let mut next = record.clone();
        next.grant = grant.as_ref().map(|it| it.grant.id.clone());
        let entry = self.claimed(&mut next)?;
        let next = Arc::new(next);
        let mut claimed = Claimed::new(self, &next, plan, by);
        let mut documents = vec![not_ended(&record.place.run)];
        documents.extend(grant.and_then(Use::taken));
        let written = self.write_with(Some(record.version), &next, vec![entry], documents).await;
        claimed.heard(&written);
        match written {
            Ok(()) => {
                let arguments = evaluated.settled.arguments();
                let outcome = match watch {
                    Some(_) => Box::pin(self.perform(claimed, plan, call, arguments, watch)).await,
                    None => Box::pin(self.resumed(claimed, plan, call, arguments)).await,
                };
                Ok(Step::Ended(outcome))
            }
            Err(error) if error.is_conflict() => self.look_again(record.id).await,
            Err(error) => Err(not_recorded(&record.tool, error)),
        }
    }

    /// Runs a call that has waited, under the eyes of listeners and tracing.
    async fn resumed(
        self,
        claimed: Claimed,
        plan: &Plan,
        call: &Call<'_>,
        arguments: &str,
    ) -> Outcome {
        let _telling = self.run.core.telling.enter_at_once();
        let definition = Some(&*plan.entry.definition);
        let span = record::span(self.run, call, definition);
        let watch = record::Watch::resume(self.run, call, &claimed.record);
        let performing = self.perform(claimed, plan, call, arguments, watch.as_ref());
        let outcome = performing.instrument(span.clone()).await;
        self.notify_outcome(watch, &span, call, definition, &outcome);
        outcome
    }

    /// Its history, if the call stands where that takes it; the call as it is where somebody has changed it since it
    /// was read.
    async fn replay(self, record: &CallRecord) -> Result<Result<Vec<Entry>, Step>, CallFailure> {
        let history = self.history(record).await?;
        let Err(why) = replay(record, &history) else { return Ok(Ok(history)) };
        let now = self.load(record.id).await?;
        if now.version != record.version {
            return Ok(Err(Step::Moved(Box::new(now))));
        }
        let (call, tool) = (record.id, record.tool.clone());
        Err(CallFailure::Contradiction { call, tool, why })
    }

    /// Moves a record from `ready` to `running`, owned by this executor.
    pub(super) fn claimed(self, record: &mut CallRecord) -> Result<Entry, CallFailure> {
        let entry = self.step(record, Transition::Claimed, None)?;
        record.owner = Some(self.journal.owner.clone());
        record.lease = Some(self.journal.lease_until());
        Ok(entry)
    }

    /// What it was evaluated by is not as it was; it is evaluated again.
    pub(super) async fn change(self, record: &CallRecord, why: &str) -> Result<Step, CallFailure> {
        let mut changed = record.clone();
        let entry = self.step(&mut changed, Transition::Changed, Some(why.to_owned()))?;
        self.moved(record, changed, vec![entry]).await
    }

    /// Somebody has changed what only an executor may change; the call is not run.
    async fn deny(self, record: &CallRecord, why: &str, past: Past) -> Result<Step, CallFailure> {
        if past.is_dead_letter {
            return self.put_back(record, why.to_owned()).await;
        }
        let mut denied = record.clone();
        let mut entries =
            vec![self.step(&mut denied, Transition::Changed, Some(why.to_owned()))?];
        entries.push(self.step(&mut denied, Transition::Denied, Some(why.to_owned()))?);
        let tool = &record.tool;
        let error = ToolError::new(
            "refused",
            match past.was_begun() {
                false => format!("`{tool}` was not run: {why}"),
                true => format!("`{tool}` cannot be begun again: {why}"),
            },
        );
        denied.answer_with(&error.with_more(past.in_words(record)));
        self.moved(record, denied, entries).await
    }

    pub(super) async fn moved(
        self,
        from: &CallRecord,
        to: CallRecord,
        entries: Vec<Entry>,
    ) -> Result<Step, CallFailure> {
        match self.write(Some(from.version), &to, entries).await {
            Ok(()) => Ok(Step::Moved(Box::new(to))),
            Err(error) if error.is_conflict() => self.look_again(from.id).await,
            Err(error) => Err(not_recorded(&from.tool, error)),
        }
    }

    pub(super) async fn look_again(self, id: CallId) -> Result<Step, CallFailure> {
        self.load(id).await.map(|record| Step::Moved(Box::new(record)))
    }
}

/// How far a call came.
pub(super) enum Gone {
    On(Outcome),
    /// It is pending, and nobody has been asked yet.
    ToPeople(Box<CallRecord>),
}

/// What became of one step.
pub(super) enum Step {
    Moved(Box<CallRecord>),
    Ended(Outcome),
}
