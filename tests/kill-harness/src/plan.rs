//! Plans where each life is killed: at one of the points that were hit least, and sometimes at a random instant.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::point::Point;

/// How the next life ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Death {
    /// The life kills itself at a point, when it comes there for the nth time.
    At(Point, u32),
    /// The harness kills the life after this many milliseconds, wherever it is.
    After(u64),
}

/// The plan, which all worlds share.
pub struct Plan {
    state: Mutex<State>,
    wanted: u64,
}

struct State {
    random: fastrand::Rng,
    /// How often each point was hit.
    hits: HashMap<Point, u64>,
    /// How often each point was tried.
    tries: HashMap<Point, u64>,
    at_random: u64,
    is_over: bool,
}

impl Plan {
    /// Plans the given number of kills.
    #[must_use]
    pub fn of(wanted: u64, seed: u64) -> Self {
        let state = State {
            random: fastrand::Rng::with_seed(seed),
            hits: HashMap::new(),
            tries: HashMap::new(),
            at_random: 0,
            is_over: false,
        };
        Self { state: Mutex::new(state), wanted }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides how the next life ends.
    #[must_use]
    pub fn next(&self) -> Death {
        let mut state = self.lock();
        if state.random.u32(0..4) == 0 {
            return Death::After(state.random.u64(3..80));
        }
        let least = Point::all().min_by_key(|point| state.tries.get(point).copied());
        let point = least.unwrap_or(Point::Begun);
        *state.tries.entry(point).or_default() += 1;
        let hits = state.hits.get(&point).copied().unwrap_or_default();
        let nth = if hits == 0 { 1 } else { state.random.u32(1..=3) };
        Death::At(point, nth)
    }

    /// Counts a killed life.
    pub fn killed(&self, death: Death) {
        let mut state = self.lock();
        match death {
            Death::At(point, _) => *state.hits.entry(point).or_default() += 1,
            Death::After(_) => state.at_random += 1,
        }
    }

    /// Ends the plan early.
    pub fn end(&self) {
        self.lock().is_over = true;
    }

    /// Returns how many lives were killed.
    #[must_use]
    pub fn kills(&self) -> u64 {
        let state = self.lock();
        state.hits.values().sum::<u64>() + state.at_random
    }

    /// Returns whether all kills are done.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.lock().is_over || self.kills() >= self.wanted
    }

    /// Returns how often lives were killed at each point, and how often at a random instant.
    #[must_use]
    pub fn hits(&self) -> (Vec<(Point, u64)>, u64) {
        let state = self.lock();
        let hits = Point::all().map(|it| (it, state.hits.get(&it).copied().unwrap_or_default()));
        (hits.collect(), state.at_random)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Death, Plan};
    use crate::point::Point;

    #[test]
    fn every_point_is_tried_before_any_is_tried_again() {
        let plan = Plan::of(1_000, 1);
        let mut points = Vec::new();
        while points.len() < Point::all().count() {
            if let Death::At(point, _) = plan.next() {
                points.push(point);
            }
        }
        assert_eq!(points.iter().collect::<HashSet<_>>().len(), points.len());
    }
}
