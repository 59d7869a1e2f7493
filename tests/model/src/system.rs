//! Everything there is at one moment, and what a step makes of it.

use stateright::{Model, Property};
use toolwright::Effect;
use toolwright::journal::State;

use crate::people::{Approver, Canceller, Sweeper};
use crate::properties;
use crate::record::Record;
use crate::scenario::{Budget, Outcome, Scenario, Verdict};
use crate::store::{RECORDS, Store};
use crate::witness::Witness;
use crate::worker::Worker;

/// How many workers there can be.
pub const WORKERS: usize = 3;

/// Everything at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct System {
    /// What is durable.
    pub store: Store,
    /// The version of the tools.
    pub tool: u8,
    /// What workers know, in an order that says nothing.
    pub workers: [Worker; WORKERS],
    /// What the sweeper knows.
    pub sweeper: Option<Sweeper>,
    /// What a person is about to say.
    pub approver: Option<Approver>,
    /// How far the end of the run has come.
    pub canceller: Canceller,
    /// What may still go wrong.
    pub budget: Budget,
    /// What was seen of each place.
    pub witnesses: [Witness; RECORDS],
}

/// One step of somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// A worker submits the call of a place that it has not found in the journal.
    Submit(u8, u8),
    /// A worker reads a call that may go on.
    Look(u8, u8),
    /// It looks at all else that counts: history, decision, tool, life of the run.
    Check(u8),
    /// It commits what it has made of it.
    Commit(u8),
    /// It polls the body for the first time.
    Begin(u8),
    /// The body has its effect.
    Act(u8),
    /// The body ends.
    End(u8, Outcome),
    /// The end is committed.
    Write(u8),
    /// The end is committed, and nobody hears of it.
    WriteUnheard(u8),
    /// The lease is renewed, or found to be lost.
    Renew(u8),
    /// A worker forgets everything.
    Crash(u8),
    /// The sweeper reads a call that is due.
    SweepLook(u8),
    /// It commits that an owner is gone, or a deadline has passed.
    SweepCommit,
    /// A person makes up their mind about a call that they are shown.
    Say(u8, Verdict),
    /// The approval service takes it to the journal.
    Decide,
    /// The same, and nobody hears of it.
    DecideUnheard,
    /// The person forgets it.
    Forget,
    /// That the run has ended is committed.
    EndRun,
    /// A call that has not begun is read.
    CancelLook(u8),
    /// It is cancelled.
    CancelCommit,
    /// Nothing is left to cancel; whoever ended the run is told.
    RunEnded,
    /// A lease lapses.
    Lapse(u8),
    /// A deadline passes.
    Deadline(u8),
    /// The tools change.
    Change,
}

impl System {
    /// Before anything has happened.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        Self {
            store: Store::default(),
            tool: 0,
            workers: [Worker::Idle; WORKERS],
            sweeper: None,
            approver: None,
            canceller: Canceller::Waits,
            budget: scenario.budget,
            witnesses: [Witness::default(); RECORDS],
        }
    }

    /// The witness of a record's place.
    pub fn witness(&mut self, record: &Record) -> &mut Witness {
        &mut self.witnesses[usize::from(record.place) % RECORDS]
    }

    /// Whether the claim of a worker still counts.
    #[must_use]
    pub fn is_owner(&self, id: u8, record: &Record) -> bool {
        self.store
            .get(id)
            .is_some_and(|now| now.state == State::Running && now.epoch == record.epoch)
    }

    /// Whether somebody alive runs a call.
    #[must_use]
    pub fn has_owner(&self, id: u8) -> bool {
        let runs = |worker: &Worker| {
            worker.running().is_some_and(|(of, record)| of == id && self.is_owner(id, &record))
        };
        self.workers.iter().any(runs)
    }

    /// Brings states together that differ in the order of workers alone.
    fn in_order(mut self) -> Self {
        self.workers.sort_by_key(Worker::rank);
        self
    }
}

