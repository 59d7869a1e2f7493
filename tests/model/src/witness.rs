//! An observer who sees everything, for the properties to check.

use toolwright_core::tool::Effect;
use toolwright_executor::lifecycle::last_decision;
use toolwright_journal::journal::{CallRecord, Entry, State, StoredText, Transition};

use crate::reading::{EDITED, TRUSTED, arguments};
use crate::scenario::{Policy, Verdict};
use crate::task::Circumstances;

/// What was observed of one call of the turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Witness {
    /// The generations in which a body began and which are not known to have had no effect; one bit each.
    begun: u32,
    /// The generations that a person settled: they had no effect, or the call should run again; one bit each.
    settled: u32,
    /// The generations whose effect happened and that were not settled since.
    acted: u32,
    /// What people approved: the generation that may run, and the digest.
    approved: Vec<(u32, String)>,
    /// What was shown with each approval: the generation that may run, and the arguments.
    shown: Vec<(u32, String)>,
    /// The digests of accepted plans.
    accepted: Vec<String>,
    /// For the generation of each decision, the generation of the claim that used it.
    used: Vec<(u32, u32)>,
    /// How many edits have not changed the key yet.
    edits: u8,
    /// Whether a stage has answered or refused it.
    is_kept_out: bool,
    /// The record that was answered, and the answer.
    answered: Option<(String, String)>,
    /// The violations.
    pub wrong: Wrong,
}

/// Violations, which must never be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Wrong {
    /// A `once` call was begun twice without a statement in between.
    pub begun_twice: bool,
    /// Its effect happened twice without a statement in between.
    pub acted_twice: bool,
    /// Claims of two generations used one decision.
    pub decision_reused: bool,
    /// A call that needs approval was claimed or begun without a decision on this generation, and without a grant.
    pub undecided: bool,
    /// It was claimed by a decision that had expired.
    pub expired_used: bool,
    /// A decision took effect on something that was not shown.
    pub decision_misplaced: bool,
    /// A decision on other arguments than those shown let a call run.
    pub not_shown: bool,
    /// A call was claimed that was not ready, so perhaps rejected, expired or cancelled.
    pub claimed_unready: bool,
    /// An owner that had lost its lease changed something.
    pub late_owner_wrote: bool,
    /// A call had two answers, or another one than the caller received.
    pub answered_twice: bool,
    /// An honest record was reported to contradict its history.
    pub falsely_accused: bool,
    /// A record has a state to which its history does not lead.
    pub contradicted: bool,
    /// A call was claimed after the caller learned that the run had ended.
    pub claimed_after_end: bool,
    /// An untrusted statement ended a call.
    pub forgery_counted: bool,
    /// An owner whose renewal was accepted lost its call.
    pub renewal_lost: bool,
    /// A call was claimed that the policy denies.
    pub denied_ran: bool,
    /// A planned call was claimed without its plan being accepted.
    pub unplanned: bool,
    /// A call was claimed by an invalid grant.
    pub grant_outside: bool,
    /// More calls used a grant than it is for.
    pub grant_overused: bool,
    /// A grant was used where a person has to be asked each time.
    pub granted_each_time: bool,
    /// A person was asked again about something they rejected in this run.
    pub asked_again: bool,
    /// A requeued dead letter ended without having run.
    pub letter_lost: bool,
    /// The idempotency key changed though the arguments did not.
    pub key_changed: bool,
    /// A call was claimed that its stages did not let through.
    pub unstaged: bool,
    /// A stage's decision about another version of a call changed it.
    pub staged_before: bool,
    /// A call spent an attempt, or ended, by waiting for a stage.
    pub waiting_cost: bool,
    /// A call was claimed that a stage had answered.
    pub answered_ran: bool,
    /// A result counted that was supplied after its call's deadline.
    pub supplied_late: bool,
    /// An external call was claimed without being handed over, or became indeterminate.
    pub doubted_elsewhere: bool,
    /// A decision asked for something that the driver cannot read, or never stopped reading.
    pub impossible: bool,
}

impl Witness {
    /// Observes that a claim of this record is durable, or that its body begins without one. Before, the call had
    /// this state.
    pub fn claims(
        &mut self,
        record: &CallRecord,
        then: &Circumstances,
        before: Option<State>,
        run_over: bool,
    ) {
        self.wrong.claimed_unready |= before.is_some_and(|state| state != State::Ready);
        self.wrong.claimed_after_end |= run_over;
        self.wrong.answered_ran |= self.is_kept_out;
        match then.policy {
            Policy::Allow => {}
            Policy::Deny => self.wrong.denied_ran = true,
            Policy::Plan => self.wrong.unplanned |= !self.accepted.contains(&record.digest),
            policy @ (Policy::Ask | Policy::AskEachTime) if record.grant.is_some() => {
                self.wrong.granted_each_time |= policy == Policy::AskEachTime;
                self.wrong.grant_outside |= !then.grant_counts;
            }
            Policy::Ask | Policy::AskEachTime => self.uses_decision(record, then),
        }
    }

