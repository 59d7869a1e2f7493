//! Lists what each actor may do next.

use toolwright_core::context::CallId;
use toolwright_executor::lifecycle::By;
use toolwright_journal::journal::{CallRecord, State};

use crate::scenario::{Outcome, Scenario, StageSays};
use crate::step::{Action, Who};
use crate::switches::Switch;
use crate::system::{RunEnd, System};
use crate::task::{Phase, Running, Task};
use crate::world::World;

impl System {
    /// Returns whether a worker's claim still counts.
    #[must_use]
    pub fn is_owner(&self, id: CallId, epoch: u64) -> bool {
        let now = self.journal.get(id);
        now.is_some_and(|now| now.state == State::Running && now.epoch == epoch)
    }

    /// Returns whether a living worker runs a call.
    #[must_use]
    pub fn has_owner(&self, id: CallId) -> bool {
        let held = self.workers.iter().filter_map(Task::holds);
        held.into_iter().any(|(of, epoch)| of == id && self.is_owner(of, epoch))
    }

    /// Numbers the calls.
    pub(crate) fn counted(&self) -> impl Iterator<Item = (u8, &CallRecord)> {
        (0..).zip(self.journal.calls())
    }

    pub(crate) fn is_lapsed(&self, record: &CallRecord) -> bool {
        record.lease.is_some_and(|lease| lease <= self.now)
    }

    pub(crate) fn is_late(&self, record: &CallRecord) -> bool {
        record.ask.as_ref().is_some_and(|ask| ask.deadline <= self.now)
    }

    pub(crate) fn is_overdue(&self, record: &CallRecord) -> bool {
        record.handed_over_until.is_some_and(|until| until <= self.now)
    }
}

/// Returns whether a call has not begun.
fn is_unbegun(record: &CallRecord) -> bool {
    matches!(
        record.state,
        State::Judging | State::Planned | State::Pending | State::Ready | State::HandedOver
    )
}

impl Scenario {
    /// Lists the actions of all actors.
    pub fn actions(&self, system: &System, actions: &mut Vec<Action>) {
        self.process_actions(system, actions);
        self.chances(system, actions);
    }

    /// Lists the actions of processes and people who are in the middle of something, or have something to do.
    pub(crate) fn process_actions(&self, system: &System, actions: &mut Vec<Action>) {
        let mut is_idle_seen = false;
        for (number, task) in (0..).zip(&system.workers) {
            if let Task::Idle = task {
                // Idle workers are alike, so list the actions of one.
                if !is_idle_seen {
                    self.idle_actions(system, number, actions);
                }
                is_idle_seen = true;
            }
            if let Task::Running(running) = task {
                self.running_actions(system, number, running, actions);
            }
            common_actions(self, system, Who::Worker(number), task, actions);
        }
        if let (Task::Idle, false) = (&system.sweeper, self.lacks(Switch::NobodySweeps)) {
            let due = system.counted().filter(|(_, record)| match record.state {
                State::Pending => system.is_late(record),
                State::Running => system.is_lapsed(record),
                State::HandedOver => system.is_overdue(record),
                _ => false,
            });
            actions.extend(due.map(|(nth, _)| Action::Look(Who::Sweeper, nth)));
        }
        common_actions(self, system, Who::Sweeper, &system.sweeper, actions);
        if let (Task::Idle, RunEnd::Said) = (&system.canceller, system.run_end) {
            let before = actions.len();
            let unbegun = system.counted().filter(|(_, record)| is_unbegun(record));
            actions.extend(unbegun.map(|(nth, _)| Action::Look(Who::Canceller, nth)));
            if actions.len() == before {
                actions.push(Action::RunEnded);
            }
        }
        common_actions(self, system, Who::Canceller, &system.canceller, actions);
        if system.approver.is_some() {
            actions.push(Action::HandIn);
        }
    }

    fn idle_actions(&self, system: &System, worker: u8, actions: &mut Vec<Action>) {
        for (place, _) in (0..).zip(&self.calls) {
            let is_kept = system.journal.at(place).is_some();
            let may_repeat = self.lacks(Switch::PlaceNotKept) && system.journal.calls().count() < 3;
            if !is_kept || may_repeat {
                actions.push(Action::Submit(worker, place));
            }
        }
        if self.lacks(Switch::NobodyResumes) {
            return;
        }
        for (nth, record) in system.counted() {
            match record.state {
                _ if record.generation > self.generations.into() => {}
                State::Judging | State::Ready => {
                    actions.push(Action::Look(Who::Worker(worker), nth));
                }
                State::Indeterminate if self.reconciles => {
                    actions.push(Action::Reconcile(worker, nth));
                }
                _ => {}
            }
        }
    }

