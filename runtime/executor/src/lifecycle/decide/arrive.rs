//! Evaluates a call: when it is new; when a person has edited, accepted or requeued it; when it was indeterminate and
//! turned out not to have happened; or when its tool, the policy or the decision about it has changed. Accepting a plan
//! or requeuing a call does not approve the call: if the policy asks, a person still decides.

use crate::call::{NEEDS_ITS_CALLER, Refusal};
use jiff::Timestamp;

use super::claim::GatedCall;
use super::moment::{Known, Moment, early};
use super::statement::{Behind, Invalid};
use super::words::{
    DOES_NOT_COUNT, FORMER, NOT_REPEATED, TOOL_CHANGED, did_not_happen, error_of, queued,
};
use crate::call::later;
use crate::lifecycle::guard::Guard;
use crate::lifecycle::snapshot::{Evaluated, Stored};
use crate::lifecycle::step::{Problem, StagedCall, Step, Then};
use crate::stage::{Gate, PLANNED};
use toolwright_core::context::CallId;
use toolwright_core::error::ToolError;
use toolwright_core::tool::Effect;
use toolwright_journal::journal::{
    AnswerRecord, Ask, CallRecord, Entry, Note, StoredText, Transition, begun_without_a_word,
};
use toolwright_policy::policy::PolicyDecision;

impl<'a> Moment<'a> {
    /// Decides on a call that is not in the journal. `staged` is the decision of the application's middleware, if it
    /// has examined the call.
    pub(super) fn submitted(
        self,
        reason: Option<&str>,
        staged: Option<&StagedCall>,
    ) -> Known<Step> {
        let record = &self.snapshot.record;
        let refuse = |refusal| Ok(Step::only(Then::Answer(refusal)));
        let tool = self.tool()?;
        if self.settings.is_closed {
            return refuse(Refusal::ShuttingDown);
        }
        if let Some(circuit) = tool.circuit {
            return self.turn_away(Refusal::Unavailable(circuit));
        }
        if self.run_has_ended()? {
            return refuse(Refusal::RunOver);
        }
        let evaluated = match self.evaluated()? {
            Ok(evaluated) => evaluated,
            Err(error) => return Ok(Step::only(Then::Fail(Problem::NotHere(error.text.clone())))),
        };
        let GatedCall { gate, grant, .. } =
            self.gate(evaluated, &record.fingerprint, &record.digest)?;
        let mut next = record.clone();
        let opened = self.opened();
        let (entries, used, then) = match gate {
            Gate::Allow if self.waits_for_stages(staged) => return Ok(Step::only(Then::Stage)),
            Gate::Allow => {
                let why = grant.as_ref().map(|it| format!("covered by grant {}", it.id));
                let allowed = self.advance(&mut next, Transition::Allowed, why)?;
                if let Some(staged) = self.keeps_out(staged) {
                    let cannot_wait = evaluated.has_secrets && !self.settings.seals;
                    let entry = self.kept_out(&mut next, &staged.verdict, None, cannot_wait)?;
                    let entries = vec![opened, allowed, entry];
                    return Ok(self.commit(next, entries, self.opens(None), Then::Report));
                }
                if tool.hands_over.is_some() && evaluated.has_secrets && !self.settings.seals {
                    return self.turn_away(Refusal::SecretCannotBeHandedOver);
                }
                next.grant = grant.as_ref().map(|it| it.id.clone());
                let (begun, then) = self.begin(&mut next)?;
                let entries = [opened, allowed].into_iter().chain(begun).collect();
                (entries, grant.and_then(|it| it.taken), then)
            }
            Gate::Ask(reason) => (
                vec![opened, self.ask(&mut next, reason, None, evaluated.reviewable)?],
                None,
                Then::Notify,
            ),
            // When the plan is accepted later, the caller is no longer there to provide the services.
            Gate::Plan if tool.needs_caller => return self.turn_away(Refusal::CannotBePlanned),
            Gate::Plan => (vec![opened, self.queue(&mut next, reason, None)?], None, Then::Report),
            Gate::Refuse(refusal) => return self.turn_away(refusal),
            Gate::Fail(reason) => {
                return Ok(Step::only(Then::Fail(Problem::NoApprover(reason))));
            }
        };
        Ok(self.commit(next, entries, self.opens(used), then))
    }

