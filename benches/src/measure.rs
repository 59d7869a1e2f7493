//! Takes turns between contestants, so that the machine's noise affects all of them alike.
//!
//! A ratio is taken within a round, between samples that are close in time. The reported value is the median of these
//! ratios.

use std::time::Duration;

use anyhow::{Context, Result};

/// How thorough a measurement is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    Full,
    Quick,
}

/// A contestant: one way to do the work, and how to time one sample of it.
pub struct Contestant<'a> {
    name: &'static str,
    sample: Box<dyn FnMut() -> Result<Duration> + 'a>,
}

/// The samples of every contestant, by name.
pub struct Rounds {
    samples: Vec<(&'static str, Vec<Duration>)>,
}

/// The median of the ratios of all rounds, and the middle half of them.
pub struct Ratio {
    pub median: f64,
    pub quartiles: (f64, f64),
}

impl<'a> Contestant<'a> {
    pub fn new(name: &'static str, sample: impl FnMut() -> Result<Duration> + 'a) -> Self {
        Self { name, sample: Box::new(sample) }
    }
}

/// Samples every contestant once a round, after one sample that does not count.
///
/// The order rotates, and every other round runs backwards, so that no contestant always follows the same one.
pub fn take_turns(rounds: usize, mut contestants: Vec<Contestant<'_>>) -> Result<Rounds> {
    let mut samples: Vec<_> = contestants
        .iter()
        .map(|contestant| (contestant.name, Vec::with_capacity(rounds)))
        .collect();
    for contestant in &mut contestants {
        contestant.sample()?;
    }
    for round in 0..rounds {
        for turn in order(round, contestants.len()) {
            let sample = contestants[turn].sample()?;
            samples[turn].1.push(sample);
        }
    }
    Ok(Rounds { samples })
}

impl Contestant<'_> {
    fn sample(&mut self) -> Result<Duration> {
        (self.sample)().with_context(|| format!("sampling {}", self.name))
    }
}

fn order(round: usize, contestants: usize) -> Vec<usize> {
    let mut order: Vec<_> = (0..contestants).collect();
    order.rotate_left(round % contestants);
    if round % 2 == 1 {
        order.reverse();
    }
    order
}

impl Rounds {
    /// Returns whether a contestant of this name took part.
    pub fn has(&self, name: &str) -> bool {
        self.samples.iter().any(|(known, _)| *known == name)
    }

    /// Returns the median sample in seconds.
    pub fn median(&self, name: &str) -> Result<f64> {
        let seconds = self.of(name)?.iter().map(Duration::as_secs_f64).collect();
        Ok(quantile(sorted(seconds), 0.5))
    }

    /// Returns how many times as long as `against` a sample of `name` takes.
    pub fn ratio(&self, name: &str, against: &str) -> Result<Ratio> {
        let ratios = self
            .of(name)?
            .iter()
            .zip(self.of(against)?)
            .map(|(sample, floor)| sample.as_secs_f64() / floor.as_secs_f64())
            .collect();
        let ratios = sorted(ratios);
        Ok(Ratio {
            median: quantile(ratios.clone(), 0.5),
            quartiles: (quantile(ratios.clone(), 0.25), quantile(ratios, 0.75)),
        })
    }

    fn of(&self, name: &str) -> Result<&[Duration]> {
        self.samples
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, samples)| samples.as_slice())
            .with_context(|| format!("no contestant is called `{name}`"))
    }
}

fn sorted(mut numbers: Vec<f64>) -> Vec<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers
}

fn quantile(sorted: Vec<f64>, part: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let place = part * last as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    let weight = place - place.floor();
    sorted[below] * (1.0 - weight) + sorted[above] * weight
}

/// Prints rows in columns as wide as their widest cell, the first row as a heading.
pub fn print_table(rows: &[Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    for (index, row) in rows.iter().enumerate() {
        let cells: Vec<_> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        println!("{}", cells.join("  ").trim_end());
        if index == 0 {
            println!("{}", "-".repeat(widths.iter().map(|w| w + 2).sum::<usize>()));
        }
    }
    println!();
}

/// Prints the one line that a program reads.
pub fn print_ratio(benchmark: &str, measure: &str, ratio: &Ratio, against: &str) {
    println!("{benchmark}/{measure} ratio={:.3} against={against}", ratio.median);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contestant_gets_one_turn_a_round() {
        for round in 0..10 {
            let mut turns = order(round, 4);
            turns.sort_unstable();
            assert_eq!(turns, [0, 1, 2, 3]);
        }
    }

    #[test]
    fn a_ratio_is_taken_within_its_round() {
        let mut second = 0;
        let slow_machine = move || {
            second += 1;
            Ok(Duration::from_secs(second))
        };
        let mut twice = 0;
        let contestants = vec![
            Contestant::new("floor", slow_machine),
            Contestant::new("peer", move || {
                twice += 2;
                Ok(Duration::from_secs(twice))
            }),
        ];
        let rounds = take_turns(5, contestants).unwrap();
        assert_eq!(rounds.ratio("peer", "floor").unwrap().median, 2.0);
        assert_eq!(rounds.median("floor").unwrap(), 4.0);
    }
}
