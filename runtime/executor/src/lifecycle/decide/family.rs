//! A call and the calls that it makes. A parent is put back until its children are decided; a child is carried out by
//! the process that runs its parent.

use super::super::step::{Need, Step, Suspension, Then};
use super::moment::{Known, Moment};
use toolwright_core::context::CallId;
use toolwright_core::tool::Effect;
use toolwright_journal::journal::{DocumentWrite, Transition};

impl Moment<'_> {
    /// Returns whether the call is made by another that does not run here. Its parent makes it again, unless it has its
    /// answer.
    pub(super) fn is_left_to_its_parent(self) -> bool {
        let record = &self.snapshot.record;
        let is_elsewhere =
            record.parent.is_some_and(|parent| Some(parent.call) != self.settings.acts_for);
        is_elsewhere && record.answer.is_none()
    }

    /// What is written with a call that the journal does not have, besides its record: of a child, which one it is. That no
    /// other is there is a condition.
    pub(super) fn opens(self, more: Option<DocumentWrite>) -> Vec<DocumentWrite> {
        let record = &self.snapshot.record;
        let place = record.parent.map(|parent| {
            let text = Some(record.id.to_string());
            DocumentWrite { key: parent.key(), expects: None, text }
        });
        self.begins(place.into_iter().chain(more))
    }

    /// Every call that it makes and waits for has to be decided. It gives its claim back, and spends no attempt.
    pub(super) fn suspend(self, suspension: &Suspension) -> Known<Step> {
        let record = &self.snapshot.record;
        // A call that must not run again keeps its claim: when its lease ends, its outcome is unknown.
        if !self.is_claimed(suspension.epoch) || record.effect == Effect::Once {
            return Ok(Step::only(Then::Report));
        }
        self.waits_for(&suspension.awaits, format!("it waits for {}", list(&suspension.awaits)))
    }

    /// The owner of a call is gone while every call that it makes has to be decided: that it gave its claim back could not be
    /// recorded. Nothing where this is another call.
    pub(super) fn suspended_by_loss(self, owner: &str) -> Known<Option<Step>> {
        if self.snapshot.record.effect == Effect::Once {
            return Ok(None);
        }
        let undecided = self.snapshot.undecided_children.as_ref();
        match undecided.ok_or(Need::UndecidedChildren)? {
            none if none.is_empty() => Ok(None),
            awaits => {
                let why = format!("executor {owner} is gone; it waits for {}", list(awaits));
                self.waits_for(awaits, why).map(Some)
            }
        }
    }

    fn waits_for(self, awaits: &[CallId], why: String) -> Known<Step> {
        let mut next = self.snapshot.record.clone();
        let entry = self.advance(&mut next, Transition::Suspended, Some(why))?;
        next.awaits = awaits.to_vec();
        Ok(self.commit(next, vec![entry], Vec::new(), Then::Report))
    }

    /// A call waits for those that it makes: where one of them waits no more, it may run again.
    pub(super) fn await_children(self) -> Known<Step> {
        if !self.snapshot.awaited.ok_or(Need::Awaited)? {
            return Ok(Step::only(Then::Report));
        }
        let mut next = self.snapshot.record.clone();
        let why = Some("a call that it waited for goes on".to_owned());
        let entry = self.advance(&mut next, Transition::Resumed, why)?;
        next.awaits.clear();
        Ok(self.commit(next, vec![entry], Vec::new(), Then::Continue))
    }
}

fn list(calls: &[CallId]) -> String {
    calls.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
