//! Explores one scenario, and reports the result.

use std::fmt;
use std::time::{Duration, Instant};

use stateright::{Checker as _, CheckerBuilder, HasDiscoveries, Model as _};

use crate::fair::Settled;
use crate::scenario::Scenario;
use crate::story::decisions;
use crate::system::Explored;

/// The result of an exploration.
#[derive(Debug)]
pub struct Report {
    /// The scenario's name.
    pub name: &'static str,
    /// How many states were reached.
    pub states: usize,
    /// How many of them are distinct.
    pub unique: usize,
    /// The length of the longest path.
    pub depth: usize,
    /// How long it took.
    pub time: Duration,
    /// The properties that are true.
    pub hold: Vec<&'static str>,
    /// The violated properties, each with the steps that lead there.
    pub fall: Vec<(&'static str, Vec<String>)>,
    /// For each violated property, the decisions that lead there, one JSON line each.
    pub traces: Vec<(&'static str, String)>,
}

/// Explores a scenario completely.
#[must_use]
pub fn explore(scenario: &Scenario, threads: usize) -> Report {
    let model = Explored { scenario: scenario.clone(), until: None, settled: Settled::default() };
    let finish = HasDiscoveries::All;
    reported(&model, model.clone().checker().finish_when(finish).threads(threads))
}

/// Finds the shortest path that violates a property. It searches a little deeper each time, because a checker by
/// itself returns any path that it has found.
#[must_use]
pub fn shortest(scenario: &Scenario, property: &'static str) -> Report {
    let (scenario, settled) = (scenario.clone(), Settled::default());
    let model = Explored { scenario, until: Some(property), settled };
    let mut deepest = 2;
    loop {
        let finish = HasDiscoveries::AnyOf([property].into());
        let checker = model.clone().checker().finish_when(finish).target_max_depth(deepest);
        let report = reported(&model, checker);
        if report.falls_after(property).is_some() || report.depth < deepest {
            return report;
        }
        deepest += 1;
    }
}

fn reported(model: &Explored, checker: CheckerBuilder<Explored>) -> Report {
    let begun = Instant::now();
    let checker = checker.spawn_bfs().join();
    let discoveries = checker.discoveries();
    let names = model.properties().into_iter().map(|it| it.name);
    let (fallen, hold): (Vec<_>, Vec<_>) = names.partition(|name| discoveries.contains_key(name));
    let way = |name: &'static str| {
        discoveries.get(name).map(|path| path.clone().into_actions()).unwrap_or_default()
    };
    let steps = |name| way(name).iter().map(|action| format!("{action:?}")).collect();
    let trace = |name| {
        let decisions = decisions(&model.scenario, &way(name));
        decisions.iter().map(|it| it.to_line() + "\n").collect::<String>()
    };
    Report {
        name: model.scenario.name,
        states: checker.state_count(),
        unique: checker.unique_state_count(),
        depth: checker.max_depth(),
        time: begun.elapsed(),
        hold,
        traces: fallen.iter().map(|name| (*name, trace(name))).collect(),
        fall: fallen.into_iter().map(|name| (name, steps(name))).collect(),
    }
}

impl Report {
    /// Returns the length of the path that violates a property.
    #[must_use]
    pub fn falls_after(&self, property: &str) -> Option<usize> {
        self.fall.iter().find(|(name, _)| *name == property).map(|(_, steps)| steps.len())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, states, unique, depth, time, hold, fall, traces } = self;
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
            let trace = traces.iter().find(|(of, _)| of == property);
            write!(formatter, "\n{}", trace.map_or("", |(_, trace)| trace))?;
        }
        Ok(())
    }
}
