//! Decides which runs are suspects, because they may have killed their processes, and for how long a suspect is not
//! driven. Pure, except for [`SuspectPlace`].
//!
//! A process that dies drives many runs, and one of them may have killed it. After the first crash, any process drives
//! all of these runs again at once. A run whose drivers died several times in one turn is a suspect. A process drives
//! at most one suspect at a time, beside the runs that are not suspects. If that process dies too, the suspect is
//! parked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::{SignedDuration, Timestamp};

use super::head::{Crashes, Head, Parked, Phase};
use super::pause::{GrowingPause, later};

/// A run whose calls ran counts as a suspect after this many crashes in one turn.
const WHILE_CALLING: u32 = 2;

/// The number of crashes in one turn after which a run that asked its model is a suspect. Most runs of a process wait
/// for their models when it dies, and no code of a tool runs then.
const WHILE_ASKING: u32 = 5;

/// How long a suspect is not driven after the lease of its dead driver has ended.
const REST: GrowingPause =
    GrowingPause { first: SignedDuration::from_secs(5), longest: SignedDuration::from_mins(5) };

/// How long a run stays parked. The time doubles each time that the run is parked in the same turn, up to a day.
const PARKED: GrowingPause =
    GrowingPause { first: SignedDuration::from_mins(10), longest: SignedDuration::from_hours(24) };

/// Returns the crashes of the turn, with one more for the driver whose lease has expired.
pub(super) fn with_one_more(before: Option<Crashes>, turn: u64) -> Crashes {
    let before = before.unwrap_or(Crashes { turn, drivers: 0, parked: 0 });
    Crashes { drivers: before.drivers.saturating_add(1), ..before }
}

/// Returns whether a run with these crashes may only be driven by a process that drives no other suspect.
pub(super) fn is_suspect(phase: Phase, crashes: Option<Crashes>) -> bool {
    // A run in the phase `Waiting` counts as calling: the process that takes it runs its calls.
    let most = if phase == Phase::Asking { WHILE_ASKING } else { WHILE_CALLING };
    crashes.is_some_and(|crashes| crashes.drivers >= most)
}

/// Returns when a suspect may be driven again; `lease` is the end of its last driver's lease.
pub(super) fn rest_of(crashes: Crashes, lease: Timestamp) -> Timestamp {
    later(lease, REST.after(crashes.drivers.saturating_sub(1)))
}

/// Parks a run. Each time that the run is parked in the same turn, it stays parked for longer.
pub(super) fn park(crashes: Crashes, now: Timestamp) -> (Crashes, Parked) {
    let Crashes { turn, drivers, parked } = crashes;
    let crashes = Crashes { parked: parked.saturating_add(1), ..crashes };
    let why = format!(
        "{drivers} processes died while they drove turn {turn}, the last of them while it drove no other suspect"
    );
    let until = later(now, PARKED.after(crashes.parked));
    (crashes, Parked { why, at: now, until: Some(until) })
}

/// Returns until when a run is parked. Runs that an earlier release parked have no recorded end of the pause.
pub(super) fn parked_until(head: &Head) -> Option<Timestamp> {
    let parked = head.parked.as_ref()?;
    Some(parked.until.unwrap_or_else(|| later(parked.at, PARKED.first)))
}

/// A lock that lets a process drive at most one suspect at a time.
#[derive(Debug, Default)]
pub(super) struct SuspectPlace(Arc<AtomicBool>);

impl SuspectPlace {
    pub(super) fn is_free(&self) -> bool {
        !self.0.load(Ordering::Acquire)
    }

    /// Takes the lock, if it is free.
    pub(super) fn take(&self) -> Option<Suspicion> {
        let was_taken = self.0.swap(true, Ordering::AcqRel);
        (!was_taken).then(|| Suspicion(Arc::clone(&self.0)))
    }
}

/// Holds the lock for a suspect; dropping this value frees the lock.
#[derive(Debug)]
pub(super) struct Suspicion(Arc<AtomicBool>);

impl Drop for Suspicion {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    #[test]
    fn a_run_is_a_suspect_from_the_second_crash_while_its_calls_ran_or_the_fifth_while_it_asked() {
        for (phase, from) in [(Phase::Calling, 2), (Phase::Waiting, 2), (Phase::Asking, 5)] {
            assert!(!is_suspect(phase, None));
            let mut crashes = None;
            for times in 1..10 {
                crashes = Some(with_one_more(crashes, 3));
                assert_eq!(is_suspect(phase, crashes), times >= from, "{phase:?} {times}");
            }
        }
    }

    #[test]
    fn a_suspect_rests_longer_with_each_crash_and_is_parked_for_longer_each_time() {
        let mut crashes = with_one_more(None, 1);
        let (mut rest, mut parked) = (NOW, NOW);
        for _ in 0..40 {
            crashes = with_one_more(Some(crashes), 1);
            assert!(rest_of(crashes, NOW) >= rest);
            rest = rest_of(crashes, NOW);
            let park = park(crashes, NOW);
            crashes = park.0;
            let until = park.1.until.unwrap();
            assert!(until >= parked);
            parked = until;
        }
        assert_eq!(rest.as_second(), 300);
        assert_eq!(parked.as_second(), 24 * 3600);
    }

    #[test]
    fn one_suspect_has_the_place_until_it_is_let_go() {
        let place = SuspectPlace::default();
        let first = place.take();
        assert!(first.is_some() && place.take().is_none() && !place.is_free());
        drop(first);
        assert!(place.is_free() && place.take().is_some());
    }
}