    /// Refuses a call that is not in the journal. A denial by the policy is recorded. Every refusal of a child is
    /// recorded as well, because its parent continues with this answer, and must receive the same answer when the
    /// parent runs again.
    fn turn_away(self, refusal: Refusal) -> Known<Step> {
        let record = &self.snapshot.record;
        let error = refusal.error(&record.tool, &record.place.run);
        let why = match refusal {
            Refusal::Denied(why) => why,
            refusal if record.parent.is_none() => return Ok(Step::only(Then::Answer(refusal))),
            _ => error.to_string(),
        };
        self.record_refused(Some(why), &error)
    }

    /// Records a call that is not in the journal, with the answer that refuses it.
    pub(super) fn record_refused(
        self,
        why: Option<String>,
        answer: impl Into<AnswerRecord>,
    ) -> Known<Step> {
        if self.run_has_ended()? {
            return Ok(Step::only(Then::Answer(Refusal::RunOver)));
        }
        let mut refused = self.snapshot.record.clone();
        let opened = self.opened();
        let denied = self.advance(&mut refused, Transition::Denied, why)?;
        self.answer(&mut refused, answer);
        Ok(self.commit(refused, vec![opened, denied], self.opens(None), Then::Report))
    }

    /// Makes the first entry of a call's history.
    fn opened(self) -> Entry {
        let record = &self.snapshot.record;
        let who = record.requester.agent.clone();
        record.opened(Note { who, at: self.now, why: None, signed: None })
    }

    /// Changes a call to `pending`, with everything that a person needs to decide on it. `why` is added to the reason,
    /// for instance because an edit was refused.
    fn ask(
        self,
        record: &mut CallRecord,
        reason: String,
        why: Option<String>,
        reviewable: bool,
    ) -> Known<Entry> {
        let preview = self.preview()?;
        let reason = if reason.is_empty() { "it has to be decided".to_owned() } else { reason };
        let reason = match why {
            Some(why) => format!("{reason} ({why})"),
            None => reason,
        };
        let deadline = later(self.now, self.settings.expires_after);
        let entry = self.advance(record, Transition::Asked, Some(reason.clone()))?;
        record.decision = None;
        record.ask = Some(Ask { reason, preview, deadline, notified: false, reviewable });
        Ok(entry)
    }

    /// Changes a call to `planned`, with everything that a person needs to decide on the plan. `why` is the reason if
    /// the call is planned again.
    fn queue(
        self,
        record: &mut CallRecord,
        reason: Option<&str>,
        why: Option<String>,
    ) -> Known<Entry> {
        let preview = self.preview()?;
        let reason = reason.unwrap_or(PLANNED).to_owned();
        let why = why.unwrap_or_else(|| reason.clone());
        let entry = self.advance(record, Transition::Planned, Some(why))?;
        record.decision = None;
        // Approvers are not notified before the plan is shown, and the call does not expire.
        record.ask = Some(Ask {
            reason,
            preview,
            deadline: Timestamp::MAX,
            notified: true,
            reviewable: false,
        });
        if record.answer.is_none() {
            record.answer = Some(queued(&record.tool));
        }
        Ok(entry)
    }

