//! Runs calls of tools with `effect = read` while the answer that makes them is still arriving. Such a call begins as
//! soon as its arguments are complete, if it needs no approval and need not wait for an earlier call. Its result is
//! used only if the whole answer arrives.

use std::sync::{Mutex, MutexGuard, PoisonError};

use toolwright::provider::ToolCall;
use toolwright::{Call, CancellationToken, Catalog, OpenTurn, Run};

use crate::model::{Delta, DeltaListener, FINAL_ANSWER};
use crate::results::has_reference;
use crate::search::unlisted;

/// The turn of an answer that is still arriving, and whose read-only calls may begin.
pub(super) struct Early {
    run: Run,
    catalog: Catalog,
    /// The deferred tools that the model has found, if it searches for them by calls.
    found: Option<Vec<String>>,
    number: u64,
    /// Cancelled when the run has to end, so that the calls that have begun are cancelled too.
    stop: CancellationToken,
    arrived: Mutex<ArrivedTurn>,
}

struct ArrivedTurn {
    turn: OpenTurn,
    calls: usize,
}

/// The turn of a complete answer. Some of its calls may have begun already, if they only read.
pub(super) struct BegunTurn {
    pub number: u64,
    pub stop: CancellationToken,
    pub turn: OpenTurn,
}

impl Early {
    /// Opens a turn. `found` lists the deferred tools that the model has found, if it searches for them by calls.
    pub(super) fn new(run: &Run, number: u64, found: Option<Vec<String>>) -> Self {
        let arrived = Mutex::new(ArrivedTurn { turn: run.open_turn(number), calls: 0 });
        let catalog = run.catalog();
        Self { run: run.clone(), catalog, found, number, stop: CancellationToken::new(), arrived }
    }

    /// Takes a complete call. A call that arrives out of order, and all calls after it, begin only with the whole turn.
    fn push(&self, index: usize, call: &ToolCall) {
        let mut arrived = self.lock();
        // Three kinds of calls wait for the complete answer, and so do all calls after them: the call that gives the
        // final value, because it ends the run; a call with references, which are resolved then; and a call of a tool
        // that the model has not found, which never runs.
        let is_unlisted = |found: &Vec<String>| unlisted(call, &self.catalog, found).is_some();
        let waits = call.name == FINAL_ANSWER
            || has_reference(&call.arguments)
            || self.found.as_ref().is_some_and(is_unlisted);
        if index != arrived.calls || waits {
            return;
        }
        arrived.calls += 1;
        let mut owned = Call::new(call.name.clone(), call.arguments.clone());
        if let Some(id) = &call.id {
            owned = owned.id(id.clone());
        }
        arrived.turn.push(owned.cancelled_by(self.stop.clone()));
    }

    /// Starts again after an answer that broke off: drops the turn, which cancels the calls that have begun.
    fn restart(&self) {
        let turn = self.run.open_turn(self.number);
        *self.lock() = ArrivedTurn { turn, calls: 0 };
    }

    pub(super) fn begun(self) -> BegunTurn {
        let Self { number, stop, arrived, .. } = self;
        let turn = arrived.into_inner().unwrap_or_else(PoisonError::into_inner).turn;
        BegunTurn { number, stop, turn }
    }

    fn lock(&self) -> MutexGuard<'_, ArrivedTurn> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DeltaListener for Early {
    fn delta(&self, delta: Delta<'_>) {
        match delta {
            Delta::CallWhole { index, call } => self.push(index, call),
            Delta::Restarted => self.restart(),
            _ => {}
        }
    }
}
