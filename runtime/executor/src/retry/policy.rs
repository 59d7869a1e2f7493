//! Retry policies: how often a failed call is tried again, and after which delays.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use toolwright_core::error::ErrorClass;
use toolwright_core::tool::{Effect, Retry};

/// How often a failed call is tried, and the delays between the attempts.
///
/// The delay before attempt `n + 1` is at most `delay × multiplierⁿ⁻¹`, and at most `max_delay`. [`Jitter`] says which
/// part of that time the call waits. If the error names a time (`retry_after` of [`ErrorClass::NotStarted`]), the call
/// waits at least that long, even if that is longer than `max_delay`. A call without a journal fails instead, if the
/// named time is longer than a minute and longer than `max_delay`.
///
/// | | attempts | delay | max_delay |
/// | --- | --- | --- | --- |
/// | [`TOOL`](Self::TOOL), the default | 3 | 500 ms | 5 s |
/// | [`NETWORK`](Self::NETWORK) | 3 | 1 s | 30 s |
/// | [`FILE`](Self::FILE) | 3 | 100 ms | 2 s |
/// | [`NONE`](Self::NONE) | 1 | | |
///
/// ```
/// use std::time::Duration;
/// use toolwright::retry::{Jitter, RetryPolicy, Stop};
/// use toolwright::{ErrorClass, Effect};
///
/// let policy = RetryPolicy::TOOL.attempts(4).jitter(Jitter::None);
/// let next = |attempt, effect| policy.next(attempt, ErrorClass::Transient, effect, 0);
/// assert_eq!(next(1, Effect::Read), Ok(Duration::from_millis(500)));
/// assert_eq!(next(3, Effect::Read), Ok(Duration::from_secs(2)));
/// assert_eq!(next(4, Effect::Read), Err(Stop::Exhausted));
/// assert_eq!(next(1, Effect::Once), Err(Stop::Effect));
///
/// let limited = ErrorClass::NotStarted { retry_after: Some(Duration::from_secs(60)) };
/// assert_eq!(policy.next(1, limited, Effect::Once, 0), Ok(Duration::from_secs(60)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// The number of attempts, including the first.
    pub attempts: u32,
    /// The longest delay before the second attempt, unless an error names a longer time.
    pub delay: Duration,
    /// The factor from each delay to the next.
    pub multiplier: u32,
    /// The upper limit of every delay, unless an error names a longer time.
    pub max_delay: Duration,
    /// How large the random part of a delay is.
    pub jitter: Jitter,
}

/// How much of a delay is random, so that calls that failed together are not repeated together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Jitter {
    /// The delay is random, between zero and the computed delay.
    Full,
    /// The delay is always the computed delay.
    None,
}

/// Why a failed call is not tried again.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The class of the call's error does not allow another attempt.
    ErrorClass,
    /// The call may have had its effect, and the effect of its tool must not be repeated.
    Effect,
    /// The attempt that failed was the last one.
    Exhausted,
}
toolwright_core::debug_as_sentence!(Stop);

/// An attempt that failed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RetryCase {
    /// The number of the attempt, counted from 1.
    pub(crate) attempt: u32,
    pub(crate) class: ErrorClass,
    pub(crate) effect: Effect,
    /// How much of the call's total timeout remains; `None` if there is no total timeout.
    pub(crate) time_left: Option<Duration>,
}

impl RetryPolicy {
    /// The default policy.
    pub const TOOL: Self = Self {
        attempts: 3,
        delay: Duration::from_millis(500),
        multiplier: 2,
        max_delay: Duration::from_secs(5),
        jitter: Jitter::Full,
    };

    /// A policy for remote services, which take longer to recover.
    pub const NETWORK: Self =
        Self { delay: Duration::from_secs(1), max_delay: Duration::from_secs(30), ..Self::TOOL };

    /// A policy for operations on files, which other programs lock for short times.
    pub const FILE: Self =
        Self { delay: Duration::from_millis(100), max_delay: Duration::from_secs(2), ..Self::TOOL };

    /// A policy with a single attempt.
    pub const NONE: Self = Self { attempts: 1, ..Self::TOOL };

    /// Sets the number of attempts, the first included.
    #[must_use]
    pub const fn attempts(self, attempts: u32) -> Self {
        Self { attempts, ..self }
    }

    /// Sets the longest delay before the second attempt.
    #[must_use]
    pub const fn delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// Sets the factor from each delay to the next.
    #[must_use]
    pub const fn multiplier(self, multiplier: u32) -> Self {
        Self { multiplier, ..self }
    }

