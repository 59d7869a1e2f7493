//! A table with aligned columns, for people.

use std::fmt;

use super::printable;

pub(crate) struct Table(Vec<Vec<String>>);

impl Table {
    pub(crate) fn new<const COUNT: usize>(heads: [&str; COUNT]) -> Self {
        Self(vec![heads.map(str::to_owned).to_vec()])
    }

    /// Adds a row with these cells.
    pub(crate) fn row<const COUNT: usize>(&mut self, cells: [&str; COUNT]) {
        self.0.push(cells.map(printable::line).to_vec());
    }

    fn is_empty(&self) -> bool {
        self.0.len() == 1
    }

    fn width(&self, column: usize) -> usize {
        let widths = self.0.iter().filter_map(|row| row.get(column)).map(|it| it.chars().count());
        widths.max().unwrap_or(0)
    }
}

/// A table without rows is written as an empty text, without the header.
impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return Ok(());
        }
        let widths: Vec<usize> = (0..self.0[0].len()).map(|column| self.width(column)).collect();
        for row in &self.0 {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            writeln!(formatter, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}
