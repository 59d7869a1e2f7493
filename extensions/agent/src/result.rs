//! What came of a run.

use std::fmt;

use crate::{AgentRun, Cost, Ended, Message, Spent, StartError, Stopped, Usage};

/// What came of a run. It prints as its text: what the model said at the end, or the answer of the terminal tool that ended it.
#[derive(Debug, Clone)]
pub struct RunResult {
    id: String,
    end: Ended,
    turns: u32,
    spent: Spent,
    history: Vec<Message>,
}

impl RunResult {
    /// Takes what came of the run since its history had this many messages.
    ///
    /// # Errors
    /// When it ended without an answer.
    pub(crate) fn new(run: &AgentRun, end: Ended, before: usize) -> Result<Self, RunError> {
        let (state, history) = (run.state(), run.history()[before..].to_vec());
        let (turns, spent) = (state.turns_since_said(), state.spent_since_said());
        let result = Self { id: run.id().to_owned(), end, turns, spent, history };
        match result.end {
            Ended::Text { .. } | Ended::Terminal { .. } => Ok(result),
            _ => Err(RunError::NoAnswer(Box::new(result))),
        }
    }

    /// Returns what it prints as: empty where the run ended without an answer.
    #[must_use]
    pub fn text(&self) -> &str {
        match &self.end {
            Ended::Text { text, .. } | Ended::Terminal { text, .. } => text,
            _ => "",
        }
    }

    /// Returns how the run ended.
    #[must_use]
    pub fn end(&self) -> &Ended {
        &self.end
    }

    /// Returns how often the model was asked for an answer.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// Returns the tokens of all requests, as far as the provider says.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.spent.usage
    }

    /// Returns what the requests cost; `None` where the model has no price.
    #[must_use]
    pub fn cost(&self) -> Option<Cost> {
        self.spent.known_cost()
    }

    /// Returns what the requests took, those that failed and those whose cost is not known among them.
    #[must_use]
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// Returns what was said, called and answered, from the prompt on.
    #[must_use]
    pub fn history(&self) -> &[Message] {
        &self.history
    }

    /// Returns the id of the run.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl fmt::Display for RunResult {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.text())
    }
}

/// Why a run gave no answer.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// It could not begin.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It stopped without an end; a [`Chat`](crate::Chat) can be resumed.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// It ended by a limit, by a cancellation, or because the model failed; the result has what was said, called and spent until
    /// then.
    #[error("{}", .0.end())]
    NoAnswer(Box<RunResult>),
}

impl RunError {
    /// Returns what came of a run that ended without an answer.
    #[must_use]
    pub fn result(&self) -> Option<&RunResult> {
        match self {
            Self::NoAnswer(result) => Some(result),
            _ => None,
        }
    }
}

toolwright::unstable::debug_as_sentence!(RunError);
