//! Asks a model for a summary of turns that are left out, in a request of its own. What comes of it is no turn of the run.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use toolwright::Registry;

use super::{AgentRun, StepInput, step};
use crate::events::NoticeKind;
use crate::history::{Message, SUMMARY_INSTRUCTIONS, Summary, SummaryTask};
use crate::limits::{TotalUsage, UsageRecorder};
use crate::model::{Model, ModelAnswer, ModelRequest, RequestLimits, StopReason};

/// How long a summary may take: the run goes on without it then.
const LONGEST: Duration = Duration::from_secs(120);

/// The summaries of a run.
#[derive(Default)]
pub(super) struct Summaries {
    /// Those that were made, in their order.
    pub made: Vec<Summary>,
    /// How many messages the history had where none could be made: it is asked for once.
    pub failed_at: Option<usize>,
}

impl AgentRun {
    /// Goes on with the summaries that were recorded of the run.
    pub(crate) fn goes_on_with(&mut self, made: Vec<Summary>) {
        self.summaries.made = made;
    }

    /// Asks for a summary; nothing where none came of it, which is reported.
    pub(super) async fn summarize(&mut self, task: SummaryTask) -> Option<Summary> {
        let model = Arc::clone(self.agent.0.summarizer.as_ref()?);
        // Also where the caller goes away meanwhile.
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

    async fn ask_for_summary(
        &mut self,
        model: &dyn Model,
        task: &SummaryTask,
    ) -> Result<Summary, String> {
        let listing = Registry::empty().catalog().listing(model.dialect());
        let listing = listing.map_err(|error| error.to_string())?;
        let history = [Message::user(task.prompt.clone())];
        let most = u32::try_from(task.most).unwrap_or(u32::MAX).max(16);
        let limits = RequestLimits { max_tokens: Some(most), time: Some(LONGEST) };
        let request = ModelRequest::new(&history, &listing)
            .instructions(SUMMARY_INSTRUCTIONS)
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
        self.meter = UsageRecorder::default();
        if spent != TotalUsage::default() {
            self.observer.spent(spent);
            // It only counts.
            self.state = step(&self.state, StepInput::GivenUp(spent)).0;
        }
        let answered =
            answered.map_err(|_| format!("it took longer than {} seconds", LONGEST.as_secs()))?;
        let answer = answered.map_err(|error| error.to_string())?;
        problem(&answer).map_or_else(|| task.read(&answer.text), |why| Err(why.to_owned()))
    }
}

/// Why an answer is no summary, whatever its text says.
fn problem(answer: &ModelAnswer) -> Option<&'static str> {
    match answer.stop {
        StopReason::Refused => Some("the model refused to write it"),
        StopReason::CutShort | StopReason::CutInCall => Some("it was cut short"),
        _ if !answer.calls.is_empty() => Some("the model called a tool in its place"),
        _ => None,
    }
}
