//! Prints what happens on standard output, one event a line.

use std::fmt::Arguments;
use std::io::Write as _;

/// Prints a line on standard output. A closed stream is no failure.
pub fn say(line: Arguments<'_>) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
