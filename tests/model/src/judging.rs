//! Workers, up to the claim: a call is submitted or read, judged, and committed as `executor/journaled` does it in `submit`,
//! `claim` and `evaluate_again`. Each step is nothing where it changes nothing.

use toolwright::journal::{State, Transition};

use crate::people::Canceller;
use crate::record::Record;
use crate::scenario::Scenario;
use crate::store::Conflict;
use crate::switches::Switch;
use crate::system::System;
use crate::worker::{Then, Worker, set};

impl Scenario {
    /// `submit`: the place is free as far as it sees, and the call is judged.
    pub(crate) fn submit(&self, system: &mut System, worker: u8, place: u8) -> Option<()> {
        if system.store.run_ended && !self.switches.has(Switch::RunEndUnseen) {
            return None;
        }
        set(system, worker, Worker::Opening { place })
    }

    /// `list`, `get`, or the place of a turn that is submitted again: a call is read.
    pub(crate) fn look(&self, system: &mut System, worker: u8, id: u8) -> Option<()> {
        let record = system.store.get(id)?;
        set(system, worker, Worker::Seen { id, record })
    }

    /// `claim` and `evaluate_again`, up to their commit: history, life of the run, tool, decision.
    pub(crate) fn check(&self, system: &mut System, worker: u8) -> Option<()> {
        let Worker::Seen { id, record } = *system.workers.get(usize::from(worker))? else {
            return None;
        };
        let then = if record.state == State::Ready {
            let now = system.store.get(id)?;
            if now.state != record.state && self.switches.has(Switch::HistoryNotCut) {
                system.witness(&record).wrong.falsely_accused = true;
            }
            self.of_ready(system, &record)
        } else {
            self.of_judging(system, &record)
        };
        if then == Then::Claim && record.is_late && self.asks(&record) {
            system.witness(&record).wrong.expired_used = true;
        }
        set(system, worker, Worker::Judged { id, record, then })
    }

    fn of_ready(&self, system: &System, record: &Record) -> Then {
        if self.switches.has(Switch::NotJudgedAtClaim) {
            return Then::Claim;
        }
        if system.store.run_ended {
            return Then::EndWithRun;
        }
        let is_allowed = !self.asks(record) || self.is_decided(record);
        if record.tool == system.tool && is_allowed { Then::Claim } else { Then::Change }
    }

    fn of_judging(&self, system: &System, record: &Record) -> Then {
        if record.is_doubtful {
            return Then::Doubt;
        }
        if system.store.run_ended {
            return Then::EndWithRun;
        }
        let is_allowed = !self.asks(record) || self.is_decided(record);
        if is_allowed { Then::Allow } else { Then::Ask }
    }

    /// `decided`: a person approved this generation, in time.
    fn is_decided(&self, record: &Record) -> bool {
        let in_time = !record.is_late || self.switches.has(Switch::ExpiryIgnored);
        let is_bound =
            |covers| covers == record.generation || self.switches.has(Switch::DecisionNotBound);
        in_time && record.decision.is_some_and(|decision| is_bound(decision.covers()))
    }

    /// What was judged is committed, if the call is as it was read.
    pub(crate) fn commit(&self, system: &mut System, worker: u8) -> Option<()> {
        match *system.workers.get(usize::from(worker))? {
            Worker::Opening { place } => self.open(system, worker, place),
            Worker::Judged { id, record, then } => self.judged(system, worker, id, record, then),
            _ => None,
        }
    }

