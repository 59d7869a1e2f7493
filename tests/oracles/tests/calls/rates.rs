//! How often a damaged call comes back: by kind of damage, alone and with others.

use std::collections::BTreeMap;
use std::fmt;

/// What became of damaged calls.
#[derive(Debug, Default, Clone, Copy)]
pub struct Rate {
    pub restored: usize,
    pub refused: usize,
    pub wrong: usize,
}

/// By kind of damage: alone, as one of two, as one of three.
#[derive(Debug, Default)]
pub struct Rates(BTreeMap<&'static str, [Rate; 3]>);

impl Rates {
    /// The rate of a kind that is one of so many.
    pub fn of(&mut self, kind: &'static str, together: usize) -> &mut Rate {
        &mut self.0.entry(kind).or_default()[together - 1]
    }

    pub fn add(&mut self, other: &Self) {
        for (kind, rates) in &other.0 {
            let known = self.0.entry(kind).or_default();
            known.iter_mut().zip(rates).for_each(|(rate, more)| rate.add(more));
        }
    }
}

impl Rate {
    fn add(&mut self, other: &Self) {
        self.restored += other.restored;
        self.refused += other.refused;
        self.wrong += other.wrong;
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = (self.restored + self.refused + self.wrong).max(1);
        let share = 100.0 * self.restored as f64 / all as f64;
        write!(formatter, "{} ({share:.1} %) | {} | {}", self.restored, self.refused, self.wrong)
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "| kind | alone: restored | refused | wrong | of two | refused | wrong | of three | refused | wrong |"
        )?;
        writeln!(formatter, "|---|---|---|---|---|---|---|---|---|---|")?;
        let mut total = [Rate::default(); 3];
        for (kind, rates) in &self.0 {
            let [one, two, three] = rates;
            writeln!(formatter, "| {kind} | {one} | {two} | {three} |")?;
            total.iter_mut().zip(rates).for_each(|(sum, rate)| sum.add(rate));
        }
        let [one, two, three] = total;
        write!(formatter, "| all | {one} | {two} | {three} |")
    }
}
