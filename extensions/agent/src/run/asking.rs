//! Asks the model, on the tools that there are now.

use tokio::time::Instant;
use toolwright::CancellationToken;
use tracing::Instrument as _;

use super::until::{cancellation, until};
use super::{AgentRun, Early, Shown, Stopped};
use crate::events::Listening;
use crate::{Action, Event, LeftOut, Meter, ModelRequest, NoticeKind, RequestLimits, Spent, spans};

impl AgentRun {
    /// Asks the model, and takes its answer.
    pub(super) async fn ask(&mut self, deadline: Option<Instant>) -> Result<Vec<Action>, Stopped> {
        let event = self.asked(deadline, self.agent.0.early_reads).await?;
        let actions = self.after(event);
        if !actions.iter().any(|action| matches!(action, Action::Call(_))) {
            // What began for calls that are not made is cancelled.
            self.begun = None;
        }
        Ok(actions)
    }

    /// Asks the model: what came of it. Reads may begin while the answer comes, where the caller makes its calls at once.
    pub(crate) async fn asked(
        &mut self,
        deadline: Option<Instant>,
        begins_reads: bool,
    ) -> Result<Event, Stopped> {
        // Of an answer for which somebody stopped to wait.
        self.count_given_up();
        tokio::select! {
            biased;
            () = cancellation(self.cancelled.as_ref()) => return Ok(Event::Cancelled),
            () = until(deadline) => return Ok(Event::TimeIsUp),
            discovered = self.run.discover_tools() => discovered.map_err(Stopped::unlisted)?,
        }
        self.show()?;
        let turn = self.state.turn() + 1;
        self.events.ask(turn);
        self.notify_at(turn, NoticeKind::Asking);
        let Some(shown) = &self.shown else { return Ok(Event::Cancelled) };
        let agent = &self.agent.0;
        let system = agent.instructions.text(&self.run).map_err(Stopped::without)?;
        let limits = RequestLimits {
            max_tokens: agent.max_tokens,
            time: deadline.map(|it| it.saturating_duration_since(Instant::now())),
        };
        let catalog = shown.run.catalog();
        let early = begins_reads.then(|| {
            let stop = deadline.map(|_| CancellationToken::new());
            Early::new(&shown.run, turn, stop)
        });
        let listening = Listening::new(&self.events, turn, &catalog, early.as_ref());
        let request = ModelRequest {
            system: &system,
            history: &self.history,
            listing: &shown.listing,
            limits,
            settings: &agent.settings,
            catalog: Some(&catalog),
            listener: (begins_reads || self.events.is_read()).then_some(&listening),
            meter: Some(&self.meter),
        };
        #[cfg(feature = "opentelemetry")]
        let begun = Instant::now();
        let span = spans::chat(&*agent.model, self.run.id());
        let asked = async {
            self.meter.begin();
            agent.model.answer(request).await
        };
        let asked = asked.instrument(span.clone());
        let event = tokio::select! {
            biased;
            () = cancellation(self.cancelled.as_ref()) => Event::Cancelled,
            () = until(deadline) => Event::TimeIsUp,
            // Lazily, so that a run that is cancelled asks nothing.
            answered = asked => match answered {
                Ok(answer) => Event::Answered(answer),
                Err(error) => Event::Failed(error),
            }
        };
        match &event {
            Event::Answered(answer) => {
                spans::answered(&span, answer);
                #[cfg(feature = "opentelemetry")]
                if let Some(metrics) = &agent.metrics {
                    metrics.answered(&*agent.model, answer, begun.elapsed());
                }
                agent.accounts.add(self.user.as_deref(), answer.spent());
                listening.answered(answer);
                self.begun = early.map(Early::begun);
                let reported = &mut self.reported;
                let is_new = |it: &&LeftOut| reported.insert(it.message);
                let left_out: Vec<LeftOut> =
                    answer.left_out.iter().filter(is_new).cloned().collect();
                if !left_out.is_empty() {
                    self.notify_at(turn, NoticeKind::LeftOut { left_out: &left_out });
                }
                self.notify_at(turn, NoticeKind::Answered { answer });
            }
            Event::Failed(error) => {
                spans::failed(&span, error);
                #[cfg(feature = "opentelemetry")]
                if let Some(metrics) = &agent.metrics {
                    metrics.failed(&*agent.model, error, begun.elapsed());
                }
                agent.accounts.add(self.user.as_deref(), error.spent());
                self.notify_at(turn, NoticeKind::Failed { error });
            }
            _ => {
                self.count_given_up();
                return Ok(event);
            }
        }
        self.meter = Meter::default();
        Ok(event)
    }

    /// Counts what requests took for whose answer nobody waits any more.
    pub(crate) fn count_given_up(&mut self) {
        let spent = std::mem::take(&mut self.meter).taken();
        if spent != Spent::default() {
            self.agent.0.accounts.add(self.user.as_deref(), spent);
            // It only counts.
            let _ = self.after(Event::GivenUp(spent));
        }
    }

    /// Lists the tools for the model as they are now, and pins the run to them.
    fn show(&mut self) -> Result<(), Stopped> {
        let catalog = self.run.catalog();
        let generation = catalog.generation();
        if self.shown.as_ref().is_some_and(|shown| shown.generation == generation) {
            return Ok(());
        }
        let model = &*self.agent.0.model;
        let listing = match model.searches_tools() {
            true => catalog.searchable_listing(model.dialect())?,
            false => catalog.listing(model.dialect())?,
        };
        self.shown = Some(Shown { generation, listing, run: self.run.pinned(&catalog) });
        Ok(())
    }
}
