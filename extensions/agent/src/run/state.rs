//! The state of a run, apart from its history. The state is small, because it does not grow with the history.

use std::fmt;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use toolwright::provider::ToolCall;

use super::background::BackgroundCall;
use super::failing::Failing;
use super::output::Expected;
use crate::events::RunEnd;
use crate::history::known;
use crate::limits::share::{SpentShare, Standing};
use crate::limits::{Limits, TotalUsage, Usage};
use crate::model::FINAL_ANSWER;
use crate::run::{Action, Turn};

/// The state of a run. To continue the run, in this process or another, a driver needs the state, the history, and the
/// states of the agent's plugins if it has any. [`step`](crate::step) computes the next state.
///
/// ```
/// use toolwright_agent::{Action, StepInput, Limits, State, step};
///
/// let (state, actions) = step(&State::new(Limits::default()), StepInput::said("make the tests pass"));
/// assert!(matches!(actions[..], [Action::Append(_), Action::Ask]));
///
/// // The state is the same after it was stored and read again: the model has to be asked.
/// let stored = serde_json::to_string(&state)?;
/// let state: State = serde_json::from_str(&stored)?;
/// assert!(matches!(state.due(), Some(Action::Ask)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct State(pub(crate) Inner);

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Inner {
    pub limits: Limits,
    pub phase: Phase,
    /// The number of the model's last answer, counted over the whole run.
    pub turn: u64,
    /// How many times the model has answered since the last [`Said`](crate::StepInput::Said).
    pub taken: u32,
    /// How many answers the models of the sub-agents have given since the last [`Said`](crate::StepInput::Said).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub delegated: u32,
    /// How many answers and ends guards have sent back since the last [`Said`](crate::StepInput::Said).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sent_back: u32,
    /// How many times the run was handed off since the last [`Said`](crate::StepInput::Said).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub handed_off: u32,
    /// How many answers in a row were empty.
    pub empty: u32,
    /// How many answers in a row were cut short in the middle of a call.
    pub cut: u32,
    /// Whether calls of the model were answered since the last [`Said`](crate::StepInput::Said).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub called: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing: Option<Failing>,
    /// The output type in which the run has to end; `None` if it ends in a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Expected>,
    /// The calls that continue in the background and whose results the model has not read, in the order in which the
    /// model made them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<BackgroundCall>,
    /// The tokens and the cost of the whole run.
    pub spent: TotalUsage,
    /// The tokens and the cost of the run before the user's last message.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub spent_before: TotalUsage,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(times: &u32) -> bool {
    *times == 0
}

fn is_nothing(spent: &TotalUsage) -> bool {
    *spent == TotalUsage::default()
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Phase {
    /// The user has not sent a message yet.
    Idle,
    /// The model is asked next.
    Asking,
    /// The calls of an answer are answered next.
    Calling {
        calls: Arc<[ToolCall]>,
        /// Whether the last of the calls was cut short. Such a call is not run.
        is_cut: bool,
        /// The reason why the run ends once the calls are answered, if it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stopping: Option<Stopping>,
    },
    /// The model's answer may be the value that the run ends in, and has to be checked.
    Checking {
        /// The text that the model gave as the value.
        text: String,
        /// The call by which the model gave the value; `None` if it is the text of the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<ToolCall>,
    },
    /// The model is done, and calls continue in the background. The run ends when the model has read their results.
    Resting {
        /// The end that the run would have if no calls went on in the background.
        how: RunEnd,
    },
    Ended {
        how: RunEnd,
    },
}

/// Why a run ends once the calls of its open turn are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stopping {
    Cancelled,
    TimeIsUp,
}

impl State {
    /// The version of the stored form that this release writes and reads.
    pub const VERSION: u32 = 1;

