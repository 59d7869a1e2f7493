//! Ceilings: limits on the cost of all runs of a user, an agent or an application in a day or a month. The functions
//! are pure; the time is an argument.

use std::fmt;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::{Cost, TotalUsage};

/// A limit on the cost of all runs of a user, of an agent or of the application in a day or a month. Set by
/// [`AgentBuilder::ceiling`](crate::AgentBuilder::ceiling).
///
/// Before each request, its largest cost is computed from its bytes. Of a document this counts the bytes, and 32,768
/// tokens in addition. A PDF with few bytes and very many pages can take more tokens, so a request with such a document
/// can exceed the ceiling; its cost is counted after the answer.
///
/// ```
/// use toolwright_agent::{Ceiling, Cost, Period};
///
/// let ceiling = Ceiling::of_each_user(Period::Day, Cost::cents(500));
/// assert_eq!(ceiling.to_string(), "$5.0000 a day for each user");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ceiling {
    whose: CeilingOf,
    period: Period,
    cost: Cost,
}

/// The runs whose costs a ceiling adds up. The cost of a run counts only if the run's agent has a ceiling for the same
/// kind of runs and the same period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CeilingOf {
    /// The runs of one user. Runs without a user count as the runs of one user.
    User,
    /// The runs of one agent. Agents with the same name count as one agent.
    Agent,
    /// All runs that share a journal.
    Application,
}

/// The period of a ceiling. Days and months begin at midnight UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Period {
    /// A day in UTC.
    Day,
    /// A calendar month in UTC.
    Month,
}

impl Ceiling {
    /// Limits the cost of the runs of each user.
    #[must_use]
    pub const fn of_each_user(period: Period, cost: Cost) -> Self {
        Self { whose: CeilingOf::User, period, cost }
    }

    /// Limits the cost of the agent's runs, including those of its sub-agents.
    #[must_use]
    pub const fn of_the_agent(period: Period, cost: Cost) -> Self {
        Self { whose: CeilingOf::Agent, period, cost }
    }

    /// Limits the cost of all runs that share the agent's journal, of this agent and of other agents with such a
    /// ceiling.
    #[must_use]
    pub const fn of_the_application(period: Period, cost: Cost) -> Self {
        Self { whose: CeilingOf::Application, period, cost }
    }

    pub(crate) fn whose(&self) -> CeilingOf {
        self.whose
    }

    pub(crate) fn period(&self) -> Period {
        self.period
    }

    pub(crate) fn cost(&self) -> Cost {
        self.cost
    }
}

impl fmt::Display for Ceiling {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let period = match self.period {
            Period::Day => "a day",
            Period::Month => "a month",
        };
        let whose = match self.whose {
            CeilingOf::User => "each user",
            CeilingOf::Agent => "the agent",
            CeilingOf::Application => "the application",
        };
        write!(formatter, "{} {period} for {whose}", self.cost)
    }
}

impl CeilingOf {
    /// Returns the name of these runs in keys and messages.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::Application => "application",
        }
    }
}

impl Period {
    /// Returns the name of the period that contains a time, such as `2026-11-26` or `2026-11`.
    ///
    /// ```
    /// use toolwright_agent::Period;
    ///
    /// let time = "2026-11-26T23:59:59Z".parse()?;
    /// assert_eq!((Period::Day.at(time), Period::Month.at(time)), ("2026-11-26".into(), "2026-11".into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn at(self, time: Timestamp) -> String {
        let date = time.to_zoned(TimeZone::UTC).date();
        match self {
            Self::Day => date.to_string(),
            Self::Month => date.strftime("%Y-%m").to_string(),
        }
    }
}

/// The settled and the reserved costs of a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Spending {
    /// The cost of the settled requests.
    pub spent: Cost,
    /// The amount reserved for requests that are in progress, or whose end was never recorded.
    pub reserved: Cost,
    /// The number of settled requests.
    pub requests: u64,
    /// The number of requests that are not settled.
    pub unsettled: u64,
}

impl Spending {
    /// Returns the sum of the spent and the reserved costs.
    #[must_use]
    pub fn held(&self) -> Cost {
        self.spent.plus(self.reserved)
    }

    /// Reserves the maximum cost of a request; `None` if that would exceed the ceiling.
    #[must_use]
    pub fn reserve(self, ceiling: Cost, most: Cost) -> Option<Self> {
        let held = self.held().in_picos().checked_add(most.in_picos())?;
        (held <= ceiling.in_picos()).then(|| Self {
            reserved: self.reserved.plus(most),
            unsettled: self.unsettled.saturating_add(1),
            ..self
        })
    }

