//! Results and errors of runs.

use std::fmt;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::durable::{self, Came, Progress, Waiting};
use crate::events::RunEnd;
use crate::history::Message;
use crate::limits::{Cost, TotalUsage, Usage};
use crate::run::{AgentRun, Expected, StartError, State, Stopped};

/// The result of a run. Its `Display` form is the answer: the last message of the model, the value in which the run
/// ended, or the answer of the terminal tool that ended the run.
#[derive(Debug, Clone)]
pub struct RunResult {
    id: String,
    end: RunEnd,
    turns: u32,
    spent: TotalUsage,
    history: Vec<Message>,
    differences: Vec<String>,
    /// The type of the value in which the run had to end, if it had one.
    expected: Option<Expected>,
}

impl RunResult {
    /// Makes the result of a run from its history after the first `before` messages.
    ///
    /// # Errors
    /// When the run ended without an answer.
    pub(crate) fn new(run: &AgentRun, end: RunEnd, before: usize) -> Result<Self, RunError> {
        let history = run.history()[before..].to_vec();
        Self::of(run.id(), end, run.state(), history, Vec::new())
    }

    /// Makes the result of a recorded run.
    ///
    /// # Errors
    /// When the run waits, is still driven by another process, or ended without an answer.
    pub(crate) fn recorded(came: Came) -> Result<Self, RunError> {
        let Came { id, progress, state, mut history, before, differences } = came;
        match progress {
            Progress::Ended(end) => {
                history.drain(..before.min(history.len()));
                Self::of(&id, end, &state, history, differences)
            }
            Progress::Waiting(waiting) => Err(RunError::Waits(Box::new(waiting))),
            Progress::Queued => {
                let why = "is at work; wait for its end".to_owned();
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

    /// Returns the answer as text, as the `Display` form does; empty if the run ended without an answer.
    #[must_use]
    pub fn text(&self) -> &str {
        match &self.end {
            RunEnd::Text { text, .. } | RunEnd::Terminal { text, .. } => text,
            RunEnd::Output { value } => value,
            _ => "",
        }
    }

    /// Returns the value in which the run ended, if an output type was set by
    /// [`AgentBuilder::output`](crate::AgentBuilder::output) or [`RunRequest::typed`](crate::RunRequest::typed).
    ///
    /// # Errors
    /// When the run did not end in a value, or ended in a value of another type: a type with another name or other
    /// fields.
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

    /// Returns how many times the model has answered since the prompt.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// Returns the tokens of all requests since the prompt, as far as the provider reports them.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.spent.usage
    }

    /// Returns the cost of the requests since the prompt, as far as their prices are known; `None` if no price is
    /// known.
    #[must_use]
    pub fn cost(&self) -> Option<Cost> {
        self.spent.known_cost()
    }

    /// Returns the usage of all requests since the prompt, including failed requests and requests of unknown cost.
    #[must_use]
    pub fn spent(&self) -> TotalUsage {
        self.spent
    }

    /// Returns the history from the prompt on: all messages, calls and answers.
    #[must_use]
    pub fn history(&self) -> &[Message] {
        &self.history
    }

    /// Lists how this agent differs from the agent that drove the recorded run before: in its model, its instructions,
    /// its tools or other parts.
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
    /// The run could not begin.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The run stopped without an end; a [`Chat`](crate::Chat) can be resumed.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The run ended without an answer: at a limit, by a cancellation or a guard, because the model failed, or because
    /// no answer was a valid value. The result has the history and the usage until then.
    #[error("{}", .0.end())]
    NoAnswer(Box<RunResult>),
    /// The run is recorded and waits for people. When they have decided, request the run again by its id to continue
    /// it.
    #[error(
        "run `{}` waits: {}; {}ask for the run again by its id",
        .0.run,
        .0,
        match .0.commands() {
            commands if commands.is_empty() => commands,
            commands => format!("{commands}, then "),
        }
    )]
    Waits(Box<Waiting>),
    /// The run did not end in a value of the requested type, or the validation of the type refuses the value.
    #[error("run `{run}` {why}")]
    OtherOutput {
        /// The id of the run.
        run: String,
        /// The reason, with the type in which the run ends and the requested type.
        why: String,
    },
    /// The run is recorded, and this process cannot continue it.
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
    /// Returns the result of a run that ended without an answer.
    #[must_use]
    pub fn result(&self) -> Option<&RunResult> {
        match self {
            Self::NoAnswer(result) => Some(result),
            _ => None,
        }
    }

    /// Lists the problems of the last answer, if the run ended because no answer was a value of its output type.
    #[must_use]
    pub fn output_problems(&self) -> &[String] {
        match self.result().map(RunResult::end) {
            Some(RunEnd::InvalidOutput { problems, .. }) => problems,
            _ => &[],
        }
    }

    /// Returns the calls for which a recorded run waits.
    #[must_use]
    pub fn waiting(&self) -> Option<&Waiting> {
        match self {
            Self::Waits(waiting) => Some(waiting),
            _ => None,
        }
    }
}

toolwright::unstable::debug_as_sentence!(RunError);
