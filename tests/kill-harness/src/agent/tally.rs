//! Counts the outcomes of killing processes that drive runs, and chooses the next point.

use std::collections::BTreeMap;
use std::fmt;

use super::check::Finding;
use super::point::AgentPoint;
use crate::harness::ALL_POINTS_FROM;

/// The process is killed after a time, at any point.
pub(super) const AT_RANDOM: &str = "random instant";

/// The outcome of a trial.
#[derive(Debug, Default)]
pub struct AgentTally {
    /// How often a process was killed at each point.
    pub hits: BTreeMap<String, u64>,
    /// How many calls were checked.
    pub calls: u64,
    /// The violations.
    pub findings: Vec<Finding>,
    /// For each point, how many processes began with a new journal and never came to the point.
    passed_by: BTreeMap<String, u64>,
}

impl AgentTally {
    pub(super) fn new() -> Self {
        let points = AgentPoint::all().map(|point| point.to_string()).chain([AT_RANDOM.to_owned()]);
        Self { hits: points.map(|point| (point, 0)).collect(), ..Self::default() }
    }

    /// Chooses one of the points that were tried least.
    pub(super) fn next_aim(&self, random: &mut fastrand::Rng) -> String {
        let tries = |point: &str| self.hits_of(point) + self.passed_by.get(point).unwrap_or(&0);
        let least = self.hits.keys().map(|point| tries(point)).min();
        let rarest: Vec<&String> =
            self.hits.keys().filter(|point| Some(tries(point)) == least).collect();
        random.choice(rarest).map_or_else(|| AT_RANDOM.to_owned(), String::clone)
    }

    fn hits_of(&self, point: &str) -> u64 {
        self.hits.get(point).copied().unwrap_or_default()
    }

    /// Counts a kill at a point.
    pub(super) fn hit(&mut self, point: String) {
        *self.hits.entry(point).or_default() += 1;
    }

    /// Counts a process that ended before it came to a point. It does not count as a try if its runs had begun before,
    /// because a process with a new journal may still come to the point.
    pub(super) fn passed_by(&mut self, point: String, is_new: bool) {
        *self.passed_by.entry(point).or_default() += u64::from(is_new);
    }

    /// Returns how many processes were killed.
    #[must_use]
    pub fn kills(&self) -> u64 {
        self.hits.values().sum()
    }

    /// Returns the points that were never hit, once there were enough kills for all.
    #[must_use]
    pub fn missed(&self) -> Vec<&str> {
        let missed = self.hits.iter().filter(|(_, hits)| **hits == 0).map(|(point, _)| &**point);
        if self.kills() < ALL_POINTS_FROM { Vec::new() } else { missed.collect() }
    }

    /// Returns whether there is no violation, and every point was hit once there were enough kills for all.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.findings.is_empty() && self.missed().is_empty()
    }

    fn of(&self, is_it: fn(&Finding) -> bool) -> usize {
        self.findings.iter().filter(|it| is_it(it)).count()
    }
}

/// Formats the summary line.
impl fmt::Display for AgentTally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hit = self.hits.values().filter(|hits| **hits > 0).count();
        let unsound = self.of(|it| matches!(it, Finding::Unsound(_)));
        write!(
            formatter,
            "kills={} points={hit}/{} duplicates={} lost={} unanswered={} histories={}",
            self.kills(),
            self.hits.len(),
            self.of(|it| matches!(it, Finding::Duplicate(_))),
            self.of(|it| matches!(it, Finding::Lost(_))),
            self.of(|it| matches!(it, Finding::Unanswered(_))),
            if unsound == 0 { "sound".to_owned() } else { format!("unsound({unsound})") },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::AgentTally;

    /// Plays a trial until `kills` processes were killed, of which none came to the point `never`.
    fn played(kills: u64, never: &str) -> AgentTally {
        let (mut tally, mut random) = (AgentTally::new(), fastrand::Rng::with_seed(1));
        let mut tries = 0;
        while tally.kills() < kills {
            let aim = tally.next_aim(&mut random);
            if aim == never {
                tally.passed_by(aim, true)
            } else {
                tally.hit(aim)
            }
            tries += 1;
            assert!(tries < 2 * kills, "it tries to hit one point for ever");
        }
        tally
    }

    #[test]
    fn a_point_that_is_never_hit_is_a_failure_from_five_hundred_kills_on() {
        assert!(played(499, "after-end").is_good());
        let tally = played(500, "after-end");
        assert_eq!((tally.missed(), tally.is_good()), (vec!["after-end"], false));
        assert!(played(500, "none").is_good());
    }
}
