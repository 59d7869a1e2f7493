//! Shows as a table how the runs ended, and checks the promises.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use toolwright_agent::durable::Head;

use crate::provider::ENTRIES;

/// How often a run has to crash the process before it is parked.
const DEATHS: u32 = 3;

/// What was observed of a run.
#[derive(Debug, Default)]
pub struct Row {
    ended: Option<String>,
    turns: u64,
    /// How many processes have driven the run.
    drivers: u64,
    /// How many requests failed in succession.
    in_vain: u32,
    /// Why the run was parked, if it ever was.
    parked: Option<String>,
}

impl Row {
    pub fn see(&mut self, head: &Head) {
        self.ended.clone_from(&head.ended);
        self.turns = head.turn;
        self.drivers = head.epoch;
        self.in_vain = self.in_vain.max(head.outage.as_ref().map_or(0, |it| it.times));
        if let Some(parked) = &head.parked {
            self.parked = Some(parked.why.clone());
        }
    }
}

/// What was observed of all runs.
pub struct Report {
    pub rows: BTreeMap<String, Row>,
    poison: String,
    pub took: Duration,
    pub away: Duration,
    /// How many requests the provider answered with a status that means "later".
    pub refused: usize,
    pub died: u32,
    pub killed: u32,
    /// How often each line is in the ledger.
    pub lines: BTreeMap<String, usize>,
}

impl Report {
    pub fn new(rows: BTreeMap<String, Row>, poison: String) -> Self {
        let (took, away) = Default::default();
        Self { rows, poison, took, away, refused: 0, died: 0, killed: 0, lines: BTreeMap::new() }
    }

    /// Returns all runs except the one whose tool crashes its process.
    fn others(&self) -> impl Iterator<Item = (&String, &Row)> {
        self.rows.iter().filter(|(run, _)| **run != self.poison)
    }

    pub fn all_met_it(&self) -> bool {
        self.others().all(|(_, row)| row.in_vain > 0)
    }

    /// Returns whether all runs have ended and the crashing one is parked.
    pub fn is_over(&self) -> bool {
        self.others().all(|(_, row)| row.ended.is_some())
            && self.rows[&self.poison].parked.is_some()
    }

    /// Returns what the program promises, and whether each promise was kept.
    fn promises(&self) -> [(&'static str, bool); 6] {
        let others =
            |holds: &dyn Fn(&str, &Row) -> bool| self.others().all(|(run, row)| holds(run, row));
        let poison = &self.rows[&self.poison];
        let booked = |run: &str| {
            let times = |entry| self.lines.get(&format!("{run} {entry}")).copied();
            ENTRIES.iter().all(|entry| times(entry) == Some(1))
        };
        let others_count = self.rows.len() - 1;
        [
            (
                "each of the others met the outage, and its requests failed",
                self.all_met_it() && self.refused > 0,
            ),
            (
                "each of the others ended with a text after three answers",
                others(&|_, row| {
                    row.ended.as_deref() == Some("text") && row.turns == ENTRIES.len() as u64 + 1
                }),
            ),
            ("each of the others booked each entry once, and nothing else is booked", {
                others(&|run, _| booked(run)) && self.lines.len() == others_count * ENTRIES.len()
            }),
            ("none of the others was parked", others(&|_, row| row.parked.is_none())),
            ("the run that kills its process is parked and has not ended", {
                poison.parked.is_some() && poison.ended.is_none()
            }),
            ("the process died of it three times, and was killed once", {
                self.died == DEATHS && self.killed == 1
            }),
        ]
    }

    /// Returns whether every promise was kept.
    pub fn holds(&self) -> bool {
        self.promises().iter().all(|(_, holds)| *holds)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "{:<6} {:<8} {:>7} {:>9} {:>15}  parked",
            "run", "ended", "answers", "processes", "failed requests"
        )?;
        for (run, row) in &self.rows {
            let ended = row.ended.as_deref().unwrap_or("-");
            let parked = row.parked.as_deref().unwrap_or("-");
            writeln!(
                formatter,
                "{run:<6} {ended:<8} {:>7} {:>9} {:>15}  {parked}",
                row.turns, row.drivers, row.in_vain
            )?;
        }
        writeln!(
            formatter,
            "\n{:.1} s, {:.1} of them without the provider, which answered {} requests with \"later\"; {} processes died, {} was killed",
            self.took.as_secs_f64(),
            self.away.as_secs_f64(),
            self.refused,
            self.died,
            self.killed
        )?;
        for (promise, holds) in self.promises() {
            writeln!(formatter, "{}  {promise}", if holds { "ok   " } else { "FAILS" })?;
        }
        Ok(())
    }
}
