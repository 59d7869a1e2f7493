//! Those who act on calls without running them: the sweeper, a person at an approval service, whoever ends the run.

use toolwright::journal::{State, Transition};

use crate::record::{Decided, Record};
use crate::scenario::{Scenario, Verdict};
use crate::switches::Switch;
use crate::system::System;

/// A call that was due when the sweeper read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sweeper {
    /// Which.
    pub id: u8,
    /// As it was.
    pub record: Record,
}

/// What a person says, signed and not yet in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Approver {
    /// Of which call.
    pub id: u8,
    /// Of which generation of it.
    pub generation: u8,
    /// What.
    pub verdict: Verdict,
    /// Whether it is half in the journal.
    pub is_half: bool,
}

/// How far the end of a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Canceller {
    /// Nobody has ended it.
    Waits,
    /// That it has ended is durable.
    Said,
    /// A call was read that has not begun.
    Seen {
        /// Which.
        id: u8,
        /// As it was.
        record: Record,
    },
    /// All that had not begun is cancelled, and whoever wanted it has been told.
    Done,
}

impl Verdict {
    fn event(self) -> Transition {
        match self {
            Self::Approve => Transition::Approved,
            Self::Edit => Transition::Edited,
            Self::Reject => Transition::Rejected,
            Self::Happened => Transition::Happened,
            Self::DidNotHappen | Self::Forged => Transition::DidNotHappen,
            Self::Requeue => Transition::Requeued,
            Self::Discard => Transition::Discarded,
        }
    }
}

/// Their steps. Each is nothing where it changes nothing.
impl Scenario {
    pub(crate) fn sweep_look(&self, system: &mut System, id: u8) -> Option<()> {
        let record = system.store.get(id)?;
        system.sweeper = Some(Sweeper { id, record });
        Some(())
    }

    /// `tend`, its commit. A lease that was renewed since is seen, where that guard is there.
    pub(crate) fn sweep_commit(&self, system: &mut System) -> Option<()> {
        let Sweeper { id, record } = system.sweeper.take()?;
        let now = system.store.get(id)?;
        let mut next = record;
        if record.state == State::Pending {
            let event = if record.is_letter { Transition::PutBack } else { Transition::Expired };
            next.advance(event).ok()?;
        } else {
            let is_renewed = now.version == record.version && !now.is_lapsed;
            if is_renewed && !self.switches.has(Switch::RenewalUnseen) {
                return Some(());
            }
            system.witness(&record).wrong.renewal_lost |= is_renewed;
            self.owner_lost(&mut next)?;
        }
        if next.state.is_answered() && !(record.state == State::Pending && record.is_letter) {
            self.answer(&mut next);
        }
        if system.store.update(id, record.version, next, self.switches).is_ok() {
            self.wrote(system, id, &next);
        }
        Some(())
    }

    /// Whether a person would say that of a call. They tell the truth, as far as they can see.
    pub(crate) fn may_say(&self, system: &System, record: &Record, verdict: Verdict) -> bool {
        let mut after = *record;
        let acted =
            system.witnesses.get(usize::from(record.place)).is_some_and(|it| it.has_acted());
        let is_true = match verdict {
            Verdict::Happened => acted,
            Verdict::DidNotHappen => !acted,
            // It would be shown to nobody any more.
            Verdict::Approve | Verdict::Edit | Verdict::Reject => !record.is_late,
            _ => true,
        };
        let is_shown = match verdict {
            Verdict::Approve | Verdict::Edit => {
                record.decision.is_none() || !self.switches.has(Switch::DecisionApart)
            }
            _ => true,
        };
        is_true && is_shown && after.advance(verdict.event()).is_ok()
    }

    pub(crate) fn say(&self, system: &mut System, id: u8, verdict: Verdict) -> Option<()> {
        let generation = system.store.get(id)?.generation;
        system.approver = Some(Approver { id, generation, verdict, is_half: false });
        Some(())
    }

    /// The approval service: reads the call and commits, and reads it again where somebody was faster, so it is one step.
    pub(crate) fn decide(&self, system: &mut System, is_heard: bool) -> Option<()> {
        let said = system.approver?;
        let Approver { id, generation, verdict, is_half } = said;
        if is_heard {
            system.approver = None;
        }
        let record = system.store.get(id)?;
        let mut next = record;
        let is_bound = record.generation == generation || self.switches.has(Switch::DeskNotBound);
        let in_time = record.state != State::Pending || !record.is_late;
        if !is_bound || !in_time || next.advance(verdict.event()).is_err() {
            // Told what happened instead; what was unheard and is said again, that it is recorded.
            return is_heard.then_some(());
        }
        let is_approval = matches!(verdict, Verdict::Approve | Verdict::Edit);
        if is_approval && !is_half && self.switches.has(Switch::DecisionApart) {
            next = Record { version: record.version + 1, ..record };
            system.approver = Some(Approver { is_half: true, ..said });
        }
        let decided = Decided { generation: record.generation, is_edit: verdict == Verdict::Edit };
        match verdict {
            Verdict::Approve | Verdict::Edit => next.decision = Some(decided),
            Verdict::DidNotHappen | Verdict::Forged => next.decision = None,
            _ => {}
        }
        next.is_doubtful = verdict == Verdict::Forged;
        match verdict {
            Verdict::Requeue => next.is_letter = true,
            Verdict::DidNotHappen | Verdict::Forged => next.is_letter = false,
            _ => {}
        }
        if matches!(verdict, Verdict::Reject | Verdict::Happened) {
            self.answer(&mut next);
        }
        let settles = matches!(verdict, Verdict::DidNotHappen | Verdict::Requeue);
        if system.store.update(id, record.version, next, self.switches).is_ok() {
            let witness = system.witness(&record);
            witness.wrong.decision_misplaced |= record.generation != generation;
            if settles {
                witness.settles(record.generation);
            }
            self.wrote(system, id, &next);
        }
        Some(())
    }

    pub(crate) fn end_run(&self, system: &mut System) -> Option<()> {
        system.store.run_ended = true;
        system.canceller = Canceller::Said;
        Some(())
    }

    pub(crate) fn cancel_look(&self, system: &mut System, id: u8) -> Option<()> {
        let record = system.store.get(id)?;
        system.canceller = Canceller::Seen { id, record };
        Some(())
    }

    pub(crate) fn cancel_commit(&self, system: &mut System) -> Option<()> {
        let Canceller::Seen { id, record } = system.canceller else { return None };
        system.canceller = Canceller::Said;
        self.end_unbegun(system, id, record)
    }
}
