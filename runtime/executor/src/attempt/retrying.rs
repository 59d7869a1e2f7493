//! The attempts of a call that no journal records.

use std::pin::pin;
use std::time::Duration;

use futures::future::{BoxFuture, Either, select};
use tokio::time::Instant;

use super::staged::AttemptOutcome;
use super::stages::Stages;
use crate::call::{Family, Plan, cancelled};
use crate::retry::RetryCase;
use crate::stage;
use toolwright_core::context::Identity;
use toolwright_core::error::{ErrorClass, ToolError};
use toolwright_core::output::Answer;

/// The longest delay that an error may ask for if a caller waits for the next attempt. For a call without a journal, a
/// longer delay is possible if the retry policy allows it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

impl<'a> Stages<'a> {
    /// Runs a whole call that needs a context or other values of its own.
    pub(crate) async fn with_own(self, mut identity: Option<Identity<'_>>) -> Answer {
        let family = Family::of(self.run.lineage(), self.plan, || None);
        let stages = self.with_family(family.as_ref());
        match stages.attempt_in_stages(&mut identity, 1).await {
            AttemptOutcome::Answered(answer) if !answer.is_error() => answer,
            first => Box::pin(stages.repeat(first, identity)).await,
        }
    }

    /// Runs the rest of a call that has to wait, but needs no context or values of its own.
    pub(crate) async fn wait_and_repeat(
        self,
        admitted: Option<stage::Admission<'a>>,
        future: BoxFuture<'a, Answer>,
    ) -> Answer {
        let answer = self.wait(admitted, future).await;
        if answer.is_error() {
            return Box::pin(self.repeat(AttemptOutcome::Answered(answer), None)).await;
        }
        answer
    }

    /// Answers a call that failed at its first poll, or returns the future of its retries.
    #[cold]
    pub(crate) fn failed_at_once(self, answer: Answer) -> Result<Answer, BoxFuture<'a, Answer>> {
        match answer.error() {
            Some(error) if self.may_repeat(1, error) => {
                Err(Box::pin(self.repeat(AttemptOutcome::Answered(answer), None)))
            }
            _ => Ok(answer),
        }
    }

    /// Runs the attempts after the first.
    async fn repeat(self, first: AttemptOutcome, mut identity: Option<Identity<'_>>) -> Answer {
        let mut begun = 1;
        let (mut answer, mut put_off) = match first {
            AttemptOutcome::Answered(answer) => (answer, None),
            AttemptOutcome::PutOff(error) => {
                begun = 0;
                (Answer::from(error.with_more(None)), Some(error))
            }
        };
        for attempt in 1.. {
            let Some(error) = put_off.as_ref().or(answer.error()) else { return answer };
            // A delay that a middleware asks for does not count as a retry.
            let delay = match put_off {
                Some(_) => self.delay(attempt, error, random_bits()),
                None => self.again_after(attempt, error),
            };
            let Some(delay) = delay else { return answer };
            if let Some(watch) = self.watch {
                watch.retrying(attempt, error, delay);
            }
            match self.pause(delay).await {
                PauseEnd::Over => {}
                PauseEnd::Closing => return answer,
                PauseEnd::GivenUp => return cancelled(self.call.name()).into(),
            }
            match self.again().attempt_in_stages(&mut identity, begun + 1).await {
                // An earlier error of the tool is more useful to the model than the delay, so it remains the answer.
                AttemptOutcome::PutOff(error) => {
                    if begun == 0 {
                        answer = error.with_more(None).into();
                    }
                    put_off = Some(error);
                }
                AttemptOutcome::Answered(next) => {
                    if next.error().is_some_and(|it| it.is_not_begun() && !is_cancelled(it)) {
                        return if begun == 0 { next } else { answer };
                    }
                    (answer, put_off) = (next, None);
                    begun += 1;
                }
            }
        }
        answer
    }

    /// Returns whether the retry policy allows another attempt after this error.
    fn may_repeat(self, attempt: u32, error: &ToolError) -> bool {
        self.delay(attempt, error, 0).is_some()
    }

    /// Returns the delay before the next attempt and uses up one of the run's retries; `None` if there is no further
    /// attempt.
    fn again_after(self, attempt: u32, error: &ToolError) -> Option<Duration> {
        let delay = self.delay(attempt, error, random_bits())?;
        self.run.takes_a_retry().then_some(delay)
    }

    fn delay(self, attempt: u32, error: &ToolError, random: u64) -> Option<Duration> {
        let (class, effect) = (error.classified(), self.plan.entry.definition.effect);
        let policy = &self.plan.retry;
        // Without a journal, a call does not wait until a circuit breaker closes.
        if error.is_not_begun() || !is_soon(class, policy.max_delay) || self.plan.is_left_alone() {
            return None;
        }
        let time_left = self.deadline().map(|it| it.saturating_duration_since(Instant::now()));
        policy.again(RetryCase { attempt, class, effect, time_left }, None, random)
    }

    async fn pause(self, delay: Duration) -> PauseEnd {
        let closing = pin!(self.run.core.closing.cancelled());
        let given_up = pin!(stage::given_up(self.run, self.call));
        match select(closing, select(given_up, pin!(stage::slept(delay)))).await {
            Either::Left(_) => PauseEnd::Closing,
            Either::Right((Either::Left(_), _)) => PauseEnd::GivenUp,
            Either::Right((Either::Right((Ok(()), _)), _)) if self.run.has_ended() => {
                PauseEnd::GivenUp
            }
            Either::Right((Either::Right((Ok(()), _)), _)) => PauseEnd::Over,
            // Without a clock the call cannot wait, so there is no further attempt.
            Either::Right((Either::Right((Err(_), _)), _)) => PauseEnd::Closing,
        }
    }
}

/// Returns when the total timeout of a call that begins now ends; `None` if the tool has no such timeout.
#[inline]
pub(crate) fn deadline(plan: &Plan) -> Option<Instant> {
    plan.total_timeout.and_then(|time| Instant::now().checked_add(time))
}

/// Returns whether a call without a journal may wait as long as the error asks: up to a minute, or the policy's longest
/// delay.
fn is_soon(class: ErrorClass, max_delay: Duration) -> bool {
    match class {
        ErrorClass::NotStarted { retry_after: Some(after) } => after <= max_delay.max(PATIENCE),
        _ => true,
    }
}

/// Why a pause between two attempts ended.
enum PauseEnd {
    Over,
    /// The executor is shutting down, so there is no further attempt.
    Closing,
    GivenUp,
}

fn is_cancelled(error: &ToolError) -> bool {
    error.classified() == ErrorClass::Cancelled
}

/// Returns an unpredictable number. If the system provides none, returns the maximum, so that calls wait their full
/// delays.
pub(crate) fn random() -> u128 {
    let mut bytes = [u8::MAX; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u128::from_ne_bytes(bytes),
        Err(_) => u128::MAX,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "any bits of a random number will do")]
fn random_bits() -> u64 {
    random() as u64
}
