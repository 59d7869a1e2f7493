//! One scenario explored, and what came of it.

use std::fmt;
use std::time::{Duration, Instant};

use stateright::{Checker as _, HasDiscoveries, Model as _};

use crate::scenario::Scenario;
use crate::system::Explored;

/// What came of an exploration.
#[derive(Debug)]
pub struct Report {
    /// The scenario's word.
    pub name: &'static str,
    /// States that were come to.
    pub states: usize,
    /// Distinct ones.
    pub unique: usize,
    /// The longest of the shortest paths to a state, in steps.
    pub depth: usize,
    /// How long it took.
    pub time: Duration,
    /// The properties that hold.
    pub hold: Vec<&'static str>,
    /// Those that fall, each with the steps that lead there.
    pub fall: Vec<(&'static str, Vec<String>)>,
}

/// Explores all of a scenario, from the nearest states to the farthest; or, where a property is named, no more than it
/// takes to see it fall.
#[must_use]
pub fn explore(scenario: &Scenario, until: Option<&'static str>, threads: usize) -> Report {
    let begun = Instant::now();
    let finish = match until {
        Some(property) => HasDiscoveries::AnyOf([property].into()),
        None => HasDiscoveries::All,
    };
    let model = Explored { scenario: scenario.clone(), until };
    let names = model.properties().into_iter().map(|it| it.name);
    let checker = model.checker().finish_when(finish).threads(threads).spawn_bfs().join();
    let discoveries = checker.discoveries();
    let (fallen, hold): (Vec<_>, Vec<_>) = names.partition(|name| discoveries.contains_key(name));
    let steps = |name: &'static str| {
        let path = discoveries.get(name).map(|path| path.clone().into_actions());
        path.into_iter().flatten().map(|action| format!("{action:?}")).collect()
    };
    Report {
        name: scenario.name,
        states: checker.state_count(),
        unique: checker.unique_state_count(),
        depth: checker.max_depth(),
        time: begun.elapsed(),
        hold,
        fall: fallen.into_iter().map(|name| (name, steps(name))).collect(),
    }
}

impl Report {
    /// How long the path is on which a property falls.
    #[must_use]
    pub fn falls_after(&self, property: &str) -> Option<usize> {
        self.fall.iter().find(|(name, _)| *name == property).map(|(_, steps)| steps.len())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, states, unique, depth, time, hold, fall } = self;
        let all = hold.len() + fall.len();
        write!(
            formatter,
            "{name}: {states} states, {unique} unique, depth {depth}, {:.1} s, {} of {all} properties hold",
            time.as_secs_f64(),
            hold.len(),
        )?;
        for (property, steps) in fall {
            write!(formatter, "\n  falls after {} steps: {property}", steps.len())?;
            write!(formatter, "\n    {}", steps.join(", "))?;
        }
        Ok(())
    }
}
