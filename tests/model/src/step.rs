//! The actions of all actors, and their results.

use std::sync::Arc;

use toolwright_core::context::CallId;
use toolwright_core::error::ErrorClass;
use toolwright_executor::lifecycle::trace::TracedDecision;
use toolwright_executor::lifecycle::{
    Attempt, AttemptError, By, DroppedClaim, End, Input, Reconciliation, Snapshot, SuppliedResult,
};
use toolwright_journal::journal::{AnswerRecord, CallRecord, DocumentWrite, Transaction};

use crate::reading::{self, LEASE, RUN, THINKING};
use crate::scenario::{Outcome, Rewrite, Scenario, StageSays, Verdict};
use crate::switches::Switch;
use crate::system::{RunEnd, System};
use crate::task::{Look, Phase, Running, Task};
use crate::world::World;

/// A process that looks at calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Who {
    /// A worker.
    Worker(u8),
    /// The process that looks for due calls.
    Sweeper,
    /// The process that ends the run.
    Canceller,
}

/// A step of an actor. Calls are numbered in the order of their ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// A worker submits the call of a slot that is not in the journal, and decides.
    Submit(u8, u8),
    /// A process reads a call.
    Look(Who, u8),
    /// A tool looks whether its call happened.
    Reconcile(u8, u8),
    /// A worker gets the result of an external call, or its error where it failed.
    Supply(u8, u8, bool),
    /// A process reads what the decision needs, and decides.
    Decide(Who),
    /// The stages decide about the call.
    Stage(Who, StageSays),
    /// The decision is committed.
    Commit(Who),
    /// The decision is committed, but the reply is lost.
    CommitUnheard(Who),
    /// A worker polls the tool's body for the first time.
    Begin(u8),
    /// The body has its effect.
    Act(u8),
    /// The body ends, and the worker decides what that means for the call.
    End(u8, Outcome),
    /// A worker renews its lease, or finds that it is lost.
    Renew(u8),
    /// A process forgets everything.
    Crash(Who),
    /// A person decides about a call that they are shown.
    Say(u8, Verdict),
    /// The approval service submits the decision.
    HandIn,
    /// The approval service submits the decision, but the reply is lost.
    HandInUnheard,
    /// The person forgets the decision.
    Forget,
    /// The end of the run is committed.
    EndRun,
    /// Nothing is left to cancel, and the caller learns that the run has ended.
    RunEnded,
    /// A lease expires; living owners of other calls renew theirs.
    Lapse(u8),
    /// Every open approval expires.
    Deadline,
    /// The tools change.
    ChangeTool,
    /// The policy changes.
    ChangePolicy,
    /// An adversary rewrites a record.
    Rewrite(u8, Rewrite),
}

impl Scenario {
    /// Returns the system after a step; `None` where the step changes nothing.
    #[must_use]
    pub fn after(&self, system: &System, action: Action) -> Option<System> {
        let mut world = World { scenario: self, system: system.clone(), trace: None };
        world.step(action)?;
        Some(world.system.in_order())
    }

    /// Like `after`, and returns the decisions too.
    #[must_use]
    pub fn traced(&self, system: &System, action: Action) -> Option<(System, Vec<TracedDecision>)> {
        let mut world = World { scenario: self, system: system.clone(), trace: Some(Vec::new()) };
        world.step(action)?;
        Some((world.system.in_order(), world.trace.unwrap_or_default()))
    }
}