    fn uses_decision(&mut self, record: &CallRecord, then: &Circumstances) {
        self.wrong.expired_used |= then.is_late;
        let of_now = (record.generation, record.digest.clone());
        self.wrong.undecided |= !self.approved.contains(&of_now);
        let runs = (record.generation, arguments(record).to_owned());
        self.wrong.not_shown |= !self.shown.contains(&runs);
        let statement = record.decision.as_ref().and_then(|signed| signed.statement().ok());
        let Some(statement) = statement else { return };
        if let toolwright_journal::approval::Subject::Call { generation, .. } = statement.about {
            let before = self.used.iter().find(|(of, _)| *of == generation);
            self.wrong.decision_reused |= before.is_some_and(|(_, by)| *by != record.generation);
            if before.is_none() {
                self.used.push((generation, record.generation));
            }
        }
    }

    /// Observes that a statement took effect on this record.
    pub(crate) fn decided(&mut self, record: &CallRecord, verdict: Verdict, shown: &str) {
        let generation = record.generation;
        match verdict {
            Verdict::Approve | Verdict::Grant => {
                self.shown.push((generation, shown.to_owned()));
                self.approved.push((generation, record.digest.clone()));
            }
            Verdict::Edit => {
                self.shown.push((generation + 1, EDITED.to_owned()));
                let digest = record.digest_with(EDITED);
                self.approved.push((generation + 1, digest));
                self.edits += 1;
            }
            Verdict::Accept => self.accepted.push(record.digest.clone()),
            Verdict::RequeueEdited => {
                self.edits += 1;
                self.settles(generation);
            }
            Verdict::Requeue | Verdict::DidNotHappen => self.settles(generation),
            _ => {}
        }
        self.accepted.sort();
        self.accepted.dedup();
    }

    /// Observes that a body begins.
    pub fn begins(&mut self, record: &CallRecord) {
        let now = bit(record.generation);
        if self.settled & now == 0 {
            let is_once = record.effect == Effect::Once;
            self.wrong.begun_twice |= is_once && self.begun & !self.settled != 0;
        }
        self.begun |= now;
    }

    /// Observes that a body acts.
    pub fn acts(&mut self, record: &CallRecord) {
        self.wrong.acted_twice |= record.effect == Effect::Once && self.acted != 0;
        self.acted |= bit(record.generation);
    }

    /// Observes that its owner or its tool says that the attempt had no effect.
    pub fn undone(&mut self, record: &CallRecord) {
        self.begun &= !bit(record.generation);
    }

    /// Observes that a person settles a generation, and those before it.
    pub fn settles(&mut self, generation: u32) {
        self.settled |= bit(generation) | bit(generation).saturating_sub(1);
    }

    /// Returns whether the effect has happened.
    #[must_use]
    pub fn has_acted(&self) -> bool {
        self.acted != 0
    }

    /// Observes that a record is durable.
    pub fn written(&mut self, before: Option<&CallRecord>, now: &CallRecord, history: &[Entry]) {
        self.answers(now);
        match history.last().and_then(|entry| entry.event) {
            Some(Transition::Delayed) => {
                let spent = (before.map_or(0, |it| it.attempt), before.map_or(0, |it| it.epoch));
                let costs = (now.attempt, now.epoch) != spent || now.state != State::Ready;
                self.wrong.waiting_cost |= costs;
            }
            Some(Transition::Answered | Transition::TurnedAway) => self.is_kept_out = true,
            _ => {}
        }
        let Some(before) = before else { return };
        if before.idempotency_key != now.idempotency_key {
            self.wrong.key_changed |= self.edits == 0 || !is_edited(now);
            self.edits = self.edits.saturating_sub(1);
        }
        let is_unbegun =
            matches!(before.state, State::Judging | State::Planned | State::Pending | State::Ready);
        let is_ended = matches!(now.state, State::Refused | State::Cancelled | State::Expired);
        if let (true, Some((event, entry, _))) = (is_unbegun && is_ended, last_decision(history)) {
            let counts = entry.signed.as_ref().is_none_or(|signed| signed.key == TRUSTED);
            self.wrong.forgery_counted |= !counts;
            self.wrong.letter_lost |= event == Transition::Requeued;
        }
    }

    fn answers(&mut self, record: &CallRecord) {
        let of = record.id.to_string();
        let Some(answer) = &record.answer else {
            // An answer has disappeared.
            self.wrong.answered_twice |= self.answered.as_ref().is_some_and(|it| it.0 == of);
            return;
        };
        let answer = (of, answer.whole.to_string());
        let first = self.answered.get_or_insert_with(|| answer.clone());
        self.wrong.answered_twice |= *first != answer;
    }
}

fn is_edited(record: &CallRecord) -> bool {
    matches!(&record.arguments, StoredText::Plain(arguments) if arguments == EDITED)
}

fn bit(generation: u32) -> u32 {
    1_u32.checked_shl(generation).unwrap_or(0)
}
