//! Prints what happens on standard output, one event a line.

use std::fmt::Arguments;
use std::io::Write as _;

/// Prints a line on standard output, and ignores that the stream may be closed.
pub fn say(line: Arguments<'_>) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
