//! Decides when an unavailable model is asked again, and when its outage has lasted too long. Pure: time and randomness
//! are arguments.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::pause::{GrowingPause, later};

/// The pause before the model is asked again, unless its provider asks for a longer pause. The model's own retries come
/// before this pause.
const PAUSE: GrowingPause =
    GrowingPause { first: SignedDuration::from_secs(2), longest: SignedDuration::from_mins(5) };

/// An outage of the model of a run. The head stores it, so that the pauses grow across all processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Outage {
    /// When the first request of the outage failed.
    pub since: Timestamp,
    /// How many requests in succession failed.
    pub times: u32,
    /// When the model is asked again.
    pub until: Timestamp,
    /// The kind of the last error.
    pub kind: String,
    /// The message of the last error, which names the provider and its address, with at most 500 characters. `None` in
    /// an encrypted journal, because a provider may quote the request, and in outages that earlier releases recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// How many of the failed requests cost something: the requests timed out, or their answers broke off.
    #[serde(default, skip_serializing_if = "is_none")]
    pub paid: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(requests: &u32) -> bool {
    *requests == 0
}

/// How many requests that were paid for may fail before the run ends: retrying for a day would be expensive.
const MOST_PAID: u32 = 5;

/// The number of characters of an error's message that a head stores. Each commit of the run writes the head.
const LONGEST_MESSAGE: usize = 500;

/// The properties of a failed request that decide when the next request is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct FailedRequest<'a> {
    pub kind: &'a str,
    pub message: &'a str,
    /// How long the provider asks callers to wait.
    pub retry_after: Option<Duration>,
    /// How many requests of the failed attempt were paid for.
    pub paid: u32,
}

/// Why an outage ends the run instead of pausing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beyond {
    /// The outage has lasted as long as the run's limit on outages allows.
    Limit,
    /// This many requests in succession were paid for and gave no answer.
    Paid(u32),
}

/// Returns the outage after one more request has failed.
///
/// # Errors
/// The reason why the run ends, if the model is not asked again.
pub(super) fn after(
    before: Option<&Outage>,
    failed: FailedRequest<'_>,
    limit: Duration,
    now: Timestamp,
    random: u64,
) -> Result<Outage, Beyond> {
    let paid = before.map_or(0, |it| it.paid).saturating_add(failed.paid);
    if paid >= MOST_PAID {
        return Err(Beyond::Paid(paid));
    }
    // A time without requests, for instance while the machine was off, does not count as outage.
    let unasked = |it: &Outage| now.duration_since(it.until).max(SignedDuration::ZERO);
    let since = before.map_or(now, |it| later(it.since, unasked(it)));
    let times = before.map_or(0, |it| it.times).saturating_add(1);
    let end = later(since, signed(limit));
    if now >= end {
        return Err(Beyond::Limit);
    }
    let wanted = failed.retry_after.map_or(SignedDuration::ZERO, signed);
    let pause = PAUSE.spread(times, random).max(wanted);
    // When the limit ends, the model is asked one last time.
    let until = later(now, pause).min(end);
    let message = Some(failed.message.chars().take(LONGEST_MESSAGE).collect());
    Ok(Outage { since, times, until, kind: failed.kind.to_owned(), message, paid })
}

fn signed(time: Duration) -> SignedDuration {
    SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);
    const RANDOM: [u64; 4] = [0, 1, 12_345, u64::MAX];

    fn failed(retry_after: Option<u64>) -> FailedRequest<'static> {
        let retry_after = retry_after.map(Duration::from_secs);
        FailedRequest { kind: "unreachable", message: "away", retry_after, paid: 0 }
    }

    /// Asks the model as early as it may be asked, while every request fails; returns the times of the requests.
    fn asked(retry_after: Option<u64>, limit: Duration, random: u64) -> Vec<Timestamp> {
        let (mut now, mut outage, mut asked) = (Timestamp::UNIX_EPOCH, None, Vec::new());
        loop {
            asked.push(now);
            let Ok(next) = after(outage.as_ref(), failed(retry_after), limit, now, random) else {
                return asked;
            };
            assert!(next.until > now, "time goes on");
            now = next.until;
            outage = Some(next);
        }
    }

    #[test]
    fn an_outage_is_asked_through_to_its_limit_and_once_at_its_end() {
        for random in RANDOM {
            for retry_after in [None, Some(0), Some(7), Some(3_600), Some(1 << 40)] {
                for limit in [Duration::from_secs(1), Duration::from_mins(10), DAY] {
                    let asked = asked(retry_after, limit, random);
                    let end = later(Timestamp::UNIX_EPOCH, signed(limit));
                    assert_eq!(*asked.last().unwrap(), end, "{retry_after:?} {limit:?}");
                    assert!(asked.len() <= 700, "{} requests in {limit:?}", asked.len());
                }
            }
        }
    }

    #[test]
    fn the_pauses_grow_up_to_five_minutes_and_are_never_shorter_than_the_provider_wants() {
        for random in RANDOM {
            let asked = asked(Some(30), DAY, random);
            let pauses: Vec<_> = asked.windows(2).map(|it| it[1].duration_since(it[0])).collect();
            let (_, whole) = pauses.split_last().unwrap();
            assert!(whole.iter().all(|it| (30..=300).contains(&it.as_secs())), "{whole:?}");
            assert!(whole.last().unwrap().as_secs() >= 150, "{whole:?}");
        }
        assert_eq!(
            asked(None, Duration::from_secs(60), 0)
                .iter()
                .map(|it| it.as_second())
                .collect::<Vec<_>>(),
            [0, 2, 6, 14, 30, 60]
        );
    }

    #[test]
    fn no_outage_is_waited_for_where_the_limit_is_nothing() {
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(after(None, failed(None), Duration::ZERO, now, 0), Err(Beyond::Limit));
    }

    #[test]
    fn an_outage_goes_on_where_the_process_before_has_left_it() {
        let now = Timestamp::UNIX_EPOCH;
        let first = after(None, failed(None), DAY, now, 0).unwrap();
        let stored = serde_json::to_string(&first).unwrap();
        let read: Outage = serde_json::from_str(&stored).unwrap();
        let second = after(Some(&read), failed(None), DAY, first.until, 0).unwrap();
        assert_eq!((second.times, second.since), (2, now));
        assert_eq!(second.until.duration_since(first.until).as_secs(), 4);
    }

    #[test]
    fn the_fifth_request_that_took_something_is_the_last_and_those_that_took_nothing_do_not_count()
    {
        let (mut outage, mut now) = (None, Timestamp::UNIX_EPOCH);
        for paid in [1, 0, 1, 0, 0, 2, 0] {
            let next = after(outage.as_ref(), FailedRequest { paid, ..failed(None) }, DAY, now, 0);
            let next = next.expect("four at most took something");
            now = next.until;
            outage = Some(next);
        }
        let last = FailedRequest { paid: 3, ..failed(None) };
        assert_eq!(after(outage.as_ref(), last, DAY, now, 0), Err(Beyond::Paid(7)));
    }

    #[test]
    fn the_time_in_which_nobody_asks_ends_no_run() {
        let now = Timestamp::UNIX_EPOCH;
        let first = after(None, failed(None), DAY, now, 0).unwrap();
        let much_later = first.until + SignedDuration::from_hours(72);
        let second = after(Some(&first), failed(None), DAY, much_later, 0).unwrap();
        assert_eq!(second.since, now + SignedDuration::from_hours(72));
    }
}
