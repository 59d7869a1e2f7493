//! Counts how often a call was begun, as far as its history shows.

use super::entry::Entry;
use super::next::{Failure, Transition};
use toolwright_core::tool::Effect;

/// Counts the attempts of a call that may have acted. Attempts that reported that nothing happened are not counted.
/// Once it is found out that the call did not happen, none of the earlier attempts are counted.
#[doc(hidden)]
pub fn begun(history: &[Entry]) -> u32 {
    let (mut begun, mut settled) = (0_u32, 0_u32);
    for entry in history {
        match entry.event {
            Some(Transition::Claimed) => begun = begun.saturating_add(1),
            Some(Transition::Errored { failure: Failure::NotStarted, .. }) => {
                begun = begun.saturating_sub(1);
            }
            Some(Transition::DidNotHappen) => (begun, settled) = (0, begun.saturating_add(settled)),
            // The statement that the call did not happen was not valid, so the earlier attempts are counted again.
            Some(Transition::Doubted) => (begun, settled) = (begun.saturating_add(settled), 0),
            _ => {}
        }
    }
    begun
}

/// Counts attempts as [`begun`] does, but only since an operator last requeued the call, because the operator takes
/// responsibility for the earlier ones.
#[doc(hidden)]
pub fn begun_without_a_word(history: &[Entry]) -> u32 {
    let requeued = history.iter().rposition(|entry| entry.event == Some(Transition::Requeued));
    begun(requeued.map_or(history, |at| &history[at..]))
}

/// Makes a note for the answer of a call that ends without a result, so that the answer does not say that nothing
/// happened. Returns `None` if the call cannot have changed anything.
#[doc(hidden)]
pub fn may_have_happened(effect: Effect, begun: u32) -> Option<String> {
    let times = match begun {
        0 => return None,
        1 => "once".to_owned(),
        more => format!("{more} times"),
    };
    (effect != Effect::Read)
        .then(|| format!("; it was begun {times} before, and may have happened"))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::journal::{CallRecord, CallSlot, Note};
    use toolwright_core::context::CallId;

    fn history(events: &[Transition]) -> Vec<Entry> {
        let place = CallSlot { run: "r".to_owned(), turn: None, index: 0 };
        let now = Timestamp::UNIX_EPOCH;
        let mut record = CallRecord::draft(CallId::from_bytes([1; 16]), place, "any", now);
        let note = || Note { who: "somebody".to_owned(), at: now, why: None, signed: None };
        let advance = |event: &Transition| record.advance(*event, note());
        events.iter().map(advance).collect::<Result<_, _>>().expect("it can happen")
    }

    fn failed(failure: Failure, effect: Effect) -> Transition {
        Transition::Errored { failure, effect, exhausted: false }
    }

    #[test]
    fn attempts_that_did_nothing_do_not_count() {
        let nothing = failed(Failure::NotStarted, Effect::Once);
        let events = [Transition::Allowed, Transition::Claimed, nothing, Transition::Claimed];
        assert_eq!(begun(&history(&events)), 1);
        assert_eq!(begun(&history(&events[..3])), 0);
    }

    #[test]
    fn what_is_found_not_to_have_happened_does_not_count_unless_that_does_not() {
        let lost = failed(Failure::OwnerLost, Effect::Once);
        let events = [
            Transition::Allowed,
            Transition::Claimed,
            lost,
            Transition::DidNotHappen,
            Transition::Doubted,
        ];
        assert_eq!(begun(&history(&events[..4])), 0);
        assert_eq!(begun(&history(&events)), 1);
    }

    #[test]
    fn a_requeue_is_a_word_for_what_was_begun_before() {
        let dead = failed(Failure::Unknown, Effect::Idempotent);
        let events = [Transition::Allowed, Transition::Claimed, dead, Transition::Requeued];
        assert_eq!((begun(&history(&events)), begun_without_a_word(&history(&events))), (1, 0));
    }
}