    /// Settles a request: replaces the amount that was reserved for it by its actual cost.
    #[must_use]
    pub fn settle(self, reserved: Cost, taken: Cost) -> Self {
        Self {
            spent: self.spent.plus(taken),
            reserved: self.reserved.minus(reserved),
            requests: self.requests.saturating_add(1),
            unsettled: self.unsettled.saturating_sub(1),
        }
    }
}

/// Returns the amount to charge for a request: its known cost, and the reserved amount for each answer whose cost is not
/// known, such as one that broke off before the model was asked again.
pub(crate) fn taken(spent: TotalUsage, reserved: Cost) -> Cost {
    let unknown = spent.unpriced.saturating_add(spent.lost);
    spent.cost.plus(Cost::picos(reserved.in_picos().saturating_mul(unknown.into())))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_day_and_a_month_are_those_of_utc() {
        for (time, day, month) in [
            ("2026-11-26T00:00:00Z", "2026-11-26", "2026-11"),
            ("2026-11-25T23:59:59.999Z", "2026-11-25", "2026-11"),
            ("2026-12-01T00:30:00+02:00", "2026-11-30", "2026-11"),
            ("2028-02-29T12:00:00Z", "2028-02-29", "2028-02"),
        ] {
            let time: Timestamp = time.parse().unwrap();
            assert_eq!((Period::Day.at(time), Period::Month.at(time)), (day.into(), month.into()));
        }
    }

    #[test]
    fn what_is_not_known_counts_as_what_was_reserved() {
        let known = TotalUsage::of(Some(crate::Usage::new(10, 1)), Some(Cost::cents(2)));
        let reserved = Cost::cents(9);
        assert_eq!(taken(known, reserved), Cost::cents(2));
        assert_eq!(taken(known.plus(TotalUsage::lost()), reserved), Cost::cents(11));
        let twice = known.plus(TotalUsage::lost()).plus(TotalUsage::lost());
        assert_eq!(taken(twice, reserved), Cost::cents(20));
        assert_eq!(taken(TotalUsage::of(None, None), reserved), reserved);
        assert_eq!(taken(TotalUsage::default(), reserved), Cost::default());
    }

    /// Requests are sent and answered in any order, some of them never, on several days: on no day does the held amount
    /// exceed the ceiling, and the reserved amount is that of the requests in progress.
    #[test]
    fn whatever_is_asked_and_answered_in_whatever_order_no_period_goes_over_its_ceiling() {
        for seed in 0..300 {
            let mut random = fastrand::Rng::with_seed(seed);
            let period = if random.bool() { Period::Day } else { Period::Month };
            let ceiling = Cost::picos(random.u64(0..1_000));
            let mut periods = BTreeMap::<String, Spending>::new();
            let (mut under_way, mut spent) = (Vec::new(), BTreeMap::<String, u64>::new());
            let mut now = Timestamp::from_second(random.i64(0..4_000_000_000)).unwrap();
            let mut refused = 0;
            for _ in 0..200 {
                now += jiff::SignedDuration::from_mins(random.i64(0..300));
                if random.bool() {
                    let (at, most) = (period.at(now), Cost::picos(random.u64(0..400)));
                    let before = periods.get(&at).copied().unwrap_or_default();
                    match before.reserve(ceiling, most) {
                        Some(next) => {
                            periods.insert(at.clone(), next);
                            under_way.push((at, most));
                        }
                        None => {
                            refused += 1;
                            let all = before.held().in_picos() + most.in_picos();
                            assert!(all > ceiling.in_picos(), "seed {seed}: there was room");
                        }
                    }
                } else if !under_way.is_empty() {
                    let place = random.usize(0..under_way.len());
                    let (at, most) = under_way.swap_remove(place);
                    // A request that is abandoned is never settled.
                    if random.u32(0..10) > 0 {
                        let took = Cost::picos(random.u64(0..=most.in_picos()));
                        *spent.entry(at.clone()).or_default() += took.in_picos();
                        let settled = periods[&at].settle(most, took);
                        periods.insert(at, settled);
                    }
                }
                for (at, it) in &periods {
                    assert!(it.held() <= ceiling, "seed {seed}, {at}: {it:?} over {ceiling}");
                    assert_eq!(it.spent.in_picos(), spent.get(at).copied().unwrap_or_default());
                }
            }
            assert!(refused > 0 || ceiling > Cost::picos(400), "seed {seed}: it was reached");
        }
    }
}
