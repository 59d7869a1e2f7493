//! Runs the plugins of an agent in a run: they prepare each turn, and are called when the run ends.

use std::sync::Arc;

use toolwright::Run;

use super::driver::Driver;
use super::recorder::{Recorder, Stop};
use super::{AgentRun, Stopped};
use crate::model::FINAL_ANSWER;
use crate::plugin::{Plugins, PreparedTurn, StateValue, end_plugins, prepare, prepare_again};
use crate::run::{Action, State};

/// The plugins of a run, and the turn that they have prepared.
pub(super) struct Preparing {
    pub plugins: Arc<Plugins>,
    /// The prepared turn for the next request.
    pub next: Option<PreparedTurn>,
    /// The states of the plugins before they prepared the turn in `next`.
    before: Option<Vec<StateValue>>,
    /// The tools of the turn that was open when the run was resumed.
    pub again: Option<Run>,
}

impl Preparing {
    pub(super) fn new(plugins: Arc<Plugins>) -> Self {
        Self { plugins, next: None, before: None, again: None }
    }

    /// Discards what was prepared for an answer that did not come, and restores the states that were prepared. A state
    /// that a call has set meanwhile is recorded, so it stays.
    fn forget(&mut self) {
        if let (Some(before), Some(next)) = (self.before.take(), self.next.take()) {
            self.plugins.restore(&next.states(), before);
        }
    }
}

impl AgentRun {
    /// Lets the plugins prepare the turn of the next request.
    pub(super) async fn prepare(&mut self) -> Result<(), Stopped> {
        let number = self.state.turn() + 1;
        let mut reserved = self.agent.0.answer_budget.tools();
        if self.state.expected().is_some() {
            reserved.push(FINAL_ANSWER);
        }
        let run = self.acting_run().clone();
        let Some(preparing) = &mut self.plugins else { return Ok(()) };
        preparing.forget();
        let plugins = Arc::clone(&preparing.plugins);
        let next = prepare(&plugins, number, &run, &self.history, &reserved).await?;
        preparing.before = Some(plugins.states());
        plugins.show(next.states());
        (preparing.next, preparing.again) = (Some(next), None);
        Ok(())
    }

    /// Finds the tools of an open turn if another process asked its model.
    pub(super) async fn prepare_again(&mut self) -> Result<(), Stopped> {
        if self.shown.is_some() {
            return Ok(());
        }
        self.run.discover_tools().await.map_err(Stopped::unlisted)?;
        self.find_acting()?;
        let run = self.acting_run().clone();
        let Some(preparing) = &mut self.plugins else { return Ok(()) };
        if preparing.again.is_some() {
            return Ok(());
        }
        let number = self.state.turn();
        let turn = prepare_again(&preparing.plugins, number, &run, &self.history).await?;
        preparing.again = turn.catalog().map(|it| run.pinned(it));
        Ok(())
    }
}

impl<R: Recorder> Driver<'_, R> {
    /// Records a step together with its changes to the plugins' states.
    pub(super) async fn record(
        &mut self,
        next: &State,
        actions: &[Action],
        stop: Option<Stop>,
    ) -> Result<(), R::Error> {
        let Self { run, recorder } = self;
        let Some(preparing) = &mut run.plugins else {
            return recorder.commit(&run.state, next, actions, stop, None).await;
        };
        let is_answered = next.turn() > run.state.turn();
        if !is_answered {
            preparing.forget();
        }
        let plugins = Arc::clone(&preparing.plugins);
        let at_end = match (run.state.ended(), next.ended()) {
            (None, Some(end)) => Some(end_plugins(&plugins, run.run.id(), end, &run.history).await),
            _ => None,
        };
        let mut locked = plugins.lock().await;
        let staged = locked.stage(preparing.next.as_ref().filter(|_| is_answered), at_end);
        recorder.commit(&run.state, next, actions, stop, staged.to_write()).await?;
        locked.commit(staged);
        (preparing.next, preparing.before) = (None, None);
        Ok(())
    }
}
