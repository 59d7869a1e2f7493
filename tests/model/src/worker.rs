//! A worker: a process that submits calls, goes on with what is left, and runs what it has claimed. Each step that a
//! crash may follow is one of its own.

use toolwright::Effect;
use toolwright::journal::{Event, Failure, State};

use crate::people::Canceller;
use crate::record::Record;
use crate::scenario::{Outcome, Scenario};
use crate::store::Conflict;
use crate::switches::Switch;
use crate::system::System;

/// What a worker knows; gone when it crashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Worker {
    /// Nothing.
    Idle,
    /// It has judged a call that was not in the journal.
    Opening {
        /// The place of the call.
        place: u8,
    },
    /// It has read a call.
    Seen {
        /// Which.
        id: u8,
        /// As it was then.
        record: Record,
    },
    /// It has looked at all else, and knows what is to be done.
    Judged {
        /// Which call.
        id: u8,
        /// As it was when it was read.
        record: Record,
        /// What is to be done.
        then: Then,
    },
    /// Its claim is durable.
    Claimed {
        /// Which call.
        id: u8,
        /// As it was claimed.
        record: Record,
        /// The version that its end starts from.
        from: u8,
    },
    /// The body has begun.
    Begun {
        /// Which call.
        id: u8,
        /// As it was claimed.
        record: Record,
        /// The version that its end starts from.
        from: u8,
    },
    /// The body has had its effect.
    Acted {
        /// Which call.
        id: u8,
        /// As it was claimed.
        record: Record,
        /// The version that its end starts from.
        from: u8,
    },
    /// The body has ended, which is to be written.
    Ended {
        /// Which call.
        id: u8,
        /// As it was claimed.
        record: Record,
        /// As it shall be.
        ended: Record,
        /// The version that its end starts from.
        from: u8,
        /// Whether it is known that nothing came of the body.
        is_undone: bool,
    },
}

/// What is to be done with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Then {
    /// It is claimed.
    Claim,
    /// It is judged again.
    Change,
    /// It is ended with its run.
    EndWithRun,
    /// It may run.
    Allow,
    /// A person is asked.
    Ask,
    /// It is indeterminate after all.
    Doubt,
}

impl Worker {
    /// The call it runs, if any.
    #[must_use]
    pub fn running(&self) -> Option<(u8, Record)> {
        match *self {
            Self::Claimed { id, record, .. }
            | Self::Begun { id, record, .. }
            | Self::Acted { id, record, .. }
            | Self::Ended { id, record, .. } => Some((id, record)),
            _ => None,
        }
    }

    /// Whether its body has ended.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        matches!(self, Self::Ended { .. })
    }

    /// Its place among workers.
    #[must_use]
    pub fn rank(&self) -> (u8, u8, u8, u8) {
        let of = |rank, id, record: &Record, more| (rank, id, record.version, more);
        match self {
            Self::Ended { id, record, ended, .. } => of(0, *id, record, ended.version),
            Self::Acted { id, record, from } => of(1, *id, record, *from),
            Self::Begun { id, record, from } => of(2, *id, record, *from),
            Self::Claimed { id, record, from } => of(3, *id, record, *from),
            Self::Judged { id, record, then } => of(4, *id, record, *then as u8),
            Self::Seen { id, record } => of(5, *id, record, 0),
            Self::Opening { place } => (6, *place, 0, 0),
            Self::Idle => (7, 0, 0, 0),
        }
    }
}

/// The steps of workers. Each is nothing where it changes nothing.
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

    /// `claim` and `judge_again`, up to their commit: history, life of the run, tool, decision.
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
            record.advance(Event::Asked).ok()?;
        } else {
            record.advance(Event::Allowed).ok()?;
            record.advance(Event::Claimed).ok()?;
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
            Then::Claim => next.advance(Event::Claimed).ok()?,
            Then::Change => next.advance(Event::Changed).ok()?,
            Then::Doubt => next.advance(Event::Doubted).ok()?,
            Then::Allow => {
                next.tool = system.tool;
                next.advance(Event::Allowed).ok()?;
            }
            Then::Ask => {
                next.tool = system.tool;
                next.advance(Event::Asked).ok()?;
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
        let errored = |failure| Event::Errored {
            failure,
            effect,
            exhausted: record.attempt >= self.attempts,
        };
        match outcome {
            Outcome::Result => ended.advance(Event::Succeeded).ok()?,
            Outcome::NotStarted => ended.advance(errored(Failure::NotStarted)).ok()?,
            Outcome::Transient => ended.advance(errored(Failure::Transient)).ok()?,
            Outcome::Final => ended.advance(errored(Failure::Final)).ok()?,
            Outcome::Unknown => ended.advance(errored(Failure::Unknown)).ok()?,
            Outcome::GivenUp if has_begun => {
                ended.advance(errored(Failure::Cancelled)).ok()?;
            }
            Outcome::GivenUp => {
                let failure = Failure::NotStarted;
                ended.advance(Event::Errored { failure, effect, exhausted: false }).ok()?;
                ended.advance(Event::RunEnded).ok()?;
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

    /// `end_unbegun`, its commit: ends a call that has not begun.
    pub(crate) fn end_unbegun(&self, system: &mut System, id: u8, record: Record) -> Option<()> {
        let mut ended = record;
        if record.is_doubtful && !self.switches.has(Switch::DoubtSkipped) {
            ended.advance(Event::Doubted).ok()?;
        } else {
            ended.advance(Event::RunEnded).ok()?;
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

    /// What a lost owner makes of a call.
    pub(crate) fn owner_lost(&self, record: &mut Record) -> Option<()> {
        let retried = self.switches.has(Switch::LostOnceRetried);
        let effect = if retried { Effect::Idempotent } else { record.effect };
        let exhausted = record.attempt >= self.attempts;
        let failure = Failure::OwnerLost;
        record.advance(Event::Errored { failure, effect, exhausted }).ok()
    }
}

fn set(system: &mut System, worker: u8, to: Worker) -> Option<()> {
    *system.workers.get_mut(usize::from(worker))? = to;
    Some(())
}
