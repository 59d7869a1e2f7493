//! Pauses after failures, which grow with each failure in succession. Pure.

use jiff::{SignedDuration, Timestamp};

/// A pause that doubles with each failure, up to a maximum.
#[derive(Debug, Clone, Copy)]
pub(super) struct GrowingPause {
    /// The pause after the first failure.
    pub first: SignedDuration,
    pub longest: SignedDuration,
}

impl GrowingPause {
    /// Returns the pause after this many failures in succession; the first failure is 1.
    pub(super) fn after(self, failures: u32) -> SignedDuration {
        let doubled = 1_i32.checked_shl(failures.saturating_sub(1)).filter(|times| *times > 0);
        let pause = doubled.and_then(|times| self.first.checked_mul(times));
        pause.map_or(self.longest, |pause| pause.min(self.longest))
    }

    /// Returns the pause after this many failures, shortened by up to half at random, so that runs that failed together
    /// are not retried together.
    pub(super) fn spread(self, failures: u32, random: u64) -> SignedDuration {
        let whole = self.after(failures);
        let half = u64::try_from(whole.as_millis() / 2).unwrap_or(u64::MAX);
        let less = i64::try_from(random % half.saturating_add(1)).unwrap_or_default();
        whole - SignedDuration::from_millis(less)
    }
}

/// Returns the time that is later by `by`, or the latest possible time on overflow.
pub(super) fn later(time: Timestamp, by: SignedDuration) -> Timestamp {
    time.saturating_add(by).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: GrowingPause =
        GrowingPause { first: SignedDuration::from_secs(5), longest: SignedDuration::from_mins(5) };

    #[test]
    fn a_pause_doubles_with_each_failure_and_never_passes_the_longest() {
        let seconds = |failures| PAUSE.after(failures).as_secs();
        assert_eq!([0, 1, 2, 3, 4].map(seconds), [5, 5, 10, 20, 40]);
        for failures in 0..200 {
            let pause = PAUSE.after(failures);
            assert!(pause <= PAUSE.after(failures + 1), "{failures}");
            assert!((PAUSE.first..=PAUSE.longest).contains(&pause), "{failures}: {pause}");
        }
        assert_eq!(PAUSE.after(u32::MAX), PAUSE.longest);
    }

    #[test]
    fn a_spread_pause_lies_between_half_and_all_of_it() {
        for failures in 0..40 {
            for random in [0, 1, 2_499, 2_500, 2_501, 77_777, u64::MAX - 1, u64::MAX] {
                let (whole, spread) = (PAUSE.after(failures), PAUSE.spread(failures, random));
                assert!(spread <= whole && spread >= whole / 2, "{failures} {random}: {spread}");
            }
        }
        assert_eq!(PAUSE.spread(3, 0), PAUSE.after(3));
    }
}
