//! Evaluates a ready call once more, and claims it. Earlier evaluations are not trusted: the arguments, the tool, the
//! decision and the grant are checked as they are now.

use super::grant::Use;
use super::moment::{Known, Moment};
use super::statement::Behind;
use super::words::{FORMER, NOT_A_PERSON, NOT_REPEATED, TOOL_CHANGED, not_run};
use crate::call::NEEDS_ITS_CALLER;
use crate::lifecycle::guard::Guard;
use crate::lifecycle::snapshot::{Evaluated, Stored};
use crate::lifecycle::step::{Need, Problem, StagedCall, Step, Then};
use crate::stage::{Gate, KnownFacts, gate};
use toolwright_core::tool::Effect;
use toolwright_journal::journal::{
    CallRecord, StoredText, Transition, begun_without_a_word, replay,
};
use toolwright_policy::policy::PolicyDecision;

/// The decision of the gate about a call.
pub(super) struct GatedCall {
    pub(super) gate: Gate,
    pub(super) grant: Option<Use>,
    /// Why no decision of a person allows the call; empty if one does, or if the policy asks for none.
    undecided: String,
}

impl Moment<'_> {
    /// Evaluates the gate for a call with these arguments.
    pub(super) fn gate(
        self,
        evaluated: &Evaluated,
        fingerprint: &str,
        digest: &str,
    ) -> Known<GatedCall> {
        let four_eyes = evaluated.four_eyes;
        let shown = evaluated.arguments.as_deref().map(|now| now.shown.as_str());
        let mut policy = &evaluated.policy;
        let decided = match policy {
            PolicyDecision::Ask { grants_count, .. } => {
                let decided = self.check_decision(digest, shown, four_eyes)?;
                // A rule that requires a person for each call may be newer than the decision of a reviewer.
                match decided.is_ok() && !grants_count && self.is_reviewed()? {
                    true => Err(NOT_A_PERSON.to_owned()),
                    false => decided,
                }
            }
            PolicyDecision::Deny { .. } if !self.has(Guard::DenialFirst) => {
                self.check_decision(digest, shown, four_eyes)?
            }
            _ => Err(String::new()),
        };
        if decided.is_ok() && !self.has(Guard::DenialFirst) {
            policy = &PolicyDecision::Allow;
        }
        let each_time = PolicyDecision::Ask { reasons: Vec::new(), grants_count: true };
        if matches!(policy, PolicyDecision::Ask { .. }) && !self.has(Guard::GrantNotForEachTime) {
            policy = &each_time;
        }
        let grant = self.grant(fingerprint, four_eyes);
        let denied_before = self.snapshot.denied_before;
        let known = KnownFacts {
            is_decided: decided.is_ok(),
            denied_before: denied_before.map(|denied| denied && self.has(Guard::DenialHolds)),
            is_granted: self.snapshot.grants.as_ref().map(|_| grant.is_some()),
            lacks_user: four_eyes && !self.has_user(),
            cannot_be_stored: evaluated.has_secrets && !self.settings.seals,
            no_approver: self.settings.no_approver,
            has_journal: true,
        };
        let gate = gate(policy, known).map_err(|fact| Box::new(Step::from(Need::from(fact))))?;
        let gate = match gate {
            Gate::Ask(reason) => Gate::Ask(self.with_lost_grant(reason, fingerprint, four_eyes)),
            gate => gate,
        };
        // The decision of a person takes precedence over a grant, so no use of the grant is counted.
        let grant =
            grant.filter(|_| decided.is_err() && matches!(policy, PolicyDecision::Ask { .. }));
        Ok(GatedCall { gate, grant, undecided: decided.err().unwrap_or_default() })
    }

    /// Claims a call that is ready, if it may still run. `staged` is the decision of the application's middleware, if
    /// it has examined the call.
    pub(super) fn claim(self, staged: Option<&StagedCall>) -> Known<Step> {
        let record = &self.snapshot.record;
        let tool = self.tool()?;
        if let Some(circuit) = tool.circuit {
            return Ok(Step::only(Then::LeaveAlone(circuit.left.unwrap_or(tool.retry.delay))));
        }
        if !self.has(Guard::EvaluatedAtClaim) {
            let mut next = record.clone();
            let (entries, then) = self.begin(&mut next)?;
            return Ok(self.commit(next, entries, self.begins(None), then));
        }
        let past = self.past()?;
        if let Err(why) = replay(record, &past.history) {
            let is_younger = past.history.last().is_some_and(|it| it.number > record.version);
            return Ok(Step::only(match is_younger && self.has(Guard::HistoryOfItsTime) {
                true => Then::Reload,
                false => Then::Fail(Problem::Contradiction(why)),
            }));
        }
        let behind = match self.reason()? {
            Ok(reason) => Behind::of(reason.as_ref(), &past.history),
            Err(invalid) => return self.change(&invalid.why),
        };
        if self.run_has_ended()? {
            return self.end_with_run();
        }
        match self.stored()? {
            Stored::Readable { .. } => {}
            Stored::Unreadable(why) if matches!(record.arguments, StoredText::Omitted) => {
                return self.deny(why, behind);
            }
            // Another process may have the key to decrypt the arguments.
            Stored::Unreadable(why) => return Err(self.not_here(why.clone())),
        }
        if tool.needs_caller && !tool.has_services {
            return Err(self.not_here(format!("it {NEEDS_ITS_CALLER}")));
        }
        let Ok(evaluated) = self.evaluated()? else {
            return self.change("its tool takes other arguments now");
        };
        if tool.fingerprint != record.fingerprint {
            return self.change(TOOL_CHANGED);
        }
        match evaluated.arguments.as_deref() {
            Some(now) if now.digest == record.digest => {}
            Some(now) if now.is_former => return self.change(FORMER),
            _ => return self.deny("its arguments are not those that were evaluated", behind),
        }
        if tool.effect == Effect::Once && begun_without_a_word(&past.history) > 0 {
            return self.change(NOT_REPEATED);
        }
        let GatedCall { gate, grant, undecided } =
            self.gate(evaluated, &record.fingerprint, &record.digest)?;
        if gate != Gate::Allow {
            return match &evaluated.policy {
                PolicyDecision::Deny { reason } => self.change(reason),
                PolicyDecision::Queue => self.change("what changes something is planned first now"),
                _ => self.change(&undecided),
            };
        }
        if self.waits_for_stages(staged) {
            return Ok(Step::only(Then::Stage));
        }
        if let Some(staged) = self.keeps_out(staged) {
            return self.kept_out_again(staged, behind);
        }
        let mut next = record.clone();
        next.grant = grant.as_ref().map(|it| it.id.clone());
        let (entries, then) = self.begin(&mut next)?;
        let documents = self.begins(grant.and_then(|it| it.taken));
        Ok(self.commit(next, entries, documents, then))
    }

    /// Returns a call to evaluation, because something on which its evaluation was based has changed.
    fn change(self, why: &str) -> Known<Step> {
        let mut changed = self.snapshot.record.clone();
        let entry = self.advance(&mut changed, Transition::Changed, Some(why.to_owned()))?;
        Ok(self.commit(changed, vec![entry], Vec::new(), Then::Continue))
    }

    /// Refuses a call whose stored arguments are lost or were changed.
    fn deny(self, why: &str, behind: Behind) -> Known<Step> {
        if behind.is_dead_letter && self.has(Guard::DeadLetterStays) {
            return self.back(Transition::PutBack, why.to_owned());
        }
        let mut denied: CallRecord = self.snapshot.record.clone();
        let mut entries =
            vec![self.advance(&mut denied, Transition::Changed, Some(why.to_owned()))?];
        entries.push(self.advance(&mut denied, Transition::Denied, Some(why.to_owned()))?);
        let error = not_run(&denied, why, behind.begun > 0);
        let more = behind.in_words(&self.snapshot.record);
        self.answer(&mut denied, &error.with_more(more));
        Ok(self.commit(denied, entries, Vec::new(), Then::Report))
    }
}

impl From<Need> for Box<Step> {
    fn from(need: Need) -> Self {
        Self::new(need.into())
    }
}
