//! Workers, from the claim on: a body begins, acts and ends, and its end is committed, as `executor/journaled` does it in
//! `perform`. Each step is nothing where it changes nothing.

use toolwright::Effect;
use toolwright::journal::{Failure, Transition};

use crate::record::Record;
use crate::scenario::{Outcome, Scenario};
use crate::store::Conflict;
use crate::switches::Switch;
use crate::system::System;
use crate::worker::{Worker, set};

impl Scenario {
    /// The body is polled for the first time.
    pub(crate) fn begin(&self, system: &mut System, worker: u8) -> Option<()> {
        let Worker::Claimed { id, record, from } = *system.workers.get(usize::from(worker))? else {
            return None;
        };
        system.witness(&record).begins(&record);
        set(system, worker, Worker::Begun { id, record, from })
    }

    /// The body has its effect.
    pub(crate) fn act(&self, system: &mut System, worker: u8) -> Option<()> {
        let Worker::Begun { id, record, from } = *system.workers.get(usize::from(worker))? else {
            return None;
        };
        system.witness(&record).acts(&record);
        set(system, worker, Worker::Acted { id, record, from })
    }

    /// `ended` and `given_up`: what an outcome makes of the call.
    pub(crate) fn end(&self, system: &mut System, worker: u8, outcome: Outcome) -> Option<()> {
        let (id, record, from, has_begun) = match *system.workers.get(usize::from(worker))? {
            Worker::Claimed { id, record, from } => (id, record, from, false),
            Worker::Begun { id, record, from } | Worker::Acted { id, record, from } => {
                (id, record, from, true)
            }
            _ => return None,
        };
        let mut ended = record;
        let effect = record.effect;
        let errored = |failure| Transition::Errored {
            failure,
            effect,
            exhausted: record.attempt >= self.attempts,
        };
        match outcome {
            Outcome::Result => ended.advance(Transition::Succeeded).ok()?,
            Outcome::NotStarted => ended.advance(errored(Failure::NotStarted)).ok()?,
            Outcome::Transient => ended.advance(errored(Failure::Transient)).ok()?,
            Outcome::Final => ended.advance(errored(Failure::Final)).ok()?,
            Outcome::Unknown => ended.advance(errored(Failure::Unknown)).ok()?,
            Outcome::GivenUp if has_begun => {
                ended.advance(errored(Failure::Cancelled)).ok()?;
            }
            Outcome::GivenUp => {
                let failure = Failure::NotStarted;
                ended.advance(Transition::Errored { failure, effect, exhausted: false }).ok()?;
                ended.advance(Transition::RunEnded).ok()?;
            }
        }
        if ended.state.is_answered() {
            self.answer(&mut ended);
        }
        let is_undone = outcome == Outcome::NotStarted;
        set(system, worker, Worker::Ended { id, record, ended, from, is_undone })
    }

    /// `concluded`: the end is committed, for the owner alone. Unheard, it is tried again.
    pub(crate) fn write(&self, system: &mut System, worker: u8, is_heard: bool) -> Option<()> {
        let Worker::Ended { id, record, ended, from, is_undone } =
            *system.workers.get(usize::from(worker))?
        else {
            return None;
        };
        let is_owner = system.is_owner(id, &record) || self.switches.has(Switch::NotWrittenAhead);
        let expects =
            if self.switches.has(Switch::NoFence) { system.store.get(id)?.version } else { from };
        let written = system.store.update(id, expects, ended, self.switches);
        if !is_heard {
            // An owner that is refused hears of it.
            written.ok()?;
        }
        if written.is_ok() {
            let witness = system.witness(&record);
            witness.wrong.late_owner_wrote |= !is_owner;
            if is_undone {
                witness.undone(&record);
            }
            self.wrote(system, id, &ended);
        }
        if !is_heard {
            return Some(());
        }
        set(system, worker, Worker::Idle)?;
        let now = system.store.get(id)?;
        let own = ended.result.filter(|_| self.switches.has(Switch::OwnResultTold));
        if let Some(answer) = own.filter(|_| written.is_ok()).or(now.answer) {
            system.witness(&record).told(id, answer);
        }
        Some(())
    }

    /// `renew`: who finds the lease lost stops, and records nothing.
    pub(crate) fn renew(&self, system: &mut System, worker: u8) -> Option<()> {
        let (id, record) = system.workers.get(usize::from(worker))?.running()?;
        match system.store.renew(id, record.epoch) {
            Ok(()) => Some(()),
            Err(Conflict) => set(system, worker, Worker::Idle),
        }
    }

    /// What a lost owner makes of a call.
    pub(crate) fn owner_lost(&self, record: &mut Record) -> Option<()> {
        let retried = self.switches.has(Switch::LostOnceRetried);
        let effect = if retried { Effect::Idempotent } else { record.effect };
        let exhausted = record.attempt >= self.attempts;
        let failure = Failure::OwnerLost;
        record.advance(Transition::Errored { failure, effect, exhausted }).ok()
    }
}
