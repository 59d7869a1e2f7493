//! Writes outcomes for people to read.

use std::io::{self, Write};

use toolwright::repair::Change;

use super::outcome::{Kind, Outcome};
use crate::shown::printable::shorten;
use crate::{Exit, complain};

/// The most characters that are shown of one value.
const LONGEST: usize = 120;
/// The most characters that are shown of an input.
const LONGEST_INPUT: usize = 600;

/// The number of calls by kind of outcome.
#[derive(Debug, Default)]
pub(super) struct Counts([usize; 3]);

impl Counts {
    pub(super) fn add(&mut self, outcome: &Outcome) {
        self.0[outcome.kind as usize] += 1;
    }
}

/// Writes the outcome of one call as a block of lines, followed by a blank line.
pub(super) fn write(outcome: &Outcome, output: &mut dyn Write) -> io::Result<()> {
    let name = shorten(outcome.name.as_deref().unwrap_or("?"), LONGEST);
    let said = match outcome.kind {
        Kind::Accepted => "accepted as it is",
        Kind::Repaired => "repaired",
        Kind::Refused => "refused",
    };
    writeln!(output, "line {}, {name}: {said}", outcome.line)?;
    for change in &outcome.report {
        writeln!(output, "  {}", sentence(change))?;
    }
    for line in outcome.message.iter().flat_map(|it| it.lines()) {
        writeln!(output, "  {}", shorten(line, LONGEST_INPUT))?;
    }
    if let Some(input) = outcome.input.as_deref().filter(|_| outcome.kind == Kind::Repaired) {
        writeln!(output, "  the tool gets: {}", shorten(input.get(), LONGEST_INPUT))?;
    }
    writeln!(output)
}

/// Writes the counts after the last call. It is no failure if the reader has closed the output.
pub(super) fn end(counts: &Counts, exit: Exit) -> Exit {
    let Counts([accepted, repaired, refused]) = counts;
    let line = format!("{accepted} accepted, {repaired} repaired, {refused} refused");
    match writeln!(io::stdout(), "{line}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(Exit::Failed, format!("the result could not be written: {error}"))
        }
        _ => exit,
    }
}

fn sentence(change: &Change) -> String {
    let pointer = shorten(&change.pointer, LONGEST);
    let from = shorten(&change.from, LONGEST);
    let to = shorten(&change.to, LONGEST);
    Change { pointer, rule: change.rule, from, to }.to_string()
}
