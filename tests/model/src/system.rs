//! The whole state at one moment, as the checker compares it.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use jiff::Timestamp;
use stateright::{Model, Property};
use toolwright_core::context::CallId;

use crate::digest;
use crate::fair::Settled;
use crate::journal::Journal;
use crate::people::Approver;
use crate::properties;
use crate::scenario::{Budget, Scenario};
use crate::step::Action;
use crate::task::Task;
use crate::witness::Witness;

/// The whole state at one moment.
#[derive(Debug, Clone)]
pub struct System {
    /// The durable state.
    pub journal: Arc<Journal>,
    /// The time.
    pub now: Timestamp,
    /// The version of the tools.
    pub tool: u8,
    /// How often the policy has changed.
    pub policy: u8,
    /// What the workers know; their order does not matter.
    pub workers: Vec<Task>,
    /// What the sweeper knows.
    pub sweeper: Task,
    /// What the process that ends the run knows.
    pub canceller: Task,
    /// How far the run's end has come.
    pub run_end: RunEnd,
    /// The decision that a person is about to submit.
    pub approver: Option<Approver>,
    /// The mishaps that are left.
    pub budget: Budget,
    /// What was observed of each slot.
    pub witnesses: [Witness; 3],
    /// Which calls used which grants.
    pub uses: Vec<(String, CallId)>,
    /// The digests of rejected calls.
    pub rejected: Vec<String>,
}

/// How far the run's end has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunEnd {
    /// The run has not ended.
    No,
    /// The end is durable.
    Said,
    /// All calls that had not begun are cancelled, and the caller knows.
    Done,
}

impl System {
    /// Returns the state before anything has happened.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        Self {
            journal: Arc::new(Journal::new()),
            now: Timestamp::UNIX_EPOCH,
            tool: 0,
            policy: 0,
            workers: vec![Task::Idle; usize::from(scenario.workers)],
            sweeper: Task::Idle,
            canceller: Task::Idle,
            run_end: RunEnd::No,
            approver: None,
            budget: scenario.budget,
            witnesses: Default::default(),
            uses: Vec::new(),
            rejected: Vec::new(),
        }
    }

    /// Returns the witness of a slot.
    pub fn witness(&mut self, place: u32) -> &mut Witness {
        &mut self.witnesses[place as usize % 3]
    }

    /// Returns the witness of a slot.
    #[must_use]
    pub fn witness_of(&self, place: u32) -> &Witness {
        &self.witnesses[place as usize % 3]
    }

    /// Returns whether the end of the run is durable.
    #[must_use]
    pub fn run_is_ended(&self) -> bool {
        self.run_end != RunEnd::No
    }

    /// Sorts the workers, so that states that differ only in their order are equal.
    pub(crate) fn in_order(mut self) -> Self {
        let now = self.now;
        self.workers.sort_by_cached_key(|task| {
            let mut state = DefaultHasher::new();
            task.hash_into(now, &mut state);
            state.finish()
        });
        self
    }

    pub(crate) fn digest(&self) -> u64 {
        let mut state = DefaultHasher::new();
        self.hash(&mut state);
        state.finish()
    }
}

impl Hash for System {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.journal.hash_into(state);
        for record in self.journal.calls() {
            digest::times(record, self.now, state);
        }
        (self.tool, self.policy, self.run_end, &self.approver, self.budget).hash(state);
        for task in self.workers.iter().chain([&self.sweeper, &self.canceller]) {
            task.hash_into(self.now, state);
        }
        (&self.witnesses, &self.rejected).hash(state);
        for (grant, call) in &self.uses {
            (grant, call.to_string()).hash(state);
        }
    }
}

impl PartialEq for System {
    fn eq(&self, other: &Self) -> bool {
        self.digest() == other.digest()
    }
}

/// A scenario as the checker explores it.
#[derive(Debug, Clone)]
pub struct Explored {
    /// The scenario to explore.
    pub scenario: Scenario,
    /// The property to look for, if it is only one.
    pub until: Option<&'static str>,
    /// The states from which no call is stranded.
    pub settled: Settled,
}

impl Model for Explored {
    type State = System;
    type Action = Action;

    fn init_states(&self) -> Vec<System> {
        vec![System::new(&self.scenario)]
    }

    fn actions(&self, system: &System, actions: &mut Vec<Action>) {
        self.scenario.actions(system, actions);
    }

    fn next_state(&self, system: &System, action: Action) -> Option<System> {
        self.scenario.after(system, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::all(self)
    }

    fn within_boundary(&self, system: &System) -> bool {
        let most = u32::from(self.scenario.generations);
        system.journal.calls().all(|record| record.generation <= most)
    }
}
