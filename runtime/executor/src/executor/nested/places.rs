//! The places of a call that makes calls, in its executor and among the calls of its tool: given back while a child is
//! under way, so that a child never waits for its own parent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::executor::{Core, Gate, Plan};
use crate::stage::Admitted;

/// The places of one attempt.
pub(crate) struct Places {
    core: Arc<Core>,
    tool: Option<Arc<Gate>>,
    standing: Mutex<Standing>,
}

/// Which places an attempt has.
#[derive(Default)]
struct Standing {
    /// It has got its places, and has not ended.
    is_inside: bool,
    /// It holds them at the moment.
    holds: bool,
    /// How many children are under way.
    away: usize,
}

impl Places {
    pub(super) fn new(core: &Arc<Core>, plan: &Plan) -> Self {
        Self { core: Arc::clone(core), tool: plan.gate.clone(), standing: Mutex::default() }
    }

    /// Takes over the places that the attempt has got.
    pub(super) fn take<'a>(&self, admitted: Admitted<'a>) -> Admitted<'a> {
        let mut standing = self.standing();
        (standing.is_inside, standing.holds) = (true, true);
        admitted.hand_over()
    }

    /// The attempt is over.
    pub(super) fn end(&self) {
        let mut standing = self.standing();
        match (standing.is_inside, standing.holds) {
            (true, true) => self.leave(),
            (true, false) => self.core.gate.comes_back(),
            (false, _) => {}
        }
        (standing.is_inside, standing.holds) = (false, false);
    }

    /// A child begins.
    pub(super) fn step_out(&self) {
        let mut standing = self.standing();
        standing.away += 1;
        if std::mem::take(&mut standing.holds) {
            self.core.gate.steps_out();
            self.leave();
        }
    }

    /// A child has ended: the last one waits until there is room for its parent.
    pub(super) async fn step_in(&self) {
        if !self.is_last() {
            return;
        }
        let tool = match &self.tool {
            Some(gate) => Some(gate.enter_again().await),
            None => None,
        };
        let executor = self.core.gate.enter_again().await;
        let mut standing = self.standing();
        // Another child may have begun meanwhile, or come home first.
        if standing.is_inside && !standing.holds && standing.away == 0 {
            standing.holds = true;
            tool.into_iter().chain([executor]).for_each(std::mem::forget);
            self.core.gate.comes_back();
        }
    }

    /// A child was dropped: its parent goes on at once. It does not wait for room, and those who do wait until there is.
    pub(super) fn step_in_at_once(&self) {
        if !self.is_last() {
            return;
        }
        let mut standing = self.standing();
        if standing.is_inside && !standing.holds && standing.away == 0 {
            standing.holds = true;
            self.tool.iter().for_each(|gate| gate.enter_over());
            self.core.gate.enter_over();
            self.core.gate.comes_back();
        }
    }

    /// Counts a child that has ended; whether it was the last.
    fn is_last(&self) -> bool {
        let mut standing = self.standing();
        standing.away = standing.away.saturating_sub(1);
        standing.away == 0
    }

    fn leave(&self) {
        self.core.gate.leave();
        self.tool.iter().for_each(|gate| gate.leave());
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
