//! Asks the model, on the tools that there are now.

use std::time::Duration;

use toolwright::{Registry, Run};
use tracing::Instrument as _;

use super::agent_run::Shown;
use super::early::Early;
use super::output::Output;
use super::refused::{refused, without};
use super::{AgentRun, Stopped};
use crate::events::Listening;
use crate::limits::{TotalUsage, UsageRecorder};
use crate::model::{Model, ModelRequest, RequestLimits};
use crate::run::{Action, State, StepInput, step};
use crate::search::found;

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
        let model = &*agent.model;
        let output = expected(&self.state, self.output.as_ref())?;
        let format = output.and_then(|it| it.format_of(model));
        let by_call = output.filter(|_| format.is_none());
        let run = match self.has_no_tools {
            true => &self.run.pinned(&Registry::empty().catalog()),
            false => &self.run,
        };
        let refused = refused(&self.history);
        let narrowed =
            (!refused.is_empty()).then(|| run.pinned(&without(&run.catalog(), &refused)));
        let run = narrowed.as_ref().unwrap_or(run);
        let found = found(&self.history, &run.catalog());
        let shown = Shown::newest(&mut self.shown, run, model, by_call, (found, refused))?;
        let (turn, catalog) = (self.state.turn() + 1, shown.run.catalog());
        let settings = by_call.map(|_| {
            Output::settings(model, &agent.settings, agent.max_tokens, !catalog.is_empty())
        });
        let observed = self.observer.asking(turn, &catalog);
        let early = (begins_reads && agent.early_reads).then(|| Early::new(&shown.run, turn));
        let events = self.observer.events();
        let listening = Listening::new(events, turn, &catalog, early.as_ref().map(|it| it as _));
        let request = ModelRequest {
            instructions: &system,
            history: &self.history,
            listing: &shown.listing,
            limits: RequestLimits { max_tokens: agent.max_tokens, time },
            settings: settings.as_ref().unwrap_or(&agent.settings),
            output: format,
            catalog: Some(&shown.listed),
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

    /// Reads what may be the value that the run ends in, where that is due.
    pub(super) fn checked(
        &self,
        state: State,
        mut actions: Vec<Action>,
    ) -> Result<(State, Vec<Action>), Stopped> {
        let Some(Action::Check { text }) = state.due() else { return Ok((state, actions)) };
        let Some(output) = expected(&state, self.output.as_ref())? else {
            return Ok((state, actions));
        };
        let (state, more) = step(&state, StepInput::Checked(output.read(&text)));
        actions.extend(more);
        Ok((state, actions))
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

/// The value that the run has to end in.
fn expected<'o>(state: &State, output: Option<&'o Output>) -> Result<Option<&'o Output>, Stopped> {
    let Some(expected) = &state.0.output else { return Ok(None) };
    match output {
        Some(output) if output.name() == expected.name => Ok(Some(output)),
        other => Err(Stopped::OtherOutput {
            expected: expected.name.clone(),
            given: other.map(|it| it.name().to_owned()),
        }),
    }
}

impl Shown {
    /// Lists the tools for the model as they are now, and pins the run to them.
    fn newest<'s>(
        shown: &'s mut Option<Self>,
        run: &Run,
        model: &dyn Model,
        by_call: Option<&Output>,
        (found, refused): (Vec<String>, Vec<String>),
    ) -> Result<&'s Self, Stopped> {
        let catalog = run.catalog();
        let generation = catalog.generation();
        let is_known = |shown: &Self| {
            let are_same = shown.found == found && shown.refused == refused;
            are_same && shown.by_call == by_call.is_some() && shown.generation == generation
        };
        let known = shown.take().filter(is_known);
        let newest = match known {
            Some(known) => known,
            None => {
                let listed = by_call.map_or_else(|| catalog.clone(), |it| it.listed(&catalog));
                // The names were looked up in this catalog.
                let listed =
                    listed.revealing_behind(found.iter().map(String::as_str)).unwrap_or(listed);
                let listing = match model.searches_tools() {
                    true => listed.searchable_listing(model.dialect())?,
                    false => listed.listing(model.dialect())?,
                };
                let (by_call, run) = (by_call.is_some(), run.pinned(&catalog));
                Self { generation, by_call, refused, found, listed, listing, run }
            }
        };
        Ok(shown.insert(newest))
    }
}
