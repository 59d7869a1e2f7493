//! Records the answers of a sub-agent's model. The journal has the sub-agent's calls as children of the call that
//! started the sub-agent. After a crash, or a wait for a person, that call begins again and replays the answers and the
//! calls.

use serde::{Deserialize, Serialize};
use toolwright::CallId;
use toolwright::journal::DocumentWrite;
use toolwright::unstable::runs::JournalAccess;

use super::runs::head_of;
use super::{RunError, keys, turn};
use crate::events::{GuardAction, GuardReport};
use crate::history::Message;
use crate::limits::share::Standing;
use crate::limits::{Cost, TotalUsage, Usage};
use crate::model::{ModelAnswer, StopReason};
use crate::run::StepInput;

/// One answer of the model of a sub-agent.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelReply {
    message: Message,
    stop: Stop,
    usage: Option<Usage>,
    cost: Option<Cost>,
    failed: TotalUsage,
    model: Option<String>,
    /// The decisions of guards about the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    guards: Vec<GuardReport>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stop {
    Finished,
    Paused,
    CutShort,
    CutInCall,
    Refused,
}

/// The recorded answers of one sub-agent's model.
pub(crate) struct RecordedAnswers {
    access: JournalAccess,
    prefix: String,
}

impl RecordedAnswers {
    pub(crate) fn new(access: JournalAccess, run: &str, call: CallId) -> Self {
        Self { access, prefix: keys::sub_agent(run, call) }
    }

    /// Reads all answers, in order.
    pub(crate) async fn read(&self) -> Result<Vec<StepInput>, RunError> {
        let mut answers = Vec::new();
        loop {
            let key = self.key(answers.len());
            let Some(found) = self.access.store.document(&key).await? else { return Ok(answers) };
            let answered: ModelReply = turn::opened(&found, self.access.sealing.as_ref())?;
            answers.push(answered.input(&key)?);
        }
    }

    /// Returns the write that stores a new answer of the model in a document of its own.
    pub(crate) fn write(
        &self,
        number: usize,
        answer: &ModelAnswer,
        guards: Vec<GuardReport>,
    ) -> Result<DocumentWrite, RunError> {
        let key = self.key(number);
        let text = turn::text(&ModelReply::of(answer, guards), &key, self.access.sealing.as_ref())?;
        Ok(DocumentWrite { key, expects: None, text: Some(text) })
    }

    fn key(&self, number: usize) -> String {
        format!("{}{number}", self.prefix)
    }
}

impl ModelReply {
    fn of(answer: &ModelAnswer, guards: Vec<GuardReport>) -> Self {
        let ModelAnswer { text, calls, verbatim, usage, cost, failed, model, .. } = answer;
        let (text, calls, verbatim) = (text.clone(), calls.as_slice().into(), verbatim.clone());
        Self {
            message: Message::Assistant { text, calls, verbatim },
            stop: match answer.stop {
                StopReason::Finished => Stop::Finished,
                StopReason::Paused => Stop::Paused,
                StopReason::CutShort => Stop::CutShort,
                StopReason::CutInCall => Stop::CutInCall,
                StopReason::Refused => Stop::Refused,
            },
            usage: *usage,
            cost: *cost,
            failed: *failed,
            model: model.clone(),
            guards,
        }
    }

    /// Returns the input by which the sub-agent's loop replays this answer.
    fn input(mut self, key: &str) -> Result<StepInput, RunError> {
        let refused = self.guards.pop().filter(|it| it.action != GuardAction::Changed);
        let answer = self.answer(key)?;
        Ok(match refused {
            Some(report) => StepInput::Guarded { answer: Some(answer), report },
            None => StepInput::Answered(answer),
        })
    }

    fn answer(self, key: &str) -> Result<ModelAnswer, RunError> {
        let Message::Assistant { text, calls, verbatim } = self.message else {
            return Err(RunError::damaged(key, "it is no answer of a model; restore the journal"));
        };
        let answer = ModelAnswer::new(text, calls.to_vec()).stopped(match self.stop {
            Stop::Finished => StopReason::Finished,
            Stop::Paused => StopReason::Paused,
            Stop::CutShort => StopReason::CutShort,
            Stop::CutInCall => StopReason::CutInCall,
            Stop::Refused => StopReason::Refused,
        });
        let (usage, cost, failed, model) = (self.usage, self.cost, self.failed, self.model);
        Ok(ModelAnswer { verbatim, usage, cost, failed, model, ..answer })
    }
}

/// Returns the limits and the spending of a recorded run, from which the budgets of its sub-agents are taken; `None` if
/// no run of the id is recorded.
pub(crate) async fn standing(
    access: &JournalAccess,
    run: &str,
) -> Result<Option<Standing>, RunError> {
    match head_of(&*access.store, run).await {
        Ok((head, _)) => Ok(Some(head.state(access.sealing.as_ref())?.standing())),
        Err(RunError::NoSuchRun { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
