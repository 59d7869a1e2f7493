//! What came of a run.

use std::fmt;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::durable::{self, Came, Progress, Waiting};
use crate::events::RunEnd;
use crate::history::Message;
use crate::limits::{Cost, TotalUsage, Usage};
use crate::run::{AgentRun, Expected, StartError, State, Stopped};

/// What came of a run. It prints as its text: what the model said at the end, or the answer of the terminal tool that ended it.
#[derive(Debug, Clone)]
pub struct RunResult {
    id: String,
    end: RunEnd,
    turns: u32,
    spent: TotalUsage,
    history: Vec<Message>,
    differences: Vec<String>,
    /// The type of the value that it was to end in.
    expected: Option<Expected>,
}

impl RunResult {
    /// Takes what came of the run since its history had this many messages.
    ///
    /// # Errors
    /// When it ended without an answer.
    pub(crate) fn new(run: &AgentRun, end: RunEnd, before: usize) -> Result<Self, RunError> {
        let history = run.history()[before..].to_vec();
        Self::of(run.id(), end, run.state(), history, Vec::new())
    }

    /// Takes what came of a recorded run.
    ///
    /// # Errors
    /// When it waits, or ended without an answer.
    pub(crate) fn recorded(came: Came) -> Result<Self, RunError> {
        let Came { id, progress, state, mut history, before, differences } = came;
        match progress {
            Progress::Ended(end) => {
                history.drain(..before.min(history.len()));
                Self::of(&id, end, &state, history, differences)
            }
            Progress::Waiting(waiting) => Err(RunError::Waits(Box::new(waiting))),
            Progress::Queued => {
                let why = "works; wait for its end".to_owned();
                Err(RunError::Recorded(durable::RunError::NotNow { run: id, why }))
            }
        }
    }

    fn of(
        id: &str,
        end: RunEnd,
        state: &State,
        history: Vec<Message>,
        differences: Vec<String>,
    ) -> Result<Self, RunError> {
        let (turns, spent) = (state.turns_since_said(), state.spent_since_said());
        let expected = state.expected().cloned();
        let result = Self { id: id.to_owned(), end, turns, spent, history, differences, expected };
        match result.end {
            RunEnd::Text { .. } | RunEnd::Terminal { .. } | RunEnd::Output { .. } => Ok(result),
            _ => Err(RunError::NoAnswer(Box::new(result))),
        }
    }

    /// Returns what it prints as: empty where the run ended without an answer.
    #[must_use]
    pub fn text(&self) -> &str {
        match &self.end {
            RunEnd::Text { text, .. } | RunEnd::Terminal { text, .. } => text,
            RunEnd::Output { value } => value,
            _ => "",
        }
    }

    /// Returns the value that the run ended in, of an agent that was built with [`output`](crate::AgentBuilder::output).
    ///
    /// # Errors
    /// When the run ended in something else, or in a value of another type: of another name, or with other fields.
    pub fn output<T: DeserializeOwned + JsonSchema>(&self) -> Result<T, RunError> {
        let other = |why: String| RunError::OtherOutput { run: self.id.clone(), why };
        let given = Expected::of::<T>();
        let name = &given.name;
        let RunEnd::Output { value } = &self.end else {
            return Err(other(format!("{}, and a value of `{name}` is asked for", self.end)));
        };
        if let Some(recorded) = self.expected.as_ref().filter(|it| !it.is_same_type(&given)) {
            return Err(other(recorded.refuses(&given)));
        }
        serde_json::from_str(value).map_err(|error| {
            other(format!("ended in a value that cannot be read as `{name}`: {error}"))
        })
    }

    /// Returns how the run ended.
    #[must_use]
    pub fn end(&self) -> &RunEnd {
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
    pub fn spent(&self) -> TotalUsage {
        self.spent
    }

    /// Returns what was said, called and answered, from the prompt on.
    #[must_use]
    pub fn history(&self) -> &[Message] {
        &self.history
    }

    /// Returns in what the agent is another than the one that drove the recorded run before: its model, instructions or tools.
    #[must_use]
    pub fn differences(&self) -> &[String] {
        &self.differences
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
    /// It is recorded and waits for people: asked for again by its id when they have decided, it goes on.
    #[error(
        "run `{}` waits: {}; decide by `toolwright approvals` (or say what became of a call by `toolwright indeterminate`), then ask for \
         the run again by its id",
        .0.run,
        .0
    )]
    Waits(Box<Waiting>),
    /// It ended in something else than a value of the type, or in a value that the rule of the type refuses.
    #[error("run `{run}` {why}")]
    OtherOutput {
        /// The run.
        run: String,
        /// What it ended in, and what was asked for.
        why: String,
    },
    /// It is recorded and does not go on here.
    #[error(transparent)]
    Recorded(durable::RunError),
}

impl From<durable::RunError> for RunError {
    fn from(error: durable::RunError) -> Self {
        match error {
            durable::RunError::Start(error) => error.into(),
            durable::RunError::Stopped(stopped) => stopped.into(),
            durable::RunError::OtherOutput { run, why } => Self::OtherOutput { run, why },
            error => Self::Recorded(error),
        }
    }
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

    /// Returns what is wrong with the last answer of a run that ended because no answer was the value which it was to end in.
    #[must_use]
    pub fn output_problems(&self) -> &[String] {
        match self.result().map(RunResult::end) {
            Some(RunEnd::InvalidOutput { problems, .. }) => problems,
            _ => &[],
        }
    }

    /// Returns what a recorded run waits for.
    #[must_use]
    pub fn waiting(&self) -> Option<&Waiting> {
        match self {
            Self::Waits(waiting) => Some(waiting),
            _ => None,
        }
    }
}

toolwright::unstable::debug_as_sentence!(RunError);
