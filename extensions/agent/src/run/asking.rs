//! Asks the model, on the tools that there are now.

use std::time::Duration;

use toolwright::Run;
use tracing::Instrument as _;

use super::agent_run::Shown;
use super::early::Early;
use super::{AgentRun, Stopped};
use crate::events::Listening;
use crate::limits::{TotalUsage, UsageRecorder};
use crate::model::{Model, ModelRequest, RequestLimits};
use crate::run::{StepInput, step};

impl AgentRun {
    /// Asks the model: what came of it. Reads may begin while the answer comes, where the caller makes its calls at once.
    pub(super) async fn asked(
        &mut self,
        time: Option<Duration>,
        begins_reads: bool,
    ) -> Result<StepInput, Stopped> {
        // Of an answer for which somebody stopped to wait.
        self.count_given_up();
        self.run.discover_tools().await.map_err(Stopped::unlisted)?;
        let agent = &self.agent.0;
        let system = agent.instructions.text(&self.run).map_err(Stopped::without)?;
        let shown = Shown::newest(&mut self.shown, &self.run, &*agent.model)?;
        let (turn, catalog) = (self.state.turn() + 1, shown.run.catalog());
        let observed = self.observer.asking(turn, &catalog);
        let early = (begins_reads && agent.early_reads).then(|| Early::new(&shown.run, turn));
        let events = self.observer.events();
        let listening = Listening::new(events, turn, &catalog, early.as_ref().map(|it| it as _));
        let request = ModelRequest {
            instructions: &system,
            history: &self.history,
            listing: &shown.listing,
            limits: RequestLimits { max_tokens: agent.max_tokens, time },
            settings: &agent.settings,
            catalog: Some(&catalog),
            listener: (early.is_some() || events.is_read()).then_some(&listening),
            usage_recorder: Some(&self.meter),
        };
        // Lazily, so that a request that is never polled counts as none.
        let asked = async {
            self.meter.begin();
            agent.model.answer(request).await
        };
        let answered = asked.instrument(observed.span.clone()).await;
        if let Ok(answer) = &answered {
            listening.answered(answer);
            self.begun = early.map(Early::begun);
        }
        self.observer.asked(&observed, answered.as_ref(), &catalog);
        self.meter = UsageRecorder::default();
        Ok(answered.map_or_else(StepInput::Failed, StepInput::Answered))
    }

    /// Counts what requests took for whose answer nobody waits any more.
    pub(super) fn count_given_up(&mut self) {
        let spent = std::mem::take(&mut self.meter).taken();
        if spent != TotalUsage::default() {
            self.observer.spent(spent);
            // It only counts.
            self.state = step(&self.state, StepInput::GivenUp(spent)).0;
        }
    }
}

impl Shown {
    /// Lists the tools for the model as they are now, and pins the run to them.
    fn newest<'s>(
        shown: &'s mut Option<Self>,
        run: &Run,
        model: &dyn Model,
    ) -> Result<&'s Self, Stopped> {
        let catalog = run.catalog();
        let generation = catalog.generation();
        let known = shown.take().filter(|shown| shown.generation == generation);
        let newest = match known {
            Some(known) => known,
            None => {
                let listing = match model.searches_tools() {
                    true => catalog.searchable_listing(model.dialect())?,
                    false => catalog.listing(model.dialect())?,
                };
                Self { generation, listing, run: run.pinned(&catalog) }
            }
        };
        Ok(shown.insert(newest))
    }
}