impl Scenario {
    /// Whether a person has to decide on a call.
    #[must_use]
    pub fn asks(&self, record: &Record) -> bool {
        self.calls.get(usize::from(record.place)).is_some_and(|call| call.asks)
    }

    /// The effect of the tool of a place.
    #[must_use]
    pub fn effect(&self, place: u8) -> Effect {
        self.calls.get(usize::from(place)).map_or(Effect::Once, |call| call.effect)
    }

    /// What follows a step; nothing where it changes nothing.
    #[must_use]
    pub fn after(&self, system: &System, action: Action) -> Option<System> {
        let mut next = *system;
        self.step(&mut next, action)?;
        Some(next.in_order())
    }

    fn step(&self, system: &mut System, action: Action) -> Option<()> {
        match action {
            Action::Submit(worker, place) => self.submit(system, worker, place),
            Action::Look(worker, id) => self.look(system, worker, id),
            Action::Check(worker) => self.check(system, worker),
            Action::Commit(worker) => self.commit(system, worker),
            Action::Begin(worker) => self.begin(system, worker),
            Action::Act(worker) => self.act(system, worker),
            Action::End(worker, outcome) => self.end(system, worker, outcome),
            Action::Write(worker) => self.write(system, worker, true),
            Action::WriteUnheard(worker) => {
                system.budget.unheard = system.budget.unheard.checked_sub(1)?;
                self.write(system, worker, false)
            }
            Action::Renew(worker) => self.renew(system, worker),
            Action::Crash(worker) => {
                system.budget.crashes = system.budget.crashes.checked_sub(1)?;
                *system.workers.get_mut(usize::from(worker))? = Worker::Idle;
                Some(())
            }
            Action::SweepLook(id) => self.sweep_look(system, id),
            Action::SweepCommit => self.sweep_commit(system),
            Action::Say(id, verdict) => self.say(system, id, verdict),
            Action::Decide => self.decide(system, true),
            Action::DecideUnheard => {
                system.budget.unheard = system.budget.unheard.checked_sub(1)?;
                self.decide(system, false)
            }
            Action::Forget => {
                system.budget.crashes = system.budget.crashes.checked_sub(1)?;
                system.approver = None;
                Some(())
            }
            Action::EndRun => self.end_run(system),
            Action::CancelLook(id) => self.cancel_look(system, id),
            Action::CancelCommit => self.cancel_commit(system),
            Action::RunEnded => {
                system.canceller = Canceller::Done;
                Some(())
            }
            Action::Lapse(id) => {
                if system.has_owner(id) {
                    system.budget.lapses = system.budget.lapses.checked_sub(1)?;
                }
                system.store.calls.get_mut(usize::from(id))?.as_mut()?.is_lapsed = true;
                Some(())
            }
            Action::Deadline(id) => {
                system.budget.deadlines = system.budget.deadlines.checked_sub(1)?;
                system.store.calls.get_mut(usize::from(id))?.as_mut()?.is_late = true;
                Some(())
            }
            Action::Change => {
                system.budget.changes = system.budget.changes.checked_sub(1)?;
                system.tool += 1;
                Some(())
            }
        }
    }
}

/// A scenario as the checker explores it.
#[derive(Debug, Clone)]
pub struct Explored {
    /// The scenario.
    pub scenario: Scenario,
    /// The property that is looked for, where it is one alone.
    pub until: Option<&'static str>,
}

impl Model for Explored {
    type State = System;
    type Action = Action;

    fn init_states(&self) -> Vec<System> {
        vec![System::new(&self.scenario)]
    }

    fn actions(&self, system: &System, actions: &mut Vec<Action>) {
        self.scenario.worker_actions(system, actions);
        self.scenario.other_actions(system, actions);
        self.scenario.chances(system, actions);
    }

    fn next_state(&self, system: &System, action: Action) -> Option<System> {
        self.scenario.after(system, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::all(self)
    }

    fn within_boundary(&self, system: &System) -> bool {
        system.store.all().all(|(_, record)| record.generation <= self.scenario.generations)
    }
}
