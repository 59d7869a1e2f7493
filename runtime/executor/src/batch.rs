//! Plans which calls of a turn wait for which: a call may begin when all earlier calls with which it conflicts have
//! ended.
//!
//! - A call waits only for earlier calls, so calls never deadlock. A call waits before it begins, so a waiting call
//!   holds nothing that another call needs.
//! - Planning is pure. Names are found by an index and not compared one by one, so the cost of a plan grows with the
//!   number of names, and not with the number of pairs of calls.

mod index;
mod steps;
#[cfg(test)]
mod tests;

use toolwright_core::footprint::Footprint;

use crate::batch::index::Index;
use crate::batch::steps::Steps;

/// The calls of one turn, in the order of the turn, and how far each call has come.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Batch {
    index: Index,
    steps: Steps,
}

impl Batch {
    /// Adds the next call. Returns `true` if it may begin at once; otherwise [`end`](Self::end) returns it when it may.
    /// A call without a footprint, such as one with wrong input, touches nothing and waits for no other.
    pub fn push(&mut self, footprint: Option<&Footprint>) -> bool {
        let call = self.steps.next();
        let waits_for = match footprint {
            None => Vec::new(),
            Some(footprint) => self.index.add(footprint, call, &mut self.steps),
        };
        self.steps.push_call(&waits_for)
    }

    /// Adds a call whose resources are unknown. It waits for all earlier calls, and all later calls wait for it.
    pub fn push_alone(&mut self) -> bool {
        let call = self.steps.next();
        let waits_for = self.index.add_alone(call, &mut self.steps);
        self.steps.push_call(&waits_for)
    }

    /// Returns the number of waits in the plan: how often one step waits for another.
    #[cfg(test)]
    fn waits(&self) -> usize {
        self.steps.waits()
    }

    /// Records that the call with this index has ended. Returns the indices of the calls that may begin now, in
    /// order.
    pub fn end(&mut self, call: usize) -> Vec<usize> {
        self.steps.end_call(call)
    }
}
