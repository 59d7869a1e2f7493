//! The limits of a run, and the one that was reached.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{CeilingOf, Cost};

/// A limit that was reached, with its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "limit", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// The model answered so many times without ending the run.
    Turns {
        /// How often.
        turns: u32,
    },
    /// The time was up.
    Time {
        /// In milliseconds.
        milliseconds: u64,
    },
    /// So many tokens of requests and answers were taken.
    Tokens {
        /// How many.
        tokens: u64,
    },
    /// So much was spent.
    Cost {
        /// How much, in millionths of a millionth of a dollar.
        cost: Cost,
    },
    /// The next request may have gone over a ceiling of all runs of a user, an agent or an application; see
    /// [`Ceiling`](crate::Ceiling).
    Ceiling {
        /// Whose runs.
        whose: CeilingOf,
        /// The name of the user or agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The day or month, in UTC.
        period: String,
        /// The most that they may cost.
        ceiling: Cost,
        /// What they had spent, and what was reserved for requests under way.
        held: Cost,
        /// What the next request may cost at most.
        next: Cost,
    },
    /// The same call with the same arguments failed so many times in a row.
    RepeatedFailure {
        /// Its tool.
        tool: String,
        /// How often.
        times: u32,
    },
    /// So many answers in a row were cut short in the middle of a call.
    CutShort {
        /// How many.
        times: u32,
    },
    /// So many answers in a row were empty.
    EmptyAnswers {
        /// How many.
        times: u32,
    },
}

/// How far a run may go on one message of its user. Set by the methods of [`AgentBuilder`](crate::AgentBuilder).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// How often the model is asked: 25.
    pub turns: u32,
    /// How long it takes in all, decisions of people included: no limit.
    pub time: Option<Duration>,
    /// How many tokens its requests and answers may have: no limit. The answer that reaches it is the last; its calls are
    /// run and answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// How much it may cost: no limit. As with the tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Whether the model reads after each turn what is left of turns, tokens and cost: no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reports_left: bool,
    /// How often in a row the same call with the same arguments may fail: 3.
    pub repeated_failures: u32,
    /// How many answers in a row may be cut short in the middle of a call: 3.
    pub cut_short: u32,
    /// How many answers in a row may be empty: 2, so that the model is asked once more.
    pub empty_answers: u32,
    /// How many answers that are not the value which the run ends in go back to the model: 2.
    #[serde(default = "corrections", skip_serializing_if = "are_usual")]
    pub corrections: u32,
    /// How long the model of a recorded run may be away before the run ends: 24 hours.
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
