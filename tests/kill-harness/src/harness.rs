//! Plays several worlds at once until enough processes have been killed, and counts.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::Opens;
use crate::check::{Checked, Kind};
use crate::plan::Plan;
use crate::point::Point;
use crate::world::{Setting, play};

/// From this many kills on, every point must have been hit.
pub(crate) const ALL_POINTS_FROM: u64 = 500;

/// The outcome of a trial.
#[derive(Debug)]
pub struct Tally {
    /// How often each point was hit.
    pub hits: Vec<(Point, u64)>,
    /// How many processes were killed at a random instant.
    pub at_random: u64,
    /// The checks of all worlds.
    pub checked: Checked,
}

/// Kills the given number of processes, in several worlds at once.
///
/// # Errors
/// When a world cannot be played to its end.
pub fn run(
    setting: &Setting,
    kills: u64,
    seed: u64,
    beside: usize,
    store: &dyn Opens,
) -> anyhow::Result<Tally> {
    let plan = Plan::of(kills, seed);
    let next = AtomicU64::new(0);
    let all = Mutex::new(Checked::default());
    let work = || -> anyhow::Result<()> {
        while !plan.is_over() {
            let number = next.fetch_add(1, Ordering::SeqCst);
            let world = fastrand::Rng::with_seed(seed ^ number.wrapping_mul(0x2545_f491_4f6c_dd1d));
            let checked = play(setting, &plan, number, world.clone().u64(..), store)
                .inspect_err(|_| plan.end())?;
            for finding in &checked.findings {
                eprintln!("world-{number}: {finding}");
            }
            if setting.breaks.is_some() && !checked.findings.is_empty() {
                plan.end();
            }
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.calls += checked.calls;
            all.indeterminate += checked.indeterminate;
            all.damaged += checked.damaged;
            all.triggers += checked.triggers;
            all.findings.extend(checked.findings);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..beside).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    let (hits, at_random) = plan.hits();
    let checked = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Tally { hits, at_random, checked })
}

impl Tally {
    /// Returns how many processes were killed.
    #[must_use]
    pub fn kills(&self) -> u64 {
        self.hits.iter().map(|(_, hits)| hits).sum::<u64>() + self.at_random
    }

    /// Returns how many violations there are of a kind.
    #[must_use]
    pub fn of(&self, kind: Kind) -> usize {
        self.checked.findings.iter().filter(|it| it.kind == kind).count()
    }

    /// Returns the points that were never hit, once there were enough kills for all.
    #[must_use]
    pub fn missed(&self) -> Vec<Point> {
        let missed = self.hits.iter().filter(|(_, hits)| *hits == 0).map(|(point, _)| *point);
        if self.kills() < ALL_POINTS_FROM { Vec::new() } else { missed.collect() }
    }

    /// Returns whether there is no violation and no missed point.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.checked.findings.is_empty() && self.missed().is_empty()
    }
}

/// Formats the summary line.
impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hit = self.hits.iter().filter(|(_, hits)| *hits > 0).count();
        write!(
            formatter,
            "kills={} points={hit}/{} duplicates={} lost={} unanswered={} indeterminate={} unexpected={} damaged={} triggers={}",
            self.kills(),
            self.hits.len(),
            self.of(Kind::Duplicate),
            self.of(Kind::Lost),
            self.of(Kind::Unanswered),
            self.checked.indeterminate,
            self.of(Kind::Unexpected),
            self.checked.damaged,
            self.checked.triggers,
        )
    }
}
