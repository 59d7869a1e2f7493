//! Asks a model, in a separate request, for a summary of the turns that requests leave out. The summary does not count
//! as a turn of the run.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use toolwright::Registry;

use super::admission::{admit, largest};
use super::{AgentRun, StepInput, step};
use crate::events::{GuardAction, GuardReport, GuardStage, NoticeKind};
use crate::guards::OutgoingRequest;
use crate::history::{SUMMARY_INSTRUCTIONS, Summary, SummaryTask};
use crate::limits::{TotalUsage, UsageRecorder};
use crate::model::{Model, ModelAnswer, ModelRequest, RequestLimits, StopReason};

/// How long a summary may take; after that, the run continues without it.
const LONGEST: Duration = Duration::from_secs(120);

/// The summaries of a run.
#[derive(Default)]
pub(super) struct Summaries {
    /// The summaries of this run, in the order in which they were made.
    pub made: Vec<Summary>,
    /// The length of the history when the last attempt failed. The agent does not ask twice at one length.
    pub failed_at: Option<usize>,
}

impl AgentRun {
    /// Restores the recorded summaries of the run.
    pub(crate) fn goes_on_with(&mut self, made: Vec<Summary>) {
        self.summaries.made = made;
    }

    /// Asks for a summary; if the model makes none, reports why and returns `None`.
    pub(super) async fn summarize(&mut self, task: SummaryTask) -> Option<Summary> {
        let model = Arc::clone(self.agent.0.summarizer.as_ref()?);
        // Set before the request, so that the attempt counts even if the caller stops waiting.
        self.summaries.failed_at = Some(task.at);
        let made = self.ask_for_summary(&*model, &task).await;
        let turn = self.state.turn() + 1;
        let catalog = self.run.catalog();
        match made {
            Ok(summary) => {
                self.summaries.failed_at = None;
                let tokens = crate::history::text_tokens(summary.text.len());
                self.observer.notify(turn, NoticeKind::Summarized { tokens }, &catalog);
                Some(summary)
            }
            Err(why) => {
                self.observer.notify(turn, NoticeKind::NotSummarized { why: &why }, &catalog);
                None
            }
        }
    }

    /// Asks for a summary, or returns why there is none. The guards check this request and its answer like all others,
    /// and may refuse either.
    async fn ask_for_summary(
        &mut self,
        model: &dyn Model,
        task: &SummaryTask,
    ) -> Result<Summary, String> {
        let listing = Registry::empty().catalog().listing(model.dialect());
        let listing = listing.map_err(|error| error.to_string())?;
        let request = self.guarded_request(task).await?;
        let (instructions, history) = (&*request.instructions, &*request.history);
        let most = u32::try_from(task.most).unwrap_or(u32::MAX).max(16);
        let reserved = match &self.agent.0.ceilings {
            None => None,
            Some(ceilings) => {
                let size = largest(instructions, listing.tools().get(), None, history);
                let who = (self.run.id(), self.run.user());
                match admit(ceilings, who, model, (size, Some(most))).await {
                    Ok(Ok(reservation)) => Some((ceilings.clone(), reservation)),
                    Ok(Err(StepInput::TooDear(limit))) => return Err(limit.to_string()),
                    Ok(Err(_)) => {
                        return Err(format!("the price of `{}` is not known", model.name()));
                    }
                    Err(stopped) => return Err(stopped.to_string()),
                }
            }
        };
        let limits = RequestLimits { max_tokens: Some(most), time: Some(LONGEST) };
        let request = ModelRequest::new(history, &listing)
            .instructions(instructions)
            .limits(limits)
            .usage_recorder(&self.meter);
        let asked = async {
            self.meter.begin();
            model.answer(request).await
        };
        let answered = timeout(LONGEST, asked).await;
        let spent = match &answered {
            Ok(Ok(answer)) => answer.spent(),
            Ok(Err(error)) => error.spent(),
            Err(_) => self.meter.taken(),
        };
        if let Some((ceilings, reservation)) = reserved {
            ceilings.settle(reservation, spent).await;
        }
        self.meter = UsageRecorder::default();
        if spent != TotalUsage::default() {
            self.observer.spent(spent);
            // This input changes only the counters of usage.
            self.state = step(&self.state, StepInput::GivenUp(spent)).0;
        }
        let answered =
            answered.map_err(|_| format!("it took longer than {} seconds", LONGEST.as_secs()))?;
        let answer = answered.map_err(|error| error.to_string())?;
        if let Some(why) = problem(&answer) {
            return Err(why.to_owned());
        }
        task.read(&self.guarded_answer(answer).await?.text)
    }

    /// Returns the request for a summary, as the guards let it through.
    async fn guarded_request(&mut self, task: &SummaryTask) -> Result<OutgoingRequest, String> {
        let agent = self.agent.clone();
        let guards = &agent.0.guards;
        let request = OutgoingRequest {
            run: self.as_guarded(),
            turn: self.state.turn() + 1,
            instructions: SUMMARY_INSTRUCTIONS.into(),
            history: [task.message()].into(),
        };
        if !guards.look_at_requests() {
            return Ok(request);
        }
        let mut reports = Vec::new();
        let looked = guards.before_model(request, &mut reports).await;
        self.report_guards(reports);
        let (request, _) = looked.map_err(|report| report.to_string())?;
        guards.beside_model(request.clone()).await.map_err(|report| report.to_string())?;
        Ok(request)
    }

    /// Returns the answer with a summary, as the guards let it through.
    async fn guarded_answer(&mut self, answer: ModelAnswer) -> Result<ModelAnswer, String> {
        let agent = self.agent.clone();
        let guards = &agent.0.guards;
        if !guards.has(GuardStage::AfterModel) {
            return Ok(answer);
        }
        let (run, turn, mut reports) = (self.as_guarded(), self.state.turn() + 1, Vec::new());
        let looked = guards.after_model(&run, turn, answer, &self.history, &mut reports).await;
        self.report_guards(reports);
        looked.map_err(|(_, report)| report.to_string())
    }

    /// Reports the changes of the guards. A refusal is not reported here: no summary is made then, and the run
    /// continues.
    fn report_guards(&mut self, mut reports: Vec<GuardReport>) {
        reports.retain(|report| report.action == GuardAction::Changed);
        let (turn, catalog) = (self.state.turn() + 1, self.run.catalog());
        self.guarding.report(&self.observer, turn, reports, &catalog);
    }
}

/// Returns the reason why an answer is not a summary, independently of its text.
fn problem(answer: &ModelAnswer) -> Option<&'static str> {
    match answer.stop {
        StopReason::Refused => Some("the model refused to write it"),
        StopReason::CutShort | StopReason::CutInCall => Some("it was cut short"),
        _ if !answer.calls.is_empty() => Some("the model called a tool in its place"),
        _ => None,
    }
}