    /// Evaluates a call of the journal again.
    pub(super) fn evaluate_again(self) -> Known<Step> {
        let record = &self.snapshot.record;
        let tool = self.tool()?;
        let past = self.past()?;
        let reason = match self.reason()? {
            Ok(reason) => reason,
            Err(invalid) => return self.back(invalid.back(), invalid.why),
        };
        let behind = Behind::of(reason.as_ref(), &past.history);
        if self.run_has_ended()? {
            return self.end_with_run();
        }
        if tool.effect == Effect::Once && begun_without_a_word(&past.history) > 0 {
            return self.back(Transition::Doubted, NOT_REPEATED.to_owned());
        }
        if record.attempt > 0 && record.attempt >= tool.retry.attempts {
            return self.give_up();
        }
        let (is_of_its_digest, shown) = match self.stored()? {
            Stored::Readable { is_of_its_digest, shown } => (*is_of_its_digest, shown),
            Stored::Unreadable(why) if matches!(record.arguments, StoredText::Omitted) => {
                return self.refuse(&ToolError::new("refused", why.clone()), behind);
            }
            Stored::Unreadable(why) => return Err(self.not_here(why.clone())),
        };
        if let Some(reason) = reason.as_ref().filter(|it| it.is_last) {
            let is_shown = !reason.was_shown_otherwise(shown) || !self.has(Guard::ShownBound);
            if !is_of_its_digest || !is_shown {
                let why = "its arguments are not those that were shown";
                let invalid = Invalid::of(reason.event, why);
                return self.back(invalid.back(), invalid.why);
            }
        }
        if tool.needs_caller && !tool.has_services {
            if record.answer.is_none() {
                return Err(self.not_here(format!("it {NEEDS_ITS_CALLER}")));
            }
            // The caller has received an answer, so it will not provide the services again.
            let why = format!("`{}` {NEEDS_ITS_CALLER}, who has gone", record.tool);
            return self.refuse(&ToolError::new("refused", why), behind);
        }
        let (evaluated, why) = self.candidate(behind)?;
        let mut next = record.clone();
        next.proposal = None;
        next.journal.clone_from(&self.settings.journal);
        next.project.clone_from(&self.settings.project);
        let is_edited = take_up(&mut next, evaluated);
        // Arguments that a person edits make a new call for a service that uses the idempotency key, so the call gets a
        // new key. If only the tool now reads the arguments differently, the old key stays, so that the effect cannot
        // happen twice.
        let is_proposed = matches!(self.snapshot.proposed, Some(Ok(_)));
        if is_edited && is_proposed || reason.is_some_and(|it| it.wants_new_key()) {
            next.idempotency_key = CallId::from_bytes(self.random.to_be_bytes()).to_string();
        }
        self.go_on_with(next, evaluated, why, behind)
    }

    /// Returns the arguments to evaluate. If an edit was refused, these are the unedited arguments, and the text says
    /// why the edit was refused; a person is then asked about the unedited arguments.
    fn candidate(self, behind: Behind) -> Known<(&'a Evaluated, Option<String>)> {
        let mut why = self.edit()?.err().map(|invalid| invalid.why);
        if self.snapshot.record.proposal.is_some() && why.is_none() {
            match self.proposed()? {
                Ok(proposed) => return Ok((proposed, None)),
                Err(error) if behind.is_dead_letter => {
                    let why = format!("the new arguments were not taken: {}", error_of(error));
                    return early(self.back(Transition::PutBack, why));
                }
                Err(error) => why = Some(format!("the edit was not taken: {}", error_of(error))),
            }
        }
        match self.evaluated()? {
            Ok(evaluated) => Ok((evaluated, why)),
            Err(error) => early(self.refuse(&error_of(error), behind)),
        }
    }

