//! The state machine of a circuit breaker. It is pure, because its callers pass the time.
//!
//! ```text
//! closed ──failures in a row──► open ──time over──► one call is let through
//!    ▲                            ▲                      │
//!    └─────────────well───────────┼──────────────────────┤
//!                                 └─────────ill──────────┘
//! ```

use std::time::Duration;

use super::circuit::CircuitBreaker;

/// The state machine of a circuit breaker. Times are counted from a fixed moment, which the caller chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Machine {
    state: State,
    /// Raised whenever the circuit breaker opens or closes. The end of a call that was admitted in an earlier epoch is
    /// ignored. While the circuit breaker is open, only the call that probes the tool is of the current epoch.
    epoch: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed { failures: u32 },
    Open { since: Duration, is_tried: bool },
}

/// The reason why a circuit breaker lets no call through now: it is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CircuitRefusal {
    /// How long the circuit breaker stays open; `None` while another call probes the tool.
    pub(crate) left: Option<Duration>,
}

/// What the end of a call shows about the health of its tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// The call shows that the tool works.
    Well,
    /// The call failed because its tool does not work.
    Ill,
    /// The end of the call shows nothing about the health of its tool.
    None,
}

impl Machine {
    pub(super) const NEW: Self = Self { state: State::Closed { failures: 0 }, epoch: 0 };

    /// Checks whether a call would be let through now.
    pub(super) fn admits(
        &self,
        breaker: CircuitBreaker,
        now: Duration,
    ) -> Result<(), CircuitRefusal> {
        let State::Open { since, is_tried } = self.state else { return Ok(()) };
        let left = breaker.open_for.saturating_sub(now.saturating_sub(since));
        match (left.is_zero(), is_tried) {
            (false, _) => Err(CircuitRefusal { left: Some(left) }),
            (true, true) => Err(CircuitRefusal { left: None }),
            (true, false) => Ok(()),
        }
    }

    /// Admits a call. Returns the epoch, with which the end of the call must be reported.
    pub(super) fn enter(
        &mut self,
        breaker: CircuitBreaker,
        now: Duration,
    ) -> Result<u64, CircuitRefusal> {
        self.admits(breaker, now)?;
        if let State::Open { is_tried, .. } = &mut self.state {
            *is_tried = true;
        }
        Ok(self.epoch)
    }

    /// Records that an admitted call has ended.
    pub(super) fn leave(
        &mut self,
        entered: u64,
        sign: Sign,
        breaker: CircuitBreaker,
        now: Duration,
    ) {
        if entered != self.epoch {
            return;
        }
        let was_open = self.is_open();
        self.state = match (self.state, sign) {
            (_, Sign::Well) => State::Closed { failures: 0 },
            (State::Closed { failures }, Sign::Ill) if failures + 1 < breaker.failures => {
                State::Closed { failures: failures + 1 }
            }
            (_, Sign::Ill) => State::Open { since: now, is_tried: false },
            (State::Open { since, .. }, Sign::None) => State::Open { since, is_tried: false },
            (closed @ State::Closed { .. }, Sign::None) => closed,
        };
        if was_open != self.is_open() {
            self.epoch += 1;
        }
    }

    /// Returns whether the circuit breaker is closed and has counted no failures, as when it is new.
    pub(super) fn is_at_rest(&self) -> bool {
        self.state == Self::NEW.state
    }