impl World<'_> {
    fn step(&mut self, action: Action) -> Option<()> {
        let budget = &mut self.system.budget;
        match action {
            Action::Submit(worker, place) => self.submit(worker, place),
            Action::Look(who, nth) => {
                let id = self.nth(nth)?.id;
                let input = match who {
                    Who::Worker(_) => Input::Resumed,
                    Who::Sweeper => Input::Due,
                    Who::Canceller => Input::Ended(End::RunEnded),
                };
                let task = self.look(id, input)?;
                self.set(who, task)
            }
            Action::Reconcile(worker, nth) => self.reconcile(worker, nth),
            Action::Supply(worker, nth, has_failed) => self.supply(worker, nth, has_failed),
            Action::Decide(who) => {
                let Task::Looking(look) = self.task(who)?.clone() else { return None };
                let task = self.decide(&look);
                self.set(who, task)
            }
            Action::Stage(who, says) => {
                let Task::Staging(look) = self.task(who)?.clone() else { return None };
                if says == StageSays::Later {
                    self.system.budget.delays = self.system.budget.delays.checked_sub(1)?;
                }
                let task = self.staged(&look, says);
                self.set(who, task)
            }
            Action::Commit(who) => self.committed(who, true),
            Action::CommitUnheard(who) => {
                budget.unheard = budget.unheard.checked_sub(1)?;
                self.committed(who, false)
            }
            Action::Begin(worker) => self.begin(worker),
            Action::Act(worker) => self.act(worker),
            Action::End(worker, outcome) => self.end(worker, outcome),
            Action::Renew(worker) => self.renew(worker),
            Action::Crash(who) => {
                budget.crashes = budget.crashes.checked_sub(1)?;
                self.set(who, Task::Idle)
            }
            Action::Say(nth, verdict) => {
                let record = self.nth(nth)?.clone();
                self.say(&record, verdict);
                Some(())
            }
            Action::HandIn => self.hand_in(true),
            Action::HandInUnheard => {
                budget.unheard = budget.unheard.checked_sub(1)?;
                self.hand_in(false)
            }
            Action::Forget => {
                budget.crashes = budget.crashes.checked_sub(1)?;
                self.system.approver.take().map(drop)
            }
            Action::EndRun => {
                let key = format!("run/{RUN}/ended");
                let ended = DocumentWrite { key, expects: None, text: Some(String::new()) };
                let unit = Transaction { calls: Vec::new(), documents: vec![ended] };
                self.write(unit, None).ok()?;
                self.system.run_end = RunEnd::Said;
                Some(())
            }
            Action::RunEnded => {
                self.system.run_end = RunEnd::Done;
                Some(())
            }
            Action::Lapse(nth) => self.lapse(nth),
            Action::Deadline => {
                budget.deadlines = budget.deadlines.checked_sub(1)?;
                self.passes(THINKING, None);
                Some(())
            }
            Action::ChangeTool => {
                budget.changes = budget.changes.checked_sub(1)?;
                self.system.tool += 1;
                Some(())
            }
            Action::ChangePolicy => {
                budget.policies = budget.policies.checked_sub(1)?;
                self.system.policy += 1;
                Some(())
            }
            Action::Rewrite(nth, rewrite) => {
                budget.rewrites = budget.rewrites.checked_sub(1)?;
                let record = self.nth(nth)?.clone();
                self.rewrite(record, rewrite)
            }
        }
    }

    fn nth(&self, nth: u8) -> Option<&CallRecord> {
        self.system.journal.calls().nth(nth.into())
    }

    fn task(&self, who: Who) -> Option<&Task> {
        match who {
            Who::Worker(worker) => self.system.workers.get(usize::from(worker)),
            Who::Sweeper => Some(&self.system.sweeper),
            Who::Canceller => Some(&self.system.canceller),
        }
    }

    fn set(&mut self, who: Who, task: Task) -> Option<()> {
        let place = match who {
            Who::Worker(worker) => self.system.workers.get_mut(usize::from(worker))?,
            Who::Sweeper => &mut self.system.sweeper,
            Who::Canceller => &mut self.system.canceller,
        };
        *place = task;
        Some(())
    }

    /// Submits a call under a new id. Ids that no state mentions any more are used again, which makes no difference.
    fn submit(&mut self, worker: u8, place: u8) -> Option<()> {
        let is_known = |id: CallId| {
            let tasks = self.system.workers.iter().filter_map(Task::call);
            self.system.journal.get(id).is_some() || tasks.into_iter().any(|it| it == id)
        };
        let ids = (0..8_u8).map(|nth| CallId::from_bytes([place * 16 + nth + 1; 16]));
        let id = ids.into_iter().find(|id| !is_known(*id))?;
        let mut record = reading::arrived(self.scenario, &self.system, place, id);
        if self.scenario.lacks(Switch::PlaceNotKept) {
            record.place.turn = None;
        }
        let tool = reading::tool(self.scenario, &self.system, &record);
        let snapshot = Snapshot::new(record, tool);
        let look = Look { snapshot, input: Input::Submitted { reason: None, refused: None } };
        let task = self.decide(&look);
        self.set(Who::Worker(worker), task)
    }

    /// `lifecycle/reconcile.rs`: the tool checks, and reports correctly.
    fn reconcile(&mut self, worker: u8, nth: u8) -> Option<()> {
        let record = self.nth(nth)?.clone();
        let has_acted = self.system.witness_of(record.place.index).has_acted();
        let happened = has_acted.then(|| AnswerRecord::text("it happened"));
        let found = Reconciliation { version: record.version, happened };
        let task = self.look(record.id, Input::Reconciled(found))?;
        self.set(Who::Worker(worker), task)
    }

    /// `lifecycle/supply.rs`: the token is that of the hand-over.
    fn supply(&mut self, worker: u8, nth: u8, has_failed: bool) -> Option<()> {
        let record = self.nth(nth)?.clone();
        let answer = match has_failed {
            true => AnswerRecord::error("failed", "it failed elsewhere", None),
            false => AnswerRecord::text("done elsewhere"),
        };
        let supplied = SuppliedResult { generation: record.generation, answer };
        let task = self.look(record.id, Input::Supplied(supplied))?;
        self.set(Who::Worker(worker), task)
    }

    fn committed(&mut self, who: Who, is_heard: bool) -> Option<()> {
        let Task::Decided(decision) = self.task(who)?.clone() else { return None };
        let task = self.commit(&decision, is_heard);
        self.set(who, task)
    }

    fn running_of(&self, worker: u8) -> Option<Running> {
        match self.task(Who::Worker(worker))? {
            Task::Running(running) => Some(Running::clone(running)),
            _ => None,
        }
    }

    fn begin(&mut self, worker: u8) -> Option<()> {
        let running = self.running_of(worker)?;
        self.system.witness(running.record.place.index).begins(&running.record);
        let begun = Running { phase: Phase::Begun, ..running };
        self.set(Who::Worker(worker), Task::Running(Arc::new(begun)))
    }

    fn act(&mut self, worker: u8) -> Option<()> {
        let running = self.running_of(worker)?;
        self.system.witness(running.record.place.index).acts(&running.record);
        let acted = Running { phase: Phase::Acted, ..running };
        self.set(Who::Worker(worker), Task::Running(Arc::new(acted)))
    }

    fn end(&mut self, worker: u8, outcome: Outcome) -> Option<()> {
        let mut running = self.running_of(worker)?;
        if let Some(ahead) = running.ahead.take() {
            // It does not matter whether this commit succeeds.
            let _refused = self.write(ahead, None);
        }
        let Running { record, tool, by, phase, .. } = running;
        let epoch = record.epoch;
        if outcome == Outcome::Dropped {
            if by == By::Worker {
                self.system.budget.crashes = self.system.budget.crashes.checked_sub(1)?;
            }
            let is_begun = phase != Phase::Claimed;
            let task = self.dropped(record.id, DroppedClaim { epoch, by, is_begun });
            return self.set(Who::Worker(worker), task);
        }
        if outcome == Outcome::NotStarted && phase == Phase::Begun {
            self.system.witness(record.place.index).undone(&record);
        }
        let error = error_of(outcome);
        let answer = match &error {
            Some(error) => AnswerRecord::error(&error.kind, "it failed", None),
            None => AnswerRecord::text(format!("done by claim {epoch}")),
        };
        let attempt = Attempt {
            epoch,
            error,
            answer,
            more: None,
            is_released: false,
            time_left: None,
            circuit: None,
            retry: Some(true),
        };
        let mut snapshot = Snapshot::of(record);
        snapshot.tool = Some(Ok(tool));
        let task = self.decide(&Look { snapshot, input: Input::Attempted(attempt) });
        self.set(Who::Worker(worker), task)
    }

    /// Renews a lease. Where it is lost, nothing of the attempt is recorded.
    fn renew(&mut self, worker: u8) -> Option<()> {
        let running = self.running_of(worker)?;
        let until = self.system.now.checked_add(LEASE).ok()?;
        match self.system.journal.renew(running.record.id, running.record.epoch, until) {
            Ok(journal) => self.system.journal = journal.into(),
            Err(_) => self.set(Who::Worker(worker), Task::Idle)?,
        }
        Some(())
    }

    fn lapse(&mut self, nth: u8) -> Option<()> {
        let id = self.nth(nth)?.id;
        if self.system.has_owner(id) {
            self.system.budget.lapses = self.system.budget.lapses.checked_sub(1)?;
        }
        self.passes(LEASE, Some(id));
        Some(())
    }

    /// Lets time pass. Meanwhile living owners renew their leases, except one that sleeps.
    fn passes(&mut self, time: std::time::Duration, asleep: Option<CallId>) {
        let before = self.system.now;
        self.system.now = before.saturating_add(time).unwrap_or(before);
        let until = self.system.now.saturating_add(LEASE).unwrap_or(before);
        let is_awake = |record: &&CallRecord| {
            let is_held = record.lease.is_some_and(|lease| lease > before);
            is_held && Some(record.id) != asleep && self.system.has_owner(record.id)
        };
        let awake: Vec<_> = self.system.journal.calls().filter(is_awake).collect();
        let awake: Vec<_> = awake.iter().map(|it| (it.id, it.epoch)).collect();
        for (id, epoch) in awake {
            if let Ok(journal) = self.system.journal.renew(id, epoch, until) {
                self.system.journal = journal.into();
            }
        }
    }
}

fn error_of(outcome: Outcome) -> Option<AttemptError> {
    let (class, kind) = match outcome {
        Outcome::Result | Outcome::Dropped => return None,
        Outcome::NotStarted => (ErrorClass::NotStarted { retry_after: None }, "not_started"),
        Outcome::Transient => (ErrorClass::Transient, "transient"),
        Outcome::Final => (ErrorClass::Final, "final"),
        Outcome::Unknown => (ErrorClass::Unknown, "unknown"),
    };
    Some(AttemptError { class, done: None, kind: kind.to_owned(), message: None, cause: None })
}
