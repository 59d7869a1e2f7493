//! What surrounds a decision, in the order of the driver's actions: reads what the decision needs, commits it, and
//! carries out what follows. This mirrors `lifecycle/driver.rs` with `read.rs`, `held.rs` and `perform.rs`, but each
//! action is a separate step, so that a crash may come between any two. It decides nothing itself.

use std::sync::Arc;
use std::time::Duration;

use toolwright_core::context::CallId;
use toolwright_executor::lifecycle::trace;
use toolwright_executor::lifecycle::{
    By, DroppedClaim, Input, Need, Problem, Settings, Snapshot, StageVerdict, StagedCall, Then,
    decide,
};
use toolwright_journal::approval::{Grant, Scope};
use toolwright_journal::journal::{
    AnswerRecord, CallRecord, CommitError, State, Transaction, replay,
};

use crate::reading::{self, LEASE, RANDOM, THINKING};
use crate::scenario::{Scenario, StageSays};
use crate::switches::Switch;
use crate::system::{RunEnd, System};
use crate::task::{Circumstances, Decision, Look, Phase, Running, Task};

/// No decision reads more often.
const READS: usize = 32;

/// The state, while an actor takes a step.
pub(crate) struct World<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) system: System,
    /// The decisions, where a caller wants them.
    pub(crate) trace: Option<Vec<trace::TracedDecision>>,
}

