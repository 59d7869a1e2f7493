//! Somebody who sees everything and forgets nothing that matters: what the properties are asked of.

use toolwright_core::tool::Effect;
use toolwright_executor::lifecycle::last_decision;
use toolwright_journal::journal::{CallRecord, Entry, State, StoredText, Transition};

use crate::reading::{EDITED, TRUSTED, arguments};
use crate::scenario::{Policy, Verdict};
use crate::task::Circumstances;

/// What was seen of one call of the turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Witness {
    /// Generations in which a body was begun and nobody has said that nothing came of it; one bit each.
    begun: u32,
    /// Generations of which somebody said that nothing came of them, or that it shall be tried again.
    settled: u32,
    /// Its effect happened, in the generations that nobody has settled since.
    acted: u32,
    /// What people approved: the generation that it lets run, and the digest.
    approved: Vec<(u32, String)>,
    /// What was shown to whoever approved it: the generation that this lets run, and the arguments.
    shown: Vec<(u32, String)>,
    /// The digests whose plans were accepted.
    accepted: Vec<String>,
    /// For the generation of each decision, the generation of the claim that used it.
    used: Vec<(u32, u32)>,
    /// How often people put in other arguments, whose key has not changed yet.
    edits: u8,
    /// A stage has answered it or refused it.
    is_kept_out: bool,
    /// The record that was answered, and how.
    answered: Option<(String, String)>,
    /// What went wrong.
    pub wrong: Wrong,
}

/// What must never be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Wrong {
    /// A `once` call was begun twice without a word in between.
    pub begun_twice: bool,
    /// Its effect happened twice without a word in between.
    pub acted_twice: bool,
    /// A decision was used by claims of two generations.
    pub decision_reused: bool,
    /// A call that asks was claimed or begun without a decision on this generation, and without a grant.
    pub undecided: bool,
    /// It was claimed by a decision whose time had passed.
    pub expired_used: bool,
    /// A decision took effect on what was not shown.
    pub decision_misplaced: bool,
    /// A call ran by a decision on other arguments than were shown.
    pub not_shown: bool,
    /// A call was claimed that was not ready, so perhaps rejected, expired or cancelled.
    pub claimed_unready: bool,
    /// An owner that had lost its lease changed something.
    pub late_owner_wrote: bool,
    /// A call had two answers, or another than was told.
    pub answered_twice: bool,
    /// A record was said to contradict its history.
    pub falsely_accused: bool,
    /// A record stands where its history does not take it.
    pub contradicted: bool,
    /// Something was claimed after the run's end had been told.
    pub claimed_after_end: bool,
    /// The word of somebody who has no say ended a call.
    pub forgery_counted: bool,
    /// An owner whose renewal was accepted lost its call.
    pub renewal_lost: bool,
    /// A call was claimed that the policy denies.
    pub denied_ran: bool,
    /// A call was claimed that is planned, and whose plan nobody accepted.
    pub unplanned: bool,
    /// A call was claimed by a grant that does not count.
    pub grant_outside: bool,
    /// A grant was used by more calls than it is for.
    pub grant_overused: bool,
    /// A grant was used where people are asked each time.
    pub granted_each_time: bool,
    /// A person was asked again what was rejected in this run.
    pub asked_again: bool,
    /// A dead letter that was requeued has ended without having run.
    pub letter_lost: bool,
    /// The idempotency key changed with the same arguments.
    pub key_changed: bool,
    /// A call was claimed that its stages did not let through.
    pub unstaged: bool,
    /// What stages said of another version of a call moved it.
    pub staged_before: bool,
    /// A call spent an attempt by waiting for a stage, or ended by it.
    pub waiting_cost: bool,
    /// A call was claimed that a stage had answered.
    pub answered_ran: bool,
    /// A result counted that was supplied after the deadline of its call.
    pub supplied_late: bool,
    /// A call that is carried out elsewhere was claimed without being handed over, or in doubt.
    pub doubted_elsewhere: bool,
    /// A decision asked for what the machine does not know, or had never read enough.
    pub impossible: bool,
}

impl Witness {
    /// A claim of this record is durable, or its body begins without one; before, the call stood at this state.
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

    /// A statement took effect on this record.
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

    /// A body begins.
    pub fn begins(&mut self, record: &CallRecord) {
        let now = bit(record.generation);
        if self.settled & now == 0 {
            let is_once = record.effect == Effect::Once;
            self.wrong.begun_twice |= is_once && self.begun & !self.settled != 0;
        }
        self.begun |= now;
    }

    /// A body acts.
    pub fn acts(&mut self, record: &CallRecord) {
        self.wrong.acted_twice |= record.effect == Effect::Once && self.acted != 0;
        self.acted |= bit(record.generation);
    }

    /// Its owner, or its tool, says that nothing came of the attempt.
    pub fn undone(&mut self, record: &CallRecord) {
        self.begun &= !bit(record.generation);
    }

    /// Somebody who has a say settles what came of a generation, and of those before it.
    pub fn settles(&mut self, generation: u32) {
        self.settled |= bit(generation) | bit(generation).saturating_sub(1);
    }

    /// Whether the effect has happened.
    #[must_use]
    pub fn has_acted(&self) -> bool {
        self.acted != 0
    }

    /// A record is durable.
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
            // An answer that was there is gone.
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