    /// Makes the state of a run in which nothing was said yet.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self(Inner {
            limits,
            phase: Phase::Idle,
            turn: 0,
            taken: 0,
            delegated: 0,
            sent_back: 0,
            handed_off: 0,
            empty: 0,
            cut: 0,
            called: false,
            failing: None,
            output: None,
            background: Vec::new(),
            spent: TotalUsage::default(),
            spent_before: TotalUsage::default(),
        })
    }

    /// Returns the state of a fork that has the turns of this run up to `turn`. If `ended` is given, it is the end of
    /// the fork; otherwise the fork's model answers next. `expected` is the type of the value that the fork has to end
    /// in, and `called` whether calls of the model were answered since the user's last message. Limits start again.
    pub(crate) fn at(
        &self,
        turn: u64,
        ended: Option<RunEnd>,
        expected: Option<Expected>,
        called: bool,
    ) -> Self {
        let Self(inner) = Self::new(self.0.limits);
        let phase = ended.map_or(Phase::Asking, |how| Phase::Ended { how });
        let output = expected.map(|it| Expected { invalid: 0, ..it });
        Self(Inner { turn, phase, output, called, ..inner })
    }

    /// Returns the action that is due, for a driver that takes up the run: ask the model, run the calls of a turn,
    /// check a value, or await the result of a call that continues in the background. `None` before the first message
    /// of the user and after the end.
    #[must_use]
    pub fn due(&self) -> Option<Action> {
        match &self.0.phase {
            Phase::Asking => Some(Action::Ask),
            Phase::Calling { calls, is_cut, .. } => Some(Action::Call(Turn {
                number: self.0.turn,
                run: self.run_of(calls, *is_cut),
                calls: Arc::clone(calls),
            })),
            Phase::Checking { text, .. } => Some(Action::Check { text: text.clone() }),
            Phase::Resting { .. } => Some(Action::Await),
            Phase::Idle | Phase::Ended { .. } => None,
        }
    }

    /// Returns how many calls of a turn are run, counted from the first. A call that was cut short is not run. If the
    /// model gives the final value by one of several calls, neither that call nor the calls after it are run, since the
    /// model had not read the answers of the other calls yet.
    pub(super) fn run_of(&self, calls: &[ToolCall], is_cut: bool) -> usize {
        let whole = calls.len() - usize::from(is_cut);
        let is_value = |call: &ToolCall| self.0.output.is_some() && call.name == FINAL_ANSWER;
        calls.iter().position(is_value).map_or(whole, |first| first.min(whole))
    }

    /// Returns how the run ended; `None` if it has not.
    #[must_use]
    pub fn ended(&self) -> Option<&RunEnd> {
        match &self.0.phase {
            Phase::Ended { how } => Some(how),
            _ => None,
        }
    }

    /// Returns how the run ended, or would have ended if no calls went on in the background.
    pub(crate) fn outcome(&self) -> Option<&RunEnd> {
        match &self.0.phase {
            Phase::Ended { how } | Phase::Resting { how } => Some(how),
            _ => None,
        }
    }

    /// Returns the calls that continue in the background and whose results the model has not read.
    pub(crate) fn background(&self) -> &[BackgroundCall] {
        &self.0.background
    }

    /// Returns the calls that have no answer yet: the calls of the history's last message.
    #[must_use]
    pub fn open_calls(&self) -> &[ToolCall] {
        match &self.0.phase {
            Phase::Calling { calls, .. } => calls,
            Phase::Checking { call: Some(call), .. } => std::slice::from_ref(call),
            _ => &[],
        }
    }

    /// Returns the number of the last answer of the model, counted from 1 over the whole run; 0 before the first.
    #[must_use]
    pub fn turn(&self) -> u64 {
        self.0.turn
    }

    /// Returns the tokens of all requests to models, as far as the providers report them.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.0.spent.usage
    }

    /// Returns the tokens and the cost of all requests to models over the whole run, including failed requests.
    #[must_use]
    pub fn spent(&self) -> TotalUsage {
        self.0.spent
    }

    /// Returns whether calls of the model were answered since the last [`Said`](crate::StepInput::Said).
    pub(crate) fn has_called(&self) -> bool {
        self.0.called
    }

    /// Returns how often the run was handed off since the last [`Said`](crate::StepInput::Said).
    pub(super) fn handed_off(&self) -> u32 {
        self.0.handed_off
    }

    /// Returns the output type in which the run has to end, as the user's last message has set it.
    pub(crate) fn expected(&self) -> Option<&Expected> {
        self.0.output.as_ref()
    }

    /// Returns how many times the model has answered since the last [`Said`](crate::StepInput::Said).
    pub(crate) fn turns_since_said(&self) -> u32 {
        self.0.taken
    }

    /// Returns the limits and spending of the run while its calls run, for the budgets of its sub-agents.
    pub(crate) fn standing(&self) -> Standing {
        let turns = self.0.taken.saturating_add(self.0.delegated);
        let spent = SpentShare { usage: self.spent_since_said(), turns };
        Standing { turn: self.0.turn, limits: self.0.limits, spent }
    }

    /// Returns the tokens and the cost since the last [`Said`](crate::StepInput::Said).
    pub(crate) fn spent_since_said(&self) -> TotalUsage {
        self.0.spent.since(self.0.spent_before)
    }

    /// Returns the limits of the run.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.0.limits
    }
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct StoredState<'a> {
            version: u32,
            #[serde(flatten)]
            inner: &'a Inner,
        }
        StoredState { version: Self::VERSION, inner: &self.0 }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for State {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        let version = value.as_object_mut().and_then(|it| it.remove("version"));
        known("state of a run", version, Self::VERSION).map_err(D::Error::custom)?;
        let inner: Inner = serde_json::from_value(value).map_err(D::Error::custom)?;
        match &inner.phase {
            Phase::Calling { calls, .. } if calls.is_empty() => {
                Err(D::Error::custom("the stored state of a run has an open turn without calls"))
            }
            _ => Ok(Self(inner)),
        }
    }
}

/// Omits arguments and texts, which may hold secrets.
impl fmt::Debug for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase: &dyn fmt::Debug = match &self.0.phase {
            Phase::Idle => &"idle",
            Phase::Asking => &"asking",
            Phase::Calling { calls, .. } => calls,
            Phase::Checking { .. } => &"checking",
            Phase::Resting { .. } => &"resting",
            Phase::Ended { how } => how,
        };
        let mut debug = formatter.debug_struct("State");
        debug.field("turn", &self.0.turn).field("phase", phase).finish_non_exhaustive()
    }
}
