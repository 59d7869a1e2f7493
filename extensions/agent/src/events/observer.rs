//! Receives everything that happens in a run, and passes it to listeners, readers of events, spans, metrics and
//! accounts.

use std::collections::BTreeSet;

#[cfg(feature = "opentelemetry")]
use tokio::time::Instant;
use toolwright::Catalog;
use toolwright::provider::ToolCall;
use tracing::Span;

use super::{CalledTool, EventWriter, RunEvent};
use crate::agent::Agent;
use crate::events::{NoticeKind, RunNotice, spans};
use crate::history::CompactReport;
use crate::limits::TotalUsage;
use crate::model::{Model, ModelAnswer, ModelError, Omitted};

/// Reports everything that happens in one run to listeners, readers, traces and metrics.
pub(crate) struct Observer {
    agent: Agent,
    run: String,
    /// The user to whose account the usage is added.
    user: Option<String>,
    events: EventWriter,
    /// The indexes of the messages whose omitted content was reported.
    reported: BTreeSet<usize>,
    /// The last reported compaction: how often the history had outgrown its share, and whether it was too long.
    compacted: (usize, bool),
}

/// The agent and the run in which a sub-agent was started.
#[derive(Clone, Copy)]
pub(crate) struct StartPoint<'a> {
    /// The agent that drives the parent run.
    pub by: &'a Agent,
    pub run: &'a str,
    /// The names of the agents above the sub-agent, the outermost first, and its own name last.
    pub agents: &'a [String],
}

/// A request to the model that has no answer yet.
pub(crate) struct ObservedRequest {
    turn: u64,
    pub(crate) span: Span,
    #[cfg(feature = "opentelemetry")]
    begun: Instant,
}

impl Observer {
    pub(crate) fn new(agent: &Agent, run: String, user: Option<String>) -> Self {
        let events = agent.0.rings.written(&run);
        Self {
            agent: agent.clone(),
            run,
            user,
            events,
            reported: BTreeSet::new(),
            compacted: (0, false),
        }
    }

    /// Observes a sub-agent, whose events are reported among those of the parent run.
    pub(crate) fn of_agents(agent: &Agent, user: Option<String>, started: &StartPoint<'_>) -> Self {
        let StartPoint { by, run, agents } = *started;
        let events = by.0.rings.of_agents(run, agents.into());
        let run = format!("{run}/{}", agents.join("/"));
        let (agent, reported, compacted) = (agent.clone(), BTreeSet::new(), (0, false));
        Self { agent, run, user, events, reported, compacted }
    }

    /// Returns the id of the run; for a sub-agent, the names of the agents follow the id.
    pub(crate) fn run(&self) -> &str {
        &self.run
    }

    /// Returns the writer of the run's events.
    pub(crate) fn events(&self) -> &EventWriter {
        &self.events
    }

    /// Reports a notice to listeners, and as events.
    pub(crate) fn notify(&self, turn: u64, kind: NoticeKind<'_>, catalog: &Catalog) {
        self.agent.notify(&RunNotice { run: &self.run, turn, kind });
        RunEvent::of(kind, catalog).into_iter().for_each(|event| self.events.push(turn, event));
    }

    /// Reports that the model is asked for the answer of a turn.
    pub(crate) fn asking(
        &self,
        turn: u64,
        catalog: &Catalog,
        model: &dyn Model,
    ) -> ObservedRequest {
        self.events.ask(turn);
        self.notify(turn, NoticeKind::Asking, catalog);
        ObservedRequest {
            turn,
            span: spans::chat(model, &self.run),
            #[cfg(feature = "opentelemetry")]
            begun: Instant::now(),
        }
    }

    /// Reports that a request omits a part of the history, or is too long, unless the last request did so in the same
    /// way.
    pub(crate) fn report_compaction(
        &mut self,
        turn: u64,
        report: CompactReport,
        catalog: &Catalog,
    ) {
        let CompactReport { times, before, after, is_too_long, .. } = report;
        let now = (times, is_too_long);
        let is_new = now != std::mem::replace(&mut self.compacted, now);
        if is_new && (times > 0 || is_too_long) {
            self.notify(turn, NoticeKind::Compacted { before, after, is_too_long }, catalog);
        }
    }

    /// Reports the usage and the failure of a request. [`answered`](Self::answered) reports the answer itself.
    pub(crate) fn report_request(
        &mut self,
        request: &ObservedRequest,
        answered: Result<&ModelAnswer, &ModelError>,
        catalog: &Catalog,
        model: &dyn Model,
    ) {
        #[cfg(not(feature = "opentelemetry"))]
        let _ = model;
        #[cfg(feature = "opentelemetry")]
        if let Some(metrics) = &self.agent.0.metrics {
            metrics.asked(model, answered, request.begun.elapsed());
        }
        self.spent(answered.map_or_else(ModelError::spent, ModelAnswer::spent));
        let answer = match answered {
            Ok(answer) => answer,
            Err(error) => {
                spans::error_of(&request.span, error.kind());
                return self.notify(request.turn, NoticeKind::Failed { error }, catalog);
            }
        };
        spans::answered(&request.span, answer);
        let is_new = |it: &&Omitted| self.reported.insert(it.message);
        let omitted: Vec<Omitted> = answer.omitted.iter().filter(is_new).cloned().collect();
        if !omitted.is_empty() {
            self.notify(request.turn, NoticeKind::Omitted { omitted: &omitted }, catalog);
        }
    }

    /// Reports an answer of the model.
    pub(crate) fn answered(&self, turn: u64, answer: &ModelAnswer, catalog: &Catalog) {
        self.notify(turn, NoticeKind::Answered { answer }, catalog);
    }

    /// Reports an answer whose text was held back and which the guards have let through.
    pub(crate) fn let_through(&self, turn: u64, answer: &ModelAnswer, catalog: &Catalog) {
        if !answer.text.is_empty() {
            self.events.push(turn, RunEvent::Text(answer.text.clone()));
        }
        self.answered(turn, answer, catalog);
    }

    /// Adds the usage of requests to the user's account.
    pub(crate) fn spent(&self, spent: TotalUsage) {
        self.agent.0.accounts.add(self.user.as_deref(), spent);
    }

    /// Reports that calls of a turn or calls in the background wait. No process drives the run meanwhile.
    pub(crate) fn waits(&self, turn: u64, calls: &[ToolCall]) {
        let calls = calls.iter().map(CalledTool::from).collect();
        self.events.push(turn, RunEvent::Waiting { calls });
    }

    /// Reports that this process stopped driving the run, which has not ended.
    pub(crate) fn stopped(&self, why: &impl ToString) {
        let why = why.to_string();
        self.events.push_now(RunEvent::Stopped { why });
    }
}