    /// Sets the upper limit of every delay, unless an error names a longer time.
    #[must_use]
    pub const fn max_delay(self, max_delay: Duration) -> Self {
        Self { max_delay, ..self }
    }

    /// Sets how much of a delay is random.
    #[must_use]
    pub const fn jitter(self, jitter: Jitter) -> Self {
        Self { jitter, ..self }
    }

    /// Returns this policy with the settings of a tool's own `retry(…)`. If the tool sets `delay` without `max_delay`,
    /// and its delay is longer than the `max_delay` of this policy, that delay is also the new `max_delay`.
    #[must_use]
    pub fn overridden_by(self, tool: Retry) -> Self {
        let delay = tool.delay.unwrap_or(self.delay);
        let longest = match tool.delay {
            Some(delay) => self.max_delay.max(delay),
            None => self.max_delay,
        };
        Self {
            attempts: tool.attempts.unwrap_or(self.attempts),
            delay,
            max_delay: tool.max_delay.unwrap_or(longest),
            ..self
        }
    }

    /// Computes the delay after a failed attempt, counted from 1. `random` is a uniformly distributed number.
    ///
    /// # Errors
    /// When the call must not be tried again; the error says why.
    pub fn next(
        &self,
        attempt: u32,
        class: ErrorClass,
        effect: Effect,
        random: u64,
    ) -> Result<Duration, Stop> {
        self.allows(attempt, class, effect)?;
        let longest = self.longest(attempt);
        let delay = match self.jitter {
            Jitter::Full => part(longest, random),
            Jitter::None => longest,
        };
        Ok(match class {
            ErrorClass::NotStarted { retry_after: Some(after) } => delay.max(after),
            _ => delay,
        })
    }

    /// Computes the delay until a call is tried again, with or without a journal. The call waits until its tool's
    /// circuit breaker closes (`circuit`). Returns `None` if the call must not be tried again, or if its total timeout
    /// ends before.
    pub(crate) fn again(
        &self,
        failed: RetryCase,
        circuit: Option<Duration>,
        random: u64,
    ) -> Option<Duration> {
        let delay = self.next(failed.attempt, failed.class, failed.effect, random).ok()?;
        let delay = circuit.map_or(delay, |left| delay.max(left));
        failed.time_left.is_none_or(|left| left > delay).then_some(delay)
    }

    /// Checks whether a call may be tried again after the failure of this attempt, counted from 1.
    ///
    /// # Errors
    /// When the call must not be tried again; the error says why.
    pub fn allows(&self, attempt: u32, class: ErrorClass, effect: Effect) -> Result<(), Stop> {
        match (class, effect) {
            (ErrorClass::NotStarted { .. }, _) => {}
            (ErrorClass::Transient, Effect::Once) => return Err(Stop::Effect),
            (ErrorClass::Transient, Effect::Read | Effect::Idempotent | Effect::Keyed) => {}
            (
                ErrorClass::Invalid
                | ErrorClass::Final
                | ErrorClass::Cancelled
                | ErrorClass::Unknown,
                _,
            ) => {
                return Err(Stop::ErrorClass);
            }
        }
        if attempt >= self.attempts { Err(Stop::Exhausted) } else { Ok(()) }
    }

    /// Returns the longest delay after the failure of this attempt, counted from 1, if the error names no time.
    #[must_use]
    pub fn longest(&self, attempt: u32) -> Duration {
        let factor = self.multiplier.saturating_pow(attempt.saturating_sub(1));
        self.delay.saturating_mul(factor).min(self.max_delay)
    }

    /// Returns why the settings are invalid; `None` if they are valid.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        match self {
            Self { attempts: 0, .. } => {
                Some("0 attempts let no call run; the first attempt counts, so set at least 1")
            }
            Self { multiplier: 0, .. } => {
                Some("a multiplier of 0 leaves no delay; set 1 for the same delay each time")
            }
            _ => None,
        }
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::TOOL
    }
}

/// Scales a time by `random / 2⁶⁴`, to the nanosecond. Times are capped at 584 years.
fn part(whole: Duration, random: u64) -> Duration {
    let whole = u64::try_from(whole.as_nanos()).unwrap_or(u64::MAX);
    let scaled = (u128::from(whole) * u128::from(random)) >> u64::BITS;
    Duration::from_nanos(u64::try_from(scaled).unwrap_or(whole))
}

impl fmt::Display for Stop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::ErrorClass => "its error does not allow it",
            Self::Effect => "it may have acted, and must not be repeated",
            Self::Exhausted => "it was the last attempt",
        })
    }
}

impl std::error::Error for Stop {}