    fn running_actions(
        &self,
        system: &System,
        worker: u8,
        running: &Running,
        actions: &mut Vec<Action>,
    ) {
        let record = &running.record;
        let is_owner = system.is_owner(record.id, record.epoch);
        let goes_on = self.late_owners_act || is_owner || running.ahead.is_some();
        let outcomes: &[Outcome] = match running.phase {
            Phase::Claimed => &[Outcome::NotStarted, Outcome::Dropped],
            Phase::Begun => &[
                Outcome::NotStarted,
                Outcome::Transient,
                Outcome::Final,
                Outcome::Unknown,
                Outcome::Dropped,
            ],
            Phase::Acted => {
                &[Outcome::Result, Outcome::Transient, Outcome::Unknown, Outcome::Dropped]
            }
        };
        match running.phase {
            Phase::Claimed if goes_on => actions.push(Action::Begin(worker)),
            Phase::Begun if goes_on => actions.push(Action::Act(worker)),
            _ => {}
        }
        // Dropping a worker's task leaves its call to other workers. It costs a crash, since it could happen without
        // end.
        let is_possible = |outcome: &&Outcome| {
            let costs = **outcome == Outcome::Dropped && running.by == By::Worker;
            self.outcomes.contains(outcome) && (!costs || system.budget.crashes > 0)
        };
        let possible = outcomes.iter().filter(is_possible);
        actions.extend(possible.map(|outcome| Action::End(worker, *outcome)));
        let now = system.journal.get(record.id);
        if !is_owner || now.is_some_and(|now| system.is_lapsed(now)) {
            actions.push(Action::Renew(worker));
        }
    }

    /// Lists what people may want, and what may go wrong.
    fn chances(&self, system: &System, actions: &mut Vec<Action>) {
        let budget = &system.budget;
        if system.approver.is_some() {
            if budget.unheard > 0 {
                actions.push(Action::HandInUnheard);
            }
            if budget.crashes > 0 {
                actions.push(Action::Forget);
            }
        } else {
            let world = World { scenario: self, system: system.clone(), trace: None };
            for (nth, record) in system.counted() {
                let says = self.verdicts.iter().filter(|it| world.may_say(record, **it));
                actions.extend(says.map(|verdict| Action::Say(nth, *verdict)));
            }
        }
        if self.ends_run && system.run_end == RunEnd::No {
            actions.push(Action::EndRun);
        }
        self.lapses(system, actions);
        let waits = |record: &CallRecord| {
            let is_asked = matches!(record.state, State::Pending | State::Ready)
                && record.ask.is_some()
                && !system.is_late(record);
            is_asked || record.state == State::HandedOver && !system.is_overdue(record)
        };
        self.supplies(system, actions);
        if budget.deadlines > 0 && system.journal.calls().any(waits) {
            actions.push(Action::Deadline);
        }
        if budget.changes > 0 {
            actions.push(Action::ChangeTool);
        }
        if budget.policies > 0 {
            actions.push(Action::ChangePolicy);
        }
        if budget.rewrites > 0 {
            for (nth, record) in system.counted().filter(|(_, record)| !record.state.is_final()) {
                let can = self.rewrites.iter().filter(|it| it.changes(record));
                actions.extend(can.map(|rewrite| Action::Rewrite(nth, *rewrite)));
            }
        }
    }

    /// Lets an idle process supply results. If two are idle, it does not matter which of them gets a result.
    fn supplies(&self, system: &System, actions: &mut Vec<Action>) {
        let mut workers = (0..).zip(&system.workers);
        let Some((worker, _)) = workers.find(|(_, task)| matches!(task, Task::Idle)) else {
            return;
        };
        let handed_over = system.counted().filter(|(_, it)| it.state == State::HandedOver);
        actions.extend(handed_over.flat_map(|(nth, _)| {
            [false, true].map(|has_failed| Action::Supply(worker, nth, has_failed))
        }));
    }

    /// Lists the leases that may lapse: those of dead owners always, others as often as the budget allows.
    pub(crate) fn lapses(&self, system: &System, actions: &mut Vec<Action>) {
        for (nth, record) in system.counted() {
            let can_lapse = system.budget.lapses > 0 || !system.has_owner(record.id);
            if record.state == State::Running && !system.is_lapsed(record) && can_lapse {
                actions.push(Action::Lapse(nth));
            }
        }
    }
}

fn common_actions(
    scenario: &Scenario,
    system: &System,
    who: Who,
    task: &Task,
    actions: &mut Vec<Action>,
) {
    match task {
        Task::Idle => return,
        Task::Staging(_) => {
            let is_possible =
                |says: &&StageSays| **says != StageSays::Later || system.budget.delays > 0;
            let says = scenario.stages.iter().filter(is_possible);
            actions.extend(says.map(|says| Action::Stage(who, *says)));
        }
        Task::Looking(_) => actions.push(Action::Decide(who)),
        Task::Decided(_) => {
            actions.push(Action::Commit(who));
            if system.budget.unheard > 0 {
                actions.push(Action::CommitUnheard(who));
            }
        }
        Task::Running(_) => {}
    }
    if system.budget.crashes > 0 {
        actions.push(Action::Crash(who));
    }
}
