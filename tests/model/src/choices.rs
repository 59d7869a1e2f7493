//! Who may do what next.

use toolwright::journal::State;

use crate::people::Canceller;
use crate::scenario::{Outcome, Scenario};
use crate::switches::Switch;
use crate::system::{Action, System};
use crate::worker::Worker;

impl Scenario {
    /// What workers may do.
    pub fn worker_actions(&self, system: &System, actions: &mut Vec<Action>) {
        for (number, worker) in (0..self.workers).zip(&system.workers) {
            match worker {
                Worker::Idle => {
                    self.idle_actions(system, number, actions);
                    // Workers with nothing in mind are alike.
                    continue;
                }
                Worker::Opening { .. } | Worker::Judged { .. } => {
                    actions.push(Action::Commit(number));
                }
                Worker::Seen { .. } => actions.push(Action::Check(number)),
                Worker::Claimed { id, record, .. } => {
                    if self.late_owners_act || system.is_owner(*id, record) {
                        actions.push(Action::Begin(number));
                    }
                    self.ends(&[Outcome::NotStarted, Outcome::GivenUp], number, actions);
                }
                Worker::Begun { id, record, .. } => {
                    if self.late_owners_act || system.is_owner(*id, record) {
                        actions.push(Action::Act(number));
                    }
                    let outcomes = [
                        Outcome::NotStarted,
                        Outcome::Transient,
                        Outcome::Final,
                        Outcome::Unknown,
                        Outcome::GivenUp,
                    ];
                    self.ends(&outcomes, number, actions);
                }
                Worker::Acted { .. } => {
                    let outcomes =
                        [Outcome::Result, Outcome::Transient, Outcome::Unknown, Outcome::GivenUp];
                    self.ends(&outcomes, number, actions);
                }
                Worker::Ended { .. } => {
                    actions.push(Action::Write(number));
                    if system.budget.unheard > 0 {
                        actions.push(Action::WriteUnheard(number));
                    }
                }
            }
            if let Some((id, record)) = worker.running().filter(|_| !worker.is_ended()) {
                let is_lapsed = system.store.get(id).is_some_and(|now| now.is_lapsed);
                if is_lapsed || !system.is_owner(id, &record) {
                    actions.push(Action::Renew(number));
                }
            }
            if system.budget.crashes > 0 {
                actions.push(Action::Crash(number));
            }
        }
    }

    fn ends(&self, outcomes: &[Outcome], worker: u8, actions: &mut Vec<Action>) {
        let possible = outcomes.iter().filter(|outcome| self.outcomes.contains(outcome));
        actions.extend(possible.map(|outcome| Action::End(worker, *outcome)));
    }

    fn idle_actions(&self, system: &System, worker: u8, actions: &mut Vec<Action>) {
        let is_alike = |action: &Action| matches!(action, Action::Submit(..) | Action::Look(..));
        if actions.iter().any(is_alike) {
            return;
        }
        for (place, _) in (0..).zip(&self.calls) {
            let is_kept = system.store.at(place).is_some();
            if !is_kept || self.switches.has(Switch::PlaceNotKept) && system.store.get(2).is_none()
            {
                actions.push(Action::Submit(worker, place));
            }
        }
        if self.switches.has(Switch::NobodyResumes) {
            return;
        }
        for (id, record) in system.store.all() {
            if matches!(record.state, State::Judging | State::Ready) {
                actions.push(Action::Look(worker, id));
            }
        }
    }

    /// What those may do who are no workers.
    pub fn other_actions(&self, system: &System, actions: &mut Vec<Action>) {
        match system.sweeper {
            Some(_) => actions.push(Action::SweepCommit),
            None if self.switches.has(Switch::NobodySweeps) => {}
            None => {
                let due = system.store.all().filter(|(_, record)| match record.state {
                    State::Pending => record.is_late,
                    State::Running => record.is_lapsed,
                    _ => false,
                });
                actions.extend(due.map(|(id, _)| Action::SweepLook(id)));
            }
        }
        if system.approver.is_some() {
            actions.push(Action::Decide);
        }
        match system.canceller {
            Canceller::Waits | Canceller::Done => {}
            Canceller::Said => {
                let before = actions.len();
                let unbegun = system.store.all().filter(|(_, record)| record.is_unbegun());
                actions.extend(unbegun.map(|(id, _)| Action::CancelLook(id)));
                if actions.len() == before {
                    actions.push(Action::RunEnded);
                }
            }
            Canceller::Seen { .. } => actions.push(Action::CancelCommit),
        }
    }

    /// What people want, and what goes wrong.
    pub(crate) fn chances(&self, system: &System, actions: &mut Vec<Action>) {
        let budget = &system.budget;
        if system.approver.is_some() {
            if budget.unheard > 0 {
                actions.push(Action::DecideUnheard);
            }
            if budget.crashes > 0 {
                actions.push(Action::Forget);
            }
        }
        if self.ends_run && system.canceller == Canceller::Waits {
            actions.push(Action::EndRun);
        }
        for (id, record) in system.store.all() {
            if system.approver.is_none() {
                let says = self.verdicts.iter().filter(|it| self.may_say(system, &record, **it));
                actions.extend(says.map(|verdict| Action::Say(id, *verdict)));
            }
            let can_lapse = budget.lapses > 0 || !system.has_owner(id);
            if record.state == State::Running && !record.is_lapsed && can_lapse {
                actions.push(Action::Lapse(id));
            }
            let waits = matches!(record.state, State::Pending | State::Ready);
            if waits && self.asks(&record) && !record.is_late && budget.deadlines > 0 {
                actions.push(Action::Deadline(id));
            }
        }
        if budget.changes > 0 {
            actions.push(Action::Change);
        }
    }
}