    /// `decide`: a new call is recorded, asked about or claimed at once.
    fn open(&self, system: &mut System, worker: u8, place: u8) -> Option<()> {
        set(system, worker, Worker::Idle)?;
        let unseen = [Switch::RunEndUnseen, Switch::RunEndNotCommitted];
        if system.store.run_ended && !unseen.iter().any(|it| self.switches.has(*it)) {
            return Some(());
        }
        let mut record = Record::opened(place, self.effect(place), system.tool);
        if self.asks(&record) {
            record.advance(Transition::Asked).ok()?;
        } else {
            record.advance(Transition::Allowed).ok()?;
            record.advance(Transition::Claimed).ok()?;
        }
        let Ok(id) = system.store.insert(record, self.switches) else { return Some(()) };
        if record.state == State::Running {
            self.claimed(system, &record, None);
            set(system, worker, Worker::Claimed { id, record, from: record.version })?;
        }
        self.wrote(system, id, &record);
        Some(())
    }

    fn judged(
        &self,
        system: &mut System,
        worker: u8,
        id: u8,
        record: Record,
        then: Then,
    ) -> Option<()> {
        set(system, worker, Worker::Idle)?;
        let mut next = record;
        match then {
            Then::EndWithRun => {
                // `end_unbegun` reads it once more.
                next = system.store.get(id)?;
                return self.end_unbegun(system, id, next).map_or(Some(()), Some);
            }
            Then::Claim => next.advance(Transition::Claimed).ok()?,
            Then::Change => next.advance(Transition::Changed).ok()?,
            Then::Doubt => next.advance(Transition::Doubted).ok()?,
            Then::Allow => {
                next.tool = system.tool;
                next.advance(Transition::Allowed).ok()?;
            }
            Then::Ask => {
                next.tool = system.tool;
                next.advance(Transition::Asked).ok()?;
                next.decision = None;
                next.is_late = false;
            }
        }
        if then == Then::Claim && self.switches.has(Switch::NotWrittenAhead) {
            let before = Some(record.state);
            self.claimed(system, &next, before);
            return set(system, worker, Worker::Claimed { id, record: next, from: record.version });
        }
        if then == Then::Claim && system.store.run_ended && self.guards_run_end() {
            return Some(());
        }
        let before = system.store.get(id)?.state;
        if let Err(Conflict) = system.store.update(id, record.version, next, self.switches) {
            return Some(());
        }
        if then == Then::Claim {
            self.claimed(system, &next, Some(before));
            set(system, worker, Worker::Claimed { id, record: next, from: next.version })?;
        }
        self.wrote(system, id, &next);
        Some(())
    }

    fn guards_run_end(&self) -> bool {
        let unguarded =
            [Switch::RunEndUnseen, Switch::RunEndNotCommitted, Switch::NotJudgedAtClaim];
        !unguarded.iter().any(|it| self.switches.has(*it))
    }

    fn claimed(&self, system: &mut System, record: &Record, before: Option<State>) {
        let is_over = system.canceller == Canceller::Done;
        let asks = self.asks(record);
        system.witness(record).claims(record, asks, before, is_over);
    }

    /// `end_unbegun`, its commit: ends a call that has not begun.
    pub(crate) fn end_unbegun(&self, system: &mut System, id: u8, record: Record) -> Option<()> {
        let mut ended = record;
        if record.is_doubtful && !self.switches.has(Switch::DoubtSkipped) {
            ended.advance(Transition::Doubted).ok()?;
        } else if record.is_letter && !record.is_doubtful {
            ended.advance(Transition::PutBack).ok()?;
        } else {
            ended.advance(Transition::RunEnded).ok()?;
            system.witness(&record).wrong.forgery_counted |= record.is_doubtful;
            self.answer(&mut ended);
        }
        if system.store.update(id, record.version, ended, self.switches).is_ok() {
            self.wrote(system, id, &ended);
        }
        Some(())
    }

    /// Sets an answer as the record does it.
    pub(crate) fn answer(&self, record: &mut Record) {
        if self.switches.has(Switch::AnswerReplaced) {
            record.answer = None;
        }
        record.answer();
    }

    /// Tells the witness what is durable now.
    pub(crate) fn wrote(&self, system: &mut System, id: u8, record: &Record) {
        system.witness(record).written(id, record);
    }
}