impl World<'_> {
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            owner: "worker".to_owned(),
            lease: LEASE,
            expires_after: THINKING,
            no_approver: None,
            seals: false,
            has_stages: !self.scenario.stages.is_empty(),
            lays_failures_aside: self.scenario.lays_failures_aside,
            journal: Some(reading::JOURNAL.to_owned()),
            project: None,
            acts_for: None,
            acts_as: None,
            is_closed: false,
            guards: self.scenario.switches.guards(),
        }
    }

    /// Starts to look at a call in the journal.
    pub(crate) fn look(&self, id: CallId, input: Input) -> Option<Task> {
        let snapshot = Snapshot::of(self.system.journal.get(id)?.clone());
        Some(Task::Looking(Arc::new(Look { snapshot, input })))
    }

    /// Reads and decides until there is something to do.
    pub(crate) fn decide(&mut self, look: &Look) -> Task {
        let mut look = look.clone();
        let (settings, now) = (self.settings(), self.system.now);
        for _ in 0..READS {
            let step = decide(&look.snapshot, &look.input, &settings, now, RANDOM);
            if let Then::Read(need) = step.then {
                self.read(&mut look, need);
                continue;
            }
            if let Some(trace) = &mut self.trace {
                let (snapshot, input) = (&look.snapshot, &look.input);
                trace.push(trace::TracedDecision::of(snapshot, input, &settings, now, RANDOM));
            }
            if step.commit.is_some() {
                let then = self.circumstances(&look, step.commit.as_ref());
                self.watch_question(&look, &step.then);
                return Task::Decided(Arc::new(Decision { look, step, then }));
            }
            let id = look.snapshot.record.id;
            let place = look.snapshot.record.place.index;
            match step.then {
                Then::Reload => return self.look(id, look.input).unwrap_or(Task::Idle),
                Then::Stage => return Task::Staging(Arc::new(look)),
                Then::Fail(Problem::Contradiction(_)) => {
                    self.system.witness(place).wrong.falsely_accused = true;
                }
                // An adversary has made its arguments unreadable.
                Then::Fail(Problem::NotHere(_)) if !self.scenario.rewrites.is_empty() => {}
                Then::Fail(_) => self.system.witness(place).wrong.impossible = true,
                _ => {}
            }
            return Task::Idle;
        }
        self.system.witness(look.snapshot.record.place.index).wrong.impossible = true;
        Task::Idle
    }

    /// `lifecycle/driver/stage.rs`: what the stages decide is the next input, and everything read before has to be
    /// read again.
    pub(crate) fn staged(&self, look: &Look, says: StageSays) -> Task {
        let record = look.snapshot.record.clone();
        let verdict = match says {
            StageSays::Continue => StageVerdict::Continue,
            StageSays::Later => StageVerdict::Delay {
                time: Duration::ZERO,
                why: "another process works on it".to_owned(),
            },
            StageSays::Answer => StageVerdict::Answer(AnswerRecord::text("answered by a stage")),
            StageSays::Refuse => {
                StageVerdict::Answer(AnswerRecord::error("refused", "a stage refused it", None))
            }
        };
        let version = record.version;
        let snapshot = match look.snapshot.is_recorded {
            true => Snapshot::of(record),
            false => {
                let tool = reading::tool(self.scenario, &self.system, &record);
                Snapshot::new(record, tool)
            }
        };
        let input = Input::Staged(StagedCall { version, reason: None, verdict, more: None });
        Task::Looking(Arc::new(Look { snapshot, input }))
    }

    fn read(&self, look: &mut Look, need: Need) {
        let (scenario, system) = (self.scenario, &self.system);
        let record = &look.snapshot.record;
        match need {
            Need::Past => look.snapshot.past = Some(reading::past(system, record)),
            Need::Run => {
                // For a new call, the commit itself checks what else the journal knows.
                let is_ended = look.snapshot.is_recorded && system.run_is_ended();
                look.snapshot.run_ended = Some(is_ended);
            }
            Need::Tool => {
                look.snapshot.tool = Some(Ok(reading::tool(scenario, system, record)));
            }
            Need::Stored => look.snapshot.stored = Some(reading::stored(scenario, record)),
            Need::Evaluated => {
                let evaluated =
                    reading::evaluated(scenario, system, &look.snapshot, &self.settings(), None);
                look.snapshot.evaluated = Some(Ok(evaluated));
            }
            Need::Proposed => {
                let proposal = record.proposal.clone();
                let evaluated = reading::evaluated(
                    scenario,
                    system,
                    &look.snapshot,
                    &self.settings(),
                    proposal.as_deref(),
                );
                look.snapshot.proposed = Some(Ok(evaluated));
            }
            Need::Denials => {
                look.snapshot.denied_before = Some(reading::is_denied(system, &look.snapshot));
            }
            Need::Grants => look.snapshot.grants = Some(reading::grants(system, record)),
            Need::Preview => look.snapshot.preview = Some(reading::PREVIEW),
            Need::Awaited => look.snapshot.awaited = Some(false),
            // No call in the model makes another.
            Need::UndecidedChildren => look.snapshot.undecided_children = Some(Vec::new()),
            Need::Begun => look.snapshot.begun = Some(reading::begun_of(system, record)),
            Need::Attempts => look.snapshot.attempts = Some(scenario.attempts.into()),
            Need::Retry => {
                if let Input::Attempted(attempt) = &mut look.input {
                    attempt.retry = Some(true);
                }
            }
            Need::More(more) => match &mut look.input {
                Input::Attempted(attempt) => attempt.more = Some(more),
                Input::Staged(staged) => staged.more = Some(more),
                _ => {}
            },
        }
    }

    /// Returns the circumstances, for the witness.
    fn circumstances(&self, look: &Look, unit: Option<&Transaction>) -> Circumstances {
        let (system, record) = (&self.system, &look.snapshot.record);
        let deadline = record.ask.as_ref().map(|ask| ask.deadline);
        let write = unit.and_then(|unit| unit.calls.first());
        let used = write.and_then(|write| write.record.grant.as_deref());
        let grant_counts = used.is_some_and(|id| {
            let key = Grant::key(&record.tool, id);
            let document = system.journal.documents(&key).next();
            let grant = document.and_then(|it| Grant::from_text(&it.key, &it.text).ok());
            let is_own = record.grant.as_deref() == Some(id);
            grant.is_some_and(|grant| {
                let tool = reading::tool(self.scenario, system, record);
                let terms = grant.terms().ok();
                let counts = terms.is_some_and(|terms| {
                    let is_left = terms.uses.is_none_or(|uses| grant.used < uses) || is_own;
                    let run = self.scenario.run_of(record.place.index);
                    let is_here = terms.scope == Scope::Run(run.to_owned());
                    is_left && is_here && terms.fingerprint == tool.fingerprint
                });
                counts && grant.revoked.is_none()
            })
        });
        Circumstances {
            policy: self.scenario.policy(record.place.index, system.policy),
            is_late: deadline.is_some_and(|deadline| deadline <= system.now),
            is_overdue: system.is_overdue(record),
            grant_counts,
        }
    }

    /// Watches that no person is asked about a call that was rejected in this run.
    fn watch_question(&mut self, look: &Look, then: &Then) {
        let record = &look.snapshot.record;
        let (is_asked, place) = (*then == Then::Notify, record.place.index);
        let is_rejected = self.system.rejected.contains(&record.digest);
        self.system.witness(place).wrong.asked_again |= is_asked && is_rejected;
    }

    /// Commits a decision, and returns the next task.
    pub(crate) fn commit(&mut self, decision: &Decision, is_heard: bool) -> Task {
        let Decision { look, step, .. } = decision;
        let Some(unit) = step.commit.clone() else { return Task::Idle };
        let Some(record) = unit.calls.first().map(|write| write.record.clone()) else {
            return Task::Idle;
        };
        let is_claim = step.then == Then::Perform;
        if is_claim && self.scenario.lacks(Switch::NotWrittenAhead) {
            self.watch_claim(decision, &record, None);
            return self.running(look, record, Some(unit));
        }
        let before = self.system.journal.get(record.id).map(|before| before.state);
        match self.write(unit, Some(look)) {
            Ok(()) => {}
            Err(conflict) => return self.conflict(look, &conflict),
        }
        // A claim and its hand-over are one commit.
        let is_handed_over =
            record.state == State::HandedOver && look.snapshot.record.state != State::HandedOver;
        if is_claim || is_handed_over {
            self.watch_claim(decision, &record, before);
        }
        if is_handed_over {
            self.system.witness(record.place.index).begins(&record);
        }
        self.watch_stages(look, &record, is_claim || is_handed_over);
        let is_taken = matches!(record.state, State::Succeeded | State::Failed);
        if let (Input::Supplied(_), true) = (&look.input, is_taken) {
            let wrong = &mut self.system.witness(record.place.index).wrong;
            wrong.supplied_late |= decision.then.is_overdue;
        }
        if let Input::Reconciled(_) = look.input {
            let generation = look.snapshot.record.generation;
            self.system.witness(record.place.index).settles(generation);
        }
        match (&step.then, &look.input) {
            // The reply was lost: drop the claim, and record that in the journal.
            (Then::Perform, _) if !is_heard => {
                let by = by(look);
                self.dropped(record.id, DroppedClaim { epoch: record.epoch, by, is_begun: false })
            }
            (Then::Perform, _) => self.running(look, record, None),
            // The reply was lost: record the result again.
            (_, Input::Attempted(_)) if !is_heard => Task::Looking(Arc::new(look.clone())),
            (Then::Continue, input) if is_heard => {
                self.look(record.id, input.clone()).unwrap_or(Task::Idle)
            }
            _ => Task::Idle,
        }
    }

    fn running(&self, look: &Look, record: CallRecord, ahead: Option<Transaction>) -> Task {
        let tool = reading::tool(self.scenario, &self.system, &record);
        let tool = look.snapshot.tool.clone().and_then(Result::ok).unwrap_or(tool);
        let by = by(look);
        Task::Running(Arc::new(Running { record, tool, by, phase: Phase::Claimed, ahead }))
    }

    /// On a conflict, reads the call again and decides with the same input.
    fn conflict(&self, look: &Look, conflict: &CommitError) -> Task {
        if look.snapshot.is_recorded {
            return self.look(look.snapshot.record.id, look.input.clone()).unwrap_or(Task::Idle);
        }
        let mut look = look.clone();
        match conflict {
            // The call is in the journal already.
            CommitError::CallSlot { .. } | CommitError::Call { .. } => return Task::Idle,
            CommitError::Document { key, .. } if key.ends_with("/ended") => {
                look.snapshot.run_ended = Some(true);
            }
            _ => (look.snapshot.denied_before, look.snapshot.grants) = (None, None),
        }
        Task::Looking(Arc::new(look))
    }

    /// Ends a claim whose task was dropped, if the claim still exists.
    pub(crate) fn dropped(&self, id: CallId, dropped: DroppedClaim) -> Task {
        let Some(record) = self.system.journal.get(id) else { return Task::Idle };
        if record.state != State::Running || record.epoch != dropped.epoch {
            return Task::Idle;
        }
        let mut snapshot = Snapshot::of(record.clone());
        snapshot.tool = Some(Ok(reading::tool(self.scenario, &self.system, record)));
        Task::Looking(Arc::new(Look { snapshot, input: Input::Dropped(dropped) }))
    }

    /// Commits to the real store.
    pub(crate) fn write(
        &mut self,
        mut unit: Transaction,
        look: Option<&Look>,
    ) -> Result<(), CommitError> {
        let journal = Arc::clone(&self.system.journal);
        let of = unit.calls.first().map(|write| write.record.id);
        let before = of.and_then(|id| journal.get(id));
        if self.scenario.lacks(Switch::NoCompareAndSet) {
            reading::expects_what_is_there(&mut unit, &journal);
        }
        let at = unit.calls.first().map_or(self.system.now, |write| write.record.updated);
        let is_unseen = self.scenario.lacks(Switch::RenewalUnseen);
        let at = if is_unseen { jiff::Timestamp::MAX } else { at };
        let takes = unit.calls.iter().any(|write| write.takes_from_owner());
        let after = journal.commit(unit, at)?;
        self.system.journal = Arc::new(after);
        let is_renewed = before.and_then(|it| it.lease).is_some_and(|it| it > self.system.now);
        let is_late = look.is_some_and(|look| match &look.input {
            Input::Attempted(attempt) => before.is_some_and(|it| it.epoch != attempt.epoch),
            Input::Dropped(dropped) => before.is_some_and(|it| it.epoch != dropped.epoch),
            _ => false,
        });
        if let Some(now) = of.and_then(|id| self.system.journal.get(id)).cloned() {
            let wrong = &mut self.system.witness(now.place.index).wrong;
            wrong.renewal_lost |= takes && is_renewed;
            wrong.late_owner_wrote |= is_late;
            let is_elsewhere = self.scenario.is_external;
            let is_in_doubt = matches!(now.state, State::Running | State::Indeterminate);
            self.system.witness(now.place.index).wrong.doubted_elsewhere |=
                is_elsewhere && is_in_doubt;
            self.wrote(before, &now);
        }
        Ok(())
    }

    /// Observes that a record is durable.
    pub(crate) fn wrote(&mut self, before: Option<&CallRecord>, now: &CallRecord) {
        let journal = Arc::clone(&self.system.journal);
        let history = journal.history(now.id);
        let witness = self.system.witness(now.place.index);
        witness.wrong.contradicted |= replay(now, history).is_err();
        witness.written(before, now, history);
    }

    /// Observes that a claim, or a decision of the stages, is durable.
    fn watch_stages(&mut self, look: &Look, record: &CallRecord, is_claim: bool) {
        let has_stages = !self.scenario.stages.is_empty();
        let wrong = &mut self.system.witness(record.place.index).wrong;
        match &look.input {
            Input::Staged(staged) => {
                let is_let_through = staged.verdict == StageVerdict::Continue;
                wrong.unstaged |= is_claim && !is_let_through;
                let (before, now) = (&look.snapshot.record, record.state);
                let is_moved = before.state == State::Ready
                    && matches!(
                        now,
                        State::Ready | State::Running | State::Succeeded | State::Failed
                    );
                wrong.staged_before |= is_moved && staged.version != before.version;
            }
            _ => wrong.unstaged |= is_claim && has_stages,
        }
    }

    fn watch_claim(&mut self, decision: &Decision, record: &CallRecord, before: Option<State>) {
        let is_over = self.system.run_end == RunEnd::Done;
        let then = &decision.then;
        if let Some(grant) = &record.grant {
            let by_it = (grant.clone(), record.id);
            if !self.system.uses.contains(&by_it) {
                self.system.uses.push(by_it);
                self.system.uses.sort();
            }
            let uses = self.system.uses.iter().filter(|(of, _)| of == grant).count();
            self.system.witness(record.place.index).wrong.grant_overused |= uses > 1;
        }
        self.system.witness(record.place.index).claims(record, then, before, is_over);
    }
}

fn by(look: &Look) -> By {
    if look.snapshot.is_recorded { By::Worker } else { By::Caller }
}
