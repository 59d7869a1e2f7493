//! The places that a running call holds: one of its executor, and one of its tool if the tool limits its calls. The
//! call frees its places while a child is running, so that a child never waits for a place of its own parent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::call::{Core, Gate, Plan};
use crate::stage::Admission;

pub(super) struct Places {
    core: Arc<Core>,
    tool: Option<Arc<Gate>>,
    standing: Mutex<Standing>,
}

/// Whether an attempt holds its places.
#[derive(Default)]
struct Standing {
    /// Whether the attempt has received its places and has not ended.
    is_inside: bool,
    /// Whether the attempt holds its places now. It frees them while its children run.
    holds: bool,
    /// The number of children that are running.
    away: usize,
}

impl Places {
    pub(crate) fn new(core: &Arc<Core>, plan: &Plan) -> Self {
        Self { core: Arc::clone(core), tool: plan.gate.clone(), standing: Mutex::default() }
    }

    /// Takes over the places that the attempt has received.
    pub(super) fn take<'a>(&self, admitted: Admission<'a>) -> Admission<'a> {
        let mut standing = self.standing();
        (standing.is_inside, standing.holds) = (true, true);
        admitted.hand_over()
    }

    /// Records that the attempt has ended.
    pub(super) fn end(&self) {
        let mut standing = self.standing();
        match (standing.is_inside, standing.holds) {
            (true, true) => self.leave(),
            (true, false) => self.core.gate.comes_back(),
            (false, _) => {}
        }
        (standing.is_inside, standing.holds) = (false, false);
    }

    /// Records that a child begins: the attempt holds no place until every child has ended.
    pub(super) fn step_out(&self) -> Out<'_> {
        let mut standing = self.standing();
        standing.away += 1;
        if std::mem::take(&mut standing.holds) {
            self.core.gate.steps_out();
            self.leave();
        }
        Out { places: self, is_counted: true }
    }

    /// Waits until the gates have places for the attempt.
    async fn enter(&self) {
        let tool = match &self.tool {
            Some(gate) => Some(gate.enter_again().await),
            None => None,
        };
        let executor = self.core.gate.enter_again().await;
        if self.takes_place() {
            tool.into_iter().chain([executor]).for_each(std::mem::forget);
        }
    }

    /// Takes places even if the gates are full; waiting calls then wait until there is room again.
    fn enter_over(&self) {
        if self.takes_place() {
            self.tool.iter().for_each(|gate| gate.enter_over());
            self.core.gate.enter_over();
        }
    }

    /// Records that the attempt has its places again. Returns `false` if it must not take them: another child is
    /// running, another child has already taken them back, or the attempt has ended.
    fn takes_place(&self) -> bool {
        let mut standing = self.standing();
        let takes = standing.is_inside && !standing.holds && standing.away == 0;
        if takes {
            standing.holds = true;
            self.core.gate.comes_back();
        }
        takes
    }

    fn leave(&self) {
        self.core.gate.leave();
        self.tool.iter().for_each(|gate| gate.leave());
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A child that is running while its parent holds no place. Dropping this value lets the parent continue at once and
/// take its places back, even if the gates are full.
pub(super) struct Out<'a> {
    places: &'a Places,
    /// Whether this child is still counted as running.
    is_counted: bool,
}

impl Out<'_> {
    /// Records that the child has its answer. After the last child, the parent waits until the gates have room.
    pub(super) async fn step_in(mut self) {
        if self.ends() == 0 {
            self.places.enter().await;
        }
    }

    /// Counts the child as ended, and returns how many other children are running.
    fn ends(&mut self) -> usize {
        let mut standing = self.places.standing();
        if std::mem::take(&mut self.is_counted) {
            standing.away = standing.away.saturating_sub(1);
        }
        standing.away
    }
}

impl Drop for Out<'_> {
    fn drop(&mut self) {
        if self.ends() == 0 {
            self.places.enter_over();
        }
    }
}
