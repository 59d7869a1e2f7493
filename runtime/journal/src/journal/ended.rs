//! The calls that have ended, in order of their end, so that a bounded store can drop the oldest.
//!
//! A call has ended when its state is final or [`Dead`](State::Dead). Other calls are not in the list, so they are
//! never dropped.

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use super::state::State;
use toolwright_core::context::CallId;

/// The ended calls, the oldest end first. Without a bound the list stays empty.
#[derive(Clone, Default)]
pub(super) struct EndedCalls {
    most: Option<NonZeroUsize>,
    calls: VecDeque<CallId>,
}

impl EndedCalls {
    pub(super) fn at_most(most: NonZeroUsize) -> Self {
        Self { most: Some(most), calls: VecDeque::new() }
    }

    /// Updates the list after a commit that changed a call from the state `before` to the state `after`. Returns the
    /// call to drop, if too many calls have ended.
    pub(super) fn note(
        &mut self,
        call: CallId,
        before: Option<State>,
        after: State,
    ) -> Option<CallId> {
        let most = self.most?;
        match (before.is_some_and(State::is_answered), after.is_answered()) {
            (false, true) => self.calls.push_back(call),
            // The dead letter was requeued, so its call no longer counts as ended.
            (true, false) => self.calls.retain(|it| *it != call),
            (true, true) | (false, false) => {}
        }
        if self.calls.len() > most.get() { self.calls.pop_front() } else { None }
    }

    /// Puts a call that must not be dropped yet back into the list, as the last one.
    pub(super) fn spare(&mut self, call: CallId) {
        self.calls.push_back(call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids<const COUNT: usize>() -> [CallId; COUNT] {
        std::array::from_fn(|_| CallId::new())
    }

    fn two() -> EndedCalls {
        EndedCalls::at_most(NonZeroUsize::new(2).unwrap())
    }

    #[test]
    fn the_call_that_ended_first_is_dropped_and_not_the_one_that_was_made_first() {
        let (mut ended, [first, second, third]) = (two(), ids());
        assert_eq!(ended.note(first, None, State::Pending), None);
        assert_eq!(ended.note(second, Some(State::Running), State::Succeeded), None);
        assert_eq!(ended.note(first, Some(State::Pending), State::Rejected), None);
        assert_eq!(ended.note(third, Some(State::Running), State::Failed), Some(second));
    }

    #[test]
    fn open_calls_are_never_dropped_however_many_there_are() {
        let mut ended = two();
        for state in State::ALL.into_iter().filter(|state| !state.is_answered()) {
            for call in ids::<5>() {
                assert_eq!(ended.note(call, None, state), None, "{state}");
            }
        }
    }

    #[test]
    fn a_dead_letter_that_is_requeued_has_not_ended_any_more() {
        let (mut ended, [dead, second, third, fourth]) = (two(), ids());
        ended.note(dead, Some(State::Running), State::Dead);
        ended.note(dead, Some(State::Dead), State::Judging);
        assert_eq!(ended.note(second, None, State::Succeeded), None);
        assert_eq!(ended.note(third, None, State::Succeeded), None);
        assert_eq!(ended.note(fourth, None, State::Succeeded), Some(second));
    }
}