    /// Applies the gate's decision on a call that was evaluated again.
    fn go_on_with(
        self,
        mut next: CallRecord,
        evaluated: &Evaluated,
        why: Option<String>,
        behind: Behind,
    ) -> Known<Step> {
        let tool = next.tool.clone();
        // If an earlier decision is not valid any more, the new request says why.
        let changed = next.fingerprint != self.snapshot.record.fingerprint;
        let why_asked = |why: Option<String>| {
            why.or_else(|| changed.then(|| TOOL_CHANGED.to_owned())).or_else(|| self.not_counted())
        };
        let GatedCall { gate, grant, .. } =
            self.gate(evaluated, &next.fingerprint, &next.digest)?;
        let (entry, then) = match gate {
            Gate::Allow if why.is_none() => {
                let covered = grant.map(|it| format!("covered by grant {}", it.id));
                (self.advance(&mut next, Transition::Allowed, covered)?, Then::Continue)
            }
            Gate::Allow => {
                let reason = match &evaluated.policy {
                    PolicyDecision::Ask { reasons, .. } => reasons.join("; "),
                    _ => String::new(),
                };
                (self.ask(&mut next, reason, why_asked(why), evaluated.reviewable)?, Then::Notify)
            }
            Gate::Ask(reason) => {
                (self.ask(&mut next, reason, why_asked(why), evaluated.reviewable)?, Then::Notify)
            }
            Gate::Plan => {
                let why = self.accepted_by_its_user(evaluated.four_eyes);
                (self.queue(&mut next, None, why)?, Then::Report)
            }
            Gate::Refuse(refusal) => {
                let error = refusal.error(&tool, &next.place.run);
                return self.refuse(&error, behind);
            }
            // Only a caller that still waits can receive a failure.
            Gate::Fail(reason) if next.answer.is_none() => {
                return Ok(Step::only(Then::Fail(Problem::NoApprover(reason))));
            }
            Gate::Fail(reason) => {
                let error = Refusal::NoApprover(reason).error(&tool, &next.place.run);
                return self.refuse(&error, behind);
            }
        };
        Ok(self.commit(next, vec![entry], Vec::new(), then))
    }

    /// Returns why an earlier decision was not valid, if that is why the call is evaluated again.
    fn not_counted(self) -> Option<String> {
        let history = &self.snapshot.past.as_ref()?.history;
        let last = history.last().filter(|entry| entry.event == Some(Transition::Changed))?;
        let why = last.why.as_ref().filter(|_| self.snapshot.record.decision.is_some())?;
        (why.starts_with(DOES_NOT_COUNT) || why == FORMER).then(|| why.clone())
    }

    /// Ends a call that must not run. A requeued dead letter becomes a dead letter again, so that operators still
    /// find it.
    fn refuse(self, error: &ToolError, behind: Behind) -> Known<Step> {
        if behind.is_dead_letter && self.has(Guard::DeadLetterStays) {
            return self.back(Transition::PutBack, error.to_string());
        }
        let mut refused = self.snapshot.record.clone();
        let entry = self.advance(&mut refused, Transition::Denied, Some(error.to_string()))?;
        refused.proposal = None;
        let more = behind.in_words(&self.snapshot.record);
        self.answer(&mut refused, &error.with_more(more));
        Ok(self.commit(refused, vec![entry], Vec::new(), Then::Report))
    }

    /// Gives up a call of which all attempts are used up, after its tool has reported that the call did not happen.
    fn give_up(self) -> Known<Step> {
        let mut dead = self.snapshot.record.clone();
        let error = did_not_happen(&dead);
        let why = Some(error.message().to_owned());
        let entry = self.advance(&mut dead, Transition::PutBack, why)?;
        self.answer(&mut dead, &error);
        Ok(self.commit(dead, vec![entry], Vec::new(), Then::Report))
    }
}

/// Updates a record by an evaluation. Returns whether the arguments have changed.
fn take_up(record: &mut CallRecord, evaluated: &Evaluated) -> bool {
    let Some(now) = evaluated.arguments.as_deref() else { return false };
    record.arguments = now.arguments.clone();
    record.shown.clone_from(&now.shown);
    record.repairs.clone_from(&now.repairs);
    record.fingerprint.clone_from(&now.fingerprint);
    record.danger = now.danger;
    record.effect = now.effect;
    record.secrets.clone_from(&now.secrets);
    record.digest.clone_from(&now.digest);
    !now.is_unchanged
}
