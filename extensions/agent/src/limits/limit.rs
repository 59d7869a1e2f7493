//! The limits of a run, and the limit that ended a run.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{CeilingOf, Cost};

/// A limit that was reached, with its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "limit", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// The model answered this many times without ending the run.
    Turns {
        /// The number of answers in the run.
        turns: u32,
    },
    /// The time limit was reached.
    Time {
        /// The limit in milliseconds.
        milliseconds: u64,
    },
    /// The requests and answers took this many tokens.
    Tokens {
        /// The number of tokens.
        tokens: u64,
    },
    /// The requests cost this much.
    Cost {
        /// The cost, in millionths of a millionth of a dollar.
        cost: Cost,
    },
    /// The next request might have exceeded a ceiling for all runs of a user, an agent or an application; see
    /// [`Ceiling`](crate::Ceiling).
    Ceiling {
        /// The runs that the ceiling is for.
        whose: CeilingOf,
        /// The name of the user or agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The day or month, in UTC.
        period: String,
        /// The limit on the cost.
        ceiling: Cost,
        /// The amount that these runs had spent, and that was reserved for requests in progress.
        held: Cost,
        /// The maximum cost that the next request could have.
        next: Cost,
    },
    /// The same call with the same arguments failed this many times in a row.
    RepeatedFailure {
        /// The name of the tool that is called.
        tool: String,
        /// How many times in a row the call failed.
        times: u32,
    },
    /// This many answers in a row were cut short in the middle of a call.
    CutShort {
        /// How many answers in a row were cut short.
        times: u32,
    },
    /// This many answers in a row were empty.
    EmptyAnswers {
        /// How many answers in a row were empty.
        times: u32,
    },
}

/// The limits on what a run does for one message of its user. Set by the methods of
/// [`AgentBuilder`](crate::AgentBuilder).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// How many times a run may ask the model; 25 by default.
    pub turns: u32,
    /// How long a run may work on the message, including the time that people take to decide; no limit by default.
    pub time: Option<Duration>,
    /// How many tokens the requests and answers of a run may take; no limit by default. The answer that reaches the
    /// limit is the last; its calls still run and are answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// How much a run may cost; no limit by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Whether the model reads after each turn how many turns and tokens and how much money are left; not by default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reports_left: bool,
    /// How many times in a row the same call with the same arguments may fail; 3 by default.
    pub repeated_failures: u32,
    /// How many answers in a row may be cut short in the middle of a call; 3 by default.
    pub cut_short: u32,
    /// How many answers in a row may be empty; 2 by default, so that the model is asked once more.
    pub empty_answers: u32,
    /// How many answers are sent back to the model for a correction, because they are not a value of the run's output
    /// type; 2 by default.
    #[serde(default = "corrections", skip_serializing_if = "are_usual")]
    pub corrections: u32,
    /// How long the model of a recorded run may be unavailable before the run ends; 24 hours by default.
    #[serde(default = "a_day", skip_serializing_if = "is_a_day")]
    pub outage: Duration,
}

const DAY: Duration = Duration::from_hours(24);

const fn corrections() -> u32 {
    2
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn are_usual(times: &u32) -> bool {
    *times == corrections()
}

fn a_day() -> Duration {
    DAY
}

fn is_a_day(time: &Duration) -> bool {
    *time == DAY
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns: 25,
            time: None,
            tokens: None,
            cost: None,
            reports_left: false,
            repeated_failures: 3,
            cut_short: 3,
            empty_answers: 2,
            corrections: corrections(),
            outage: DAY,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turns { turns } => write!(formatter, "{turns} turns, the most that it may take"),
            Self::Time { milliseconds } => {
                write!(formatter, "{milliseconds} ms, the longest that it may take")
            }
            Self::Tokens { tokens } => write!(formatter, "{tokens} tokens, more than it may take"),
            Self::Cost { cost } => write!(formatter, "{cost}, more than it may cost"),
            Self::Ceiling { whose, name, period, ceiling, held, next } => {
                let name = name.as_ref().map_or_else(String::new, |name| format!(" `{name}`"));
                let whose = whose.word();
                write!(
                    formatter,
                    "the ceiling of {ceiling} for the {whose}{name} in {period}: {held} of it is spent or reserved, and the next request may cost up to {next}"
                )
            }
            Self::RepeatedFailure { tool, times } => write!(
                formatter,
                "the same call of `{tool}` failed {times} times in a row with the same arguments"
            ),
            Self::CutShort { times } => write!(
                formatter,
                "{times} answers in a row that were cut short in the middle of a call; let the model write more tokens"
            ),
            Self::EmptyAnswers { times } => {
                write!(formatter, "{times} empty answers of the model in a row")
            }
        }
    }
}