    fn is_open(&self) -> bool {
        matches!(self.state, State::Open { .. })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BREAKER: CircuitBreaker = CircuitBreaker::new(2, Duration::from_secs(30));

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn call(machine: &mut Machine, sign: Sign, now: u64) -> Result<(), CircuitRefusal> {
        let entered = machine.enter(BREAKER, at(now))?;
        machine.leave(entered, sign, BREAKER, at(now));
        Ok(())
    }

    fn opened() -> Machine {
        let mut machine = Machine::NEW;
        call(&mut machine, Sign::Ill, 0).unwrap();
        call(&mut machine, Sign::Ill, 0).unwrap();
        machine
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_says_what_is_left() {
        let mut machine = Machine::NEW;
        for sign in [Sign::Ill, Sign::Well, Sign::Ill, Sign::None] {
            call(&mut machine, sign, 0).unwrap();
        }
        call(&mut machine, Sign::Ill, 10).unwrap();
        assert_eq!(call(&mut machine, Sign::Well, 20), Err(CircuitRefusal { left: Some(at(20)) }));
    }

    #[test]
    fn it_lets_one_through_when_the_time_is_over_and_closes_when_that_is_well() {
        let mut machine = opened();
        let trial = machine.enter(BREAKER, at(30)).unwrap();
        assert_eq!(machine.enter(BREAKER, at(31)), Err(CircuitRefusal { left: None }));
        machine.leave(trial, Sign::Well, BREAKER, at(32));
        assert!(machine.is_at_rest());
    }

    #[test]
    fn a_trial_that_fails_opens_it_for_the_whole_time_again() {
        let mut machine = opened();
        call(&mut machine, Sign::Ill, 30).unwrap();
        assert_eq!(machine.admits(BREAKER, at(59)), Err(CircuitRefusal { left: Some(at(1)) }));
    }

    #[test]
    fn a_trial_that_says_nothing_leaves_its_place_to_the_next() {
        let mut machine = opened();
        call(&mut machine, Sign::None, 30).unwrap();
        assert_eq!(machine.admits(BREAKER, at(30)), Ok(()));
    }

    #[test]
    fn calls_that_entered_before_it_opened_say_nothing_about_after() {
        for sign in [Sign::Well, Sign::Ill, Sign::None] {
            let mut machine = Machine::NEW;
            let early = machine.enter(BREAKER, at(0)).unwrap();
            call(&mut machine, Sign::Ill, 1).unwrap();
            call(&mut machine, Sign::Ill, 1).unwrap();
            let trial = machine.enter(BREAKER, at(31)).unwrap();
            let before = machine;
            machine.leave(early, sign, BREAKER, at(32));
            assert_eq!(machine, before);
            machine.leave(trial, Sign::Well, BREAKER, at(33));
            assert!(machine.is_at_rest());
        }
    }

    proptest! {
        /// Whatever calls come and go in whatever order: while it is open, at most one is inside that counts, and it
        /// is never refused for longer than it is open.
        #[test]
        fn it_never_lets_two_try_at_once_and_never_stays_open_for_ever(
            steps in prop::collection::vec((0_u8..4, 0_usize..4, 0_u64..40), 0..60),
        ) {
            let mut machine = Machine::NEW;
            let (mut now, mut inside) = (0, Vec::new());
            for (what, which, passes) in steps {
                now += passes;
                let sign = match what {
                    0 => {
                        match machine.enter(BREAKER, at(now)) {
                            Ok(entered) => inside.push(entered),
                            Err(CircuitRefusal { left: Some(left) }) => {
                                prop_assert!(left <= BREAKER.open_for && !left.is_zero());
                            }
                            Err(CircuitRefusal { left: None }) => {
                                prop_assert!(inside.contains(&machine.epoch), "somebody tries");
                            }
                        }
                        continue;
                    }
                    1 => Sign::Well,
                    2 => Sign::Ill,
                    _ => Sign::None,
                };
                if which < inside.len() {
                    machine.leave(inside.swap_remove(which), sign, BREAKER, at(now));
                }
                let trying = inside.iter().filter(|entered| **entered == machine.epoch).count();
                prop_assert!(!machine.is_open() || trying <= 1);
            }
            for entered in inside.drain(..) {
                machine.leave(entered, Sign::None, BREAKER, at(now));
            }
            prop_assert_eq!(machine.admits(BREAKER, at(now + 30)), Ok(()));
        }
    }
}
