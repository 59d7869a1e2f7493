//! Decides on a call and its children. A parent is suspended until one of its waiting children can continue. A child
//! without an answer is carried out only by the process that runs its parent.

use super::moment::{Known, Moment};
use crate::lifecycle::step::{Need, Step, Suspension, Then};
use toolwright_core::context::CallId;
use toolwright_core::tool::Effect;
use toolwright_journal::journal::{CallRecord, DocumentWrite, Transition};

/// Returns whether the call has no parent and no answer, and was made by an agent to which its run has delegated a
/// task. The rules of that agent are in no record, so only a process that has the agent may carry the call out. A call
/// with an answer, such as a call of an accepted plan, is carried out by any process, and without these rules.
pub(in super::super) fn is_of_agent(record: &CallRecord) -> bool {
    if record.parent.is_some() || record.answer.is_some() {
        return false;
    }
    let agent = record.requester.agent.strip_prefix("agent:");
    let path = agent.and_then(|agent| agent.strip_prefix(record.place.run.as_str()));
    path.is_some_and(|path| path.starts_with('/'))
}

impl Moment<'_> {
    /// Returns whether the call is a child without an answer whose parent does not run here. The parent makes such a
    /// child again.
    pub(super) fn is_left_to_its_parent(self) -> bool {
        let record = &self.snapshot.record;
        let is_elsewhere =
            record.parent.is_some_and(|parent| Some(parent.call) != self.settings.acts_for);
        is_elsewhere && record.answer.is_none()
    }

    /// Returns whether the call has no answer and belongs to an agent other than the one for which this executor acts.
    /// The process that drives that agent makes the call again.
    pub(super) fn is_left_to_its_agent(self) -> bool {
        let record = &self.snapshot.record;
        is_of_agent(record) && self.settings.acts_as.as_ref() != Some(&record.requester.agent)
    }

    /// Makes the documents that are committed together with a new call. For a child, one of them reserves its index:
    /// the commit fails if another call has the index.
    pub(super) fn opens(self, more: Option<DocumentWrite>) -> Vec<DocumentWrite> {
        let record = &self.snapshot.record;
        let place = record.parent.map(|parent| {
            let text = Some(record.id.to_string());
            DocumentWrite { key: parent.key(), expects: None, text }
        });
        self.begins(place.into_iter().chain(more))
    }

    /// Suspends a call whose running children all wait for people or for results from outside. The call gives up its
    /// lease, and the suspension does not count as an attempt.
    pub(super) fn suspend(self, suspension: &Suspension) -> Known<Step> {
        let record = &self.snapshot.record;
        // A call of effect `once` keeps its claim, because it must not run again. When its lease expires, its outcome
        // is unknown.
        if !self.is_claimed(suspension.epoch) || record.effect == Effect::Once {
            return Ok(Step::only(Then::Report));
        }
        self.waits_for(&suspension.awaits, format!("it waits for {}", list(&suspension.awaits)))
    }

    /// Decides on a call whose owner was lost while all its children waited for people or for results from outside, so
    /// that the suspension was not recorded. `None` for any other call.
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

    /// Lets a suspended call run again when one of its children has advanced.
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
